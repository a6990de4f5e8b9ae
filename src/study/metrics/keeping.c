/* SPDX-License-Identifier: MIT */
/* Recording data during a run. */
#include <stdlib.h>

#include "study/metrics/film.h"
#include "gpupool/metrics.h"

void gp_track_look(struct gp_track *track, struct gp_allocator *allocator,
		   uint64_t event)
{
	struct gp_moment moment;

	if (track->film)
		gp_film_look(track->film, allocator);
	if (!track->thin && !track->alert_count)
		return;
	moment = gp_moment_of(allocator, event);
	if (track->thin)
		gp_thin_add(track->thin, &moment);
	for (size_t i = 0; i < track->alert_count; i++)
		gp_alert_look(&track->alerts[i], &moment);
}

void gp_track_release(struct gp_track *track)
{
	gp_thin_destroy(track->thin);
	gp_film_destroy(track->film);
	free(track->alerts);
	*track = (struct gp_track){ 0 };
}
