/* SPDX-License-Identifier: MIT */
/* What a replay keeps on its way. */
#include "commands/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "commands/outlet.h"

static enum gp_status parse_map(const char *text, struct gp_map_choice *map,
				struct gp_diag *diag)
{
	static const struct {
		const char *word;
		enum gp_map_when when;
	} words[] = {
		{ "peak", GP_MAP_PEAK },
		{ "oom", GP_MAP_OOM },
		{ "end", GP_MAP_END },
	};
	char *end;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(text, words[i].word)) {
			map->when = words[i].when;
			return GP_OK;
		}
	map->when = GP_MAP_EVENT;
	map->event = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end)
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE,
			   "--map %s: it takes peak, oom, end or the number of "
			   "an event",
			   text);
}

enum gp_status gp_keep_make(struct gp_keep *keep,
			    const struct gp_options *options,
			    struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	*keep = (struct gp_keep){ .map.when = GP_MAP_PEAK,
				  .has_map = options->map != NULL,
				  .alert_count = options->alerts.count };
	keep->alerts =
		gp_mem_alloc(keep->alert_count + 1, sizeof(*keep->alerts));
	for (size_t i = 0; i < keep->alert_count && status == GP_OK; i++)
		status = gp_alert_parse(options->alerts.items[i],
					&keep->alerts[i], diag);
	if (status == GP_OK && options->map)
		status = parse_map(options->map, &keep->map, diag);
	if (status != GP_OK)
		gp_diag_file(diag, "replay");
	if (options->timeline)
		keep->parts |= GP_TRACK_THIN;
	if (options->map)
		keep->parts |= GP_TRACK_FILM;
	if (options->format == GP_FORMAT_HTML ||
	    options->format == GP_FORMAT_SVG)
		keep->parts |= GP_TRACK_THIN | GP_TRACK_FILM;
	return status;
}

void gp_keep_release(struct gp_keep *keep)
{
	free(keep->alerts);
}

void gp_keep_track(const struct gp_keep *keep, struct gp_plan *plan,
		   bool is_last)
{
	size_t alerts = is_last ? keep->alert_count : 0;

	if (keep->parts || alerts)
		gp_plan_track(plan, keep->parts, keep->alerts, alerts);
}

static bool is_json(const char *name)
{
	size_t length = strlen(name);

	return length >= 5 && !strcmp(name + length - 5, ".json");
}

enum gp_status gp_keep_timeline(const struct gp_options *options,
				const struct gp_report *report,
				struct gp_diag *diag)
{
	struct gp_output output = { 0 };
	enum gp_status status;

	if (!options->timeline)
		return GP_OK;
	status = gp_outlet_open(&output, options->timeline, diag);
	if (status == GP_OK && is_json(options->timeline))
		gp_report_timeline_json(report, output.stream);
	else if (status == GP_OK)
		gp_report_timeline_csv(report, output.stream);
	return gp_outlet_close(&output, status, diag);
}

enum gp_status gp_keep_verdict(const struct gp_plan *plan, struct gp_diag *diag)
{
	char text[GP_ALERT_TEXT];

	if (!plan->tracks)
		return GP_OK;
	for (size_t d = 0; d < plan->trace->device_count; d++) {
		const struct gp_track *track = &plan->tracks[d];

		for (size_t i = 0; i < track->alert_count; i++) {
			if (!track->alerts[i].has_fired)
				continue;
			if (plan->trace->device_count > 1)
				gp_diag_record(diag, "device %u",
					       plan->trace->devices[d].device);
			return gp_diag_set(
				diag, GP_FAILED, "%s",
				gp_alert_text(&track->alerts[i], text));
		}
	}
	return GP_OK;
}
