/* SPDX-License-Identifier: MIT */
/* The measures over time, as a table for other programs. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/emit.h"

static bool is_column(unsigned id)
{
	return gp_measures[id].scope == GP_SCOPE_MOMENT;
}

static void write_csv_row(uint32_t device, const struct gp_moment *moment,
			  FILE *out)
{
	struct gp_subject subject = { .moment = moment };

	fprintf(out, "%u,%" PRIu64, device, moment->event);
	for (unsigned id = 0; id < GP_MEASURES; id++) {
		if (!is_column(id))
			continue;
		if (gp_measures[id].unit == GP_UNIT_RATIO)
			fprintf(out, ",%.6f", gp_measure_ratio(id, &subject));
		else
			fprintf(out, ",%" PRIu64,
				gp_measure_count(id, &subject));
	}
	putc('\n', out);
}

void gp_report_timeline_csv(const struct gp_report *report, FILE *out)
{
	const struct gp_run *run = &report->runs[report->run_count - 1];

	fputs("device,event", out);
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (is_column(id))
			fprintf(out, ",%s", gp_measures[id].key);
	putc('\n', out);
	for (size_t d = 0; d < report->trace->device_count; d++) {
		struct gp_moment *moments;
		size_t count = gp_thin_moments(run->tracks[d].thin, &moments);

		for (size_t i = 0; i < count; i++)
			write_csv_row(report->trace->devices[d].device,
				      &moments[i], out);
		free(moments);
	}
}

/* A measure at all moments. */
static void write_column(struct gp_emit *json, unsigned id,
			 const struct gp_moment *moments, size_t count)
{
	gp_emit_open(json, gp_measures[id].key, '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < count; i++) {
		struct gp_subject subject = { .moment = &moments[i] };

		if (gp_measures[id].unit == GP_UNIT_RATIO)
			gp_emit_ratio(json, NULL,
				      gp_measure_ratio(id, &subject));
		else
			gp_emit_uint(json, NULL,
				     gp_measure_count(id, &subject));
	}
	gp_emit_close(json, ']');
}

static void write_device(struct gp_emit *json, uint32_t device,
			 const struct gp_track *track)
{
	struct gp_moment *moments;
	size_t count = gp_thin_moments(track->thin, &moments);

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device);
	gp_emit_open(json, "event", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < count; i++)
		gp_emit_uint(json, NULL, moments[i].event);
	gp_emit_close(json, ']');
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (is_column(id))
			write_column(json, id, moments, count);
	gp_emit_close(json, '}');
	free(moments);
}

void gp_report_timeline_json(const struct gp_report *report, FILE *out)
{
	const struct gp_run *run = &report->runs[report->run_count - 1];
	struct gp_emit json = gp_emit_begin("gpupool-timeline/1", out);

	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t d = 0; d < report->trace->device_count; d++)
		write_device(&json, report->trace->devices[d].device,
			     &run->tracks[d]);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
