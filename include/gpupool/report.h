/*
 * Reports: what a person or a program is told about runs.
 *
 * Every number is named once, in report/measure.c, from where the JSON keys,
 * the text labels and the manual come.
 */
#ifndef GPUPOOL_REPORT_H
#define GPUPOOL_REPORT_H

#include <stdio.h>

#include "gpupool/replay.h"
#include "gpupool/trace.h"

/* One replay of a whole trace: all its devices under one set of settings. */
struct gp_run {
	const struct gp_settings *settings;
	const char *conf; /* the settings as given; "" is the default */
	const char *engine;
	enum gp_replay_mode mode;
	const struct gp_release_choice *choice; /* NULL: the user chose */
	const uint64_t *capacity;		/* per device; GP_UNLIMITED */
	const struct gp_replay_result *results; /* per device */
	double read_s, replay_s;		/* for --timing */
};

struct gp_report {
	const char *path; /* of the trace, as given */
	const struct gp_trace *trace;
	const struct gp_run *runs;
	size_t run_count;
	bool has_timing;
};

struct gp_report_style {
	bool ascii; /* no Unicode in drawings */
	bool color;
	unsigned columns; /* of the terminal; 0: 80 */
};

/* For a person, most important first; two runs stand side by side. */
void gp_report_text(const struct gp_report *report,
		    const struct gp_report_style *style, FILE *out);

/* gpupool-report/1 (gpupool-report(5)). */
void gp_report_json(const struct gp_report *report, FILE *out);

/* What is in a trace: `gpupool info`. */
void gp_report_info_text(const char *path, const struct gp_trace *trace,
			 const struct gp_release_choice *choice,
			 const struct gp_report_style *style, FILE *out);
void gp_report_info_json(const char *path, const struct gp_trace *trace,
			 const struct gp_release_choice *choice, FILE *out);

/* One line of --events: JSON, as trace-format.md's. */
void gp_report_action(const struct gp_trace *trace,
		      const struct gp_device_trace *device,
		      const struct gp_action *action, uint64_t event,
		      FILE *out);

#endif
