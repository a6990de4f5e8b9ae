/* SPDX-License-Identifier: MIT */
/* Progress for a person at a terminal, while a run takes longer than a
 * second. */
#include "commands/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/bytes.h"
#include "commands/options.h"
#include "commands/output.h"
#include "gpupool/allocator.h"

#define PATIENCE 1.0 /* seconds before anything is shown */
#define PAUSE	 0.1 /* seconds between updates */
#define CLEAR	 "\r\033[K"

double gp_progress_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct gp_progress gp_progress_make(const struct gp_options *options)
{
	const struct gp_engine *engine =
		options->engine ? gp_engine_find(options->engine) : NULL;

	return (struct gp_progress){
		.is_on = !options->quiet &&
			 gp_outlet_is_terminal(gp_outlet_stderr()),
		.max_input = options->max_input,
		.is_of_host = gp_engine_is_of_host(engine),
		.start = gp_progress_now(),
	};
}

static bool is_due(struct gp_progress *progress)
{
	double now;

	if (!progress->is_on)
		return false;
	now = gp_progress_now();
	if (now - progress->start < PATIENCE || now - progress->last < PAUSE)
		return false;
	progress->last = now;
	progress->is_shown = true;
	return true;
}

void gp_progress_read(void *arg, uint64_t done, uint64_t total)
{
	if (!is_due(arg))
		return;
	if (total)
		fprintf(stderr, CLEAR "reading %s of %s (%.0f %%)",
			GP_BYTES(done), GP_BYTES(total),
			(double)done / (double)total * 100);
	else
		fprintf(stderr, CLEAR "reading %s", GP_BYTES(done));
}

void gp_progress_step(struct gp_progress *progress, const char *what)
{
	if (is_due(progress))
		fprintf(stderr, CLEAR "%s", what);
}

void gp_progress_restart(struct gp_progress *progress)
{
	progress->start = gp_progress_now();
}

void gp_progress_count(struct gp_progress *progress, uint64_t done,
		       uint64_t total)
{
	double passed = gp_progress_now() - progress->start;
	double rate = passed > 0 ? (double)done / passed : 0;

	if (!done || !is_due(progress))
		return;
	fprintf(stderr,
		CLEAR "%" PRIu64 " of %" PRIu64
		      " runs, %.1f a second, %.0f s left",
		done, total, rate, (double)(total - done) / rate);
}

void gp_progress_end(struct gp_progress *progress)
{
	if (progress->is_shown)
		fputs(CLEAR, stderr);
	progress->is_shown = false;
}
