/* SPDX-License-Identifier: MIT */
/*
 * Reports: what a person or a program is told about runs.
 *
 * Every number is named once, in gpupool/metrics.h, from where the JSON keys,
 * the text labels and the manual come.  Nothing here fails: errors of the
 * stream are the stream's, and its owner's to look at.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device/cuda.h"
#include "study/estimate.h"
#include "study/headroom.h"
#include "gpupool/metrics.h"
#include "trace/ranks.h"
#include "gpupool/replay.h"
#include "gpupool/study.h"
#include "gpupool/trace.h"
#include "study/what_if/what_if.h"

/* One replay of a whole trace: all its devices under one set of settings. */
struct gp_run {
	const struct gp_trace *trace; /* altered by what-ifs; NULL: no other */
	const struct gp_what_ifs *what_ifs; /* NULL: none */
	const struct gp_settings *settings;
	const char *conf; /* the settings as given; "" is the default */
	const char *engine;
	enum gp_replay_mode mode;
	const struct gp_release_choice *choice; /* NULL: the user chose */
	const uint64_t *capacity;		/* per device; GP_UNLIMITED */
	const struct gp_replay_result *results; /* per device */
	const struct gp_track *tracks;		/* per device; NULL: none */
	const struct gp_cuda_about *cuda;    /* NULL: the device is simulated */
	const struct gp_estimate *estimates; /* per device; NULL: none */
};

struct gp_live_page;

struct gp_timing {
	double read_s, replay_s;
	uint64_t events;
};

struct gp_report {
	const char *path; /* of the trace, as given */
	const struct gp_trace *trace;
	const struct gp_run *runs; /* one, or two to be compared */
	size_t run_count;
	const struct gp_timing *timing; /* NULL: not asked for */
	/* Of each run, for pages; NULL: none. */
	const struct gp_explanation *explanations;
	const struct gp_ranks *ranks; /* of which it is the worst; NULL: none */
	const struct gp_rank_runs *rank_runs; /* NULL: none */
	/* For pages; NULL: nothing replays in it. */
	const struct gp_live_page *live;
};

struct gp_report_style {
	bool ascii; /* no Unicode */
	bool color;
	unsigned columns; /* of the terminal; 0: 80 */
};

/* For a person, most important first; two runs stand side by side. */
void gp_report_text(const struct gp_report *report,
		    const struct gp_report_style *style, FILE *out);

/* gpupool-report/1: spec/trace-format.md, man/gpupool-replay.1. */
void gp_report_json(const struct gp_report *report, FILE *out);

/* torch.cuda.memory_summary(), to the letter: of each device of the last run,
 * or of one. */
void gp_report_memory_summary(const struct gp_report *report,
			      bool is_abbreviated, FILE *out);
void gp_report_device_summary(const struct gp_stats *stats, uint32_t device,
			      bool is_abbreviated, FILE *out);

/* The measures over time of the last run's tracks, thinned. */
void gp_report_timeline_csv(const struct gp_report *report, FILE *out);
void gp_report_timeline_json(const struct gp_report *report, FILE *out);

/* Segments and blocks of each run behind an event, drawn in text; the runs'
 * tracks have films. */
enum gp_map_when { GP_MAP_EVENT, GP_MAP_PEAK, GP_MAP_OOM, GP_MAP_END };
struct gp_map_choice {
	enum gp_map_when when;
	uint64_t event;
};
void gp_report_map(const struct gp_report *report,
		   const struct gp_map_choice *choice,
		   const struct gp_report_style *style, FILE *out);

/* One page that needs nothing else, and a drawing for a paper; the runs' tracks
 * have films and moments. */
void gp_report_html(const struct gp_report *report, FILE *out);
void gp_report_svg(const struct gp_report *report,
		   const struct gp_map_choice *choice, FILE *out);

/* What is in a trace: `gpupool info`. */
struct gp_info {
	const char *path;
	const struct gp_trace *trace;
	const struct gp_release_choice *choice; /* NULL: see trouble */
	/* Per device, of a replay as recorded; NULL: see trouble. */
	const struct gp_replay_result *results;
	const char *trouble; /* why there is no replay; NULL: nothing to play */
	const struct gp_ranks *ranks; /* of which it is the worst; NULL: none */
	const struct gp_rank_runs *rank_runs; /* NULL: none */
};
void gp_report_info_text(const struct gp_info *info,
			 const struct gp_report_style *style, FILE *out);
void gp_report_info_json(const struct gp_info *info, FILE *out);

/* How small the device may be, under one set of settings and more. */
struct gp_headroom_run {
	const struct gp_settings *settings;
	const char *conf;
	const struct gp_release_choice *choice; /* NULL: the user chose */
	const struct gp_headroom *devices;
};
struct gp_headroom_refusal {
	const char *conf, *reason; /* in PyTorch's words */
	uint8_t release;
};
struct gp_headroom_report {
	const char *path;
	const struct gp_trace *trace;
	const struct gp_headroom_run *runs;
	size_t run_count;
	/* Settings that were asked for and cannot be. */
	const struct gp_headroom_refusal *refused;
	size_t refused_count;
	const struct gp_study *study; /* of the first run's settings */
	const struct gp_ranks *ranks; /* of which it is the worst; NULL: none */
	size_t first_case;	      /* of the trace's devices in the study */
	const struct gp_prices *prices;
};
void gp_report_headroom_text(const struct gp_headroom_report *report,
			     const struct gp_report_style *style, FILE *out);
void gp_report_headroom_json(const struct gp_headroom_report *report,
			     FILE *out);
/* The curves, a line each point. */
void gp_report_headroom_csv(const struct gp_headroom_report *report, FILE *out);

/* Why memory that is reserved cannot be used: `gpupool explain`. */
struct gp_explanation {
	const char *path, *conf;
	const struct gp_trace *trace;
	const char *operand;	      /* for commands; NULL: path */
	const struct gp_ranks *ranks; /* NULL: one file is all */
	/* Other options as given, for commands: " --capacity 80GiB"; NULL: none
	 */
	const char *given;
	const struct gp_settings *settings;
	const struct gp_explain *devices; /* gpupool/explain.h */
	const struct gp_study *study;	  /* a case a device */
	size_t first_case;		  /* of these devices */
	size_t count;
	bool has_details;
	const struct gp_what_ifs *what_ifs; /* NULL: none */
};
void gp_report_explain_text(const struct gp_explanation *explanation,
			    const struct gp_report_style *style, FILE *out);
void gp_report_explain_json(const struct gp_explanation *explanation,
			    FILE *out);

/* What went wrong and what helps, on one screen: `gpupool TRACE`. */
struct gp_look_report {
	const char *path;			 /* of the worst of the ranks */
	const char *operand;			 /* for commands */
	const struct gp_ranks *ranks;		 /* NULL: one file is all */
	const struct gp_trace *trace;		 /* NULL: nothing but spans */
	const char *conf;			 /* as asked, or as recorded */
	const struct gp_study *study;		 /* a case a device */
	size_t worst;				 /* the case that is told of */
	uint32_t device;			 /* its index */
	const struct gp_explain *explain;	 /* of that device */
	const struct gp_release_choice *choice;	 /* NULL: the user chose */
	const struct gp_replay_result *recorded; /* of that device, as it was
						  * recorded; NULL: trouble */
	const char *trouble; /* why it cannot be replayed so */
	/* Other options as given, for commands: of replay, explain, suggest. */
	const char *given, *given_explain, *given_suggest;
	uint64_t spans, spans_live; /* of minimalloc's CSV: bytes at once */
};
void gp_report_look_text(const struct gp_look_report *report,
			 const struct gp_report_style *style, FILE *out);
void gp_report_look_json(const struct gp_look_report *report, FILE *out);

/* The setting to use, and why. */
struct gp_suggest_report {
	const char *path;
	const struct gp_trace *trace;
	const struct gp_ranks *ranks; /* NULL: one file is all */
	const struct gp_study *study; /* a case a device */
	size_t worst; /* the case that is told in words; of it are path and
		       * trace */
	uint64_t capacity_below; /* the first device's, which is concluded to
				  * be capacity or more; 0: it is known */
	const struct gp_release_choice *choice; /* NULL: the user chose */
	uint64_t checked, matched; /* addresses of a replay as recorded */
};
void gp_report_suggest_text(const struct gp_suggest_report *report,
			    const struct gp_report_style *style, FILE *out);
void gp_report_suggest_json(const struct gp_suggest_report *report, FILE *out);

/* One line of --events: JSON, as trace-format.md's. */
void gp_report_action(const struct gp_trace *trace,
		      const struct gp_device_trace *device,
		      const struct gp_action *action, uint64_t event,
		      FILE *out);

/* ---- an event, told ---- */

/* "step 20, 3.1 s, serve.py:90 (event 143)": the step as the program's marks
 * number it, else counted from 1; the time since the first event that has one;
 * where it was asked.  What is not known is left out: "event 143".  device is
 * an index. */
struct gp_steps; /* gpupool/steps.h */
#define GP_EVENT_TEXT 320
const char *gp_event_words(const struct gp_trace *trace, uint32_t device,
			   uint64_t event, char text[GP_EVENT_TEXT]);
/* The same where the steps were found before. */
const char *gp_event_words_in(const struct gp_trace *trace, uint32_t device,
			      const struct gp_steps *steps, uint64_t event,
			      char text[GP_EVENT_TEXT]);
/* Without its place: "step 20, 3.1 s (event 143)". */
const char *gp_event_when(const struct gp_trace *trace, uint32_t device,
			  uint64_t event, char text[GP_EVENT_TEXT]);
/* The same where the steps were found before. */
const char *gp_event_moment(const struct gp_trace *trace, uint32_t device,
			    const struct gp_steps *steps, uint64_t event,
			    char text[GP_EVENT_TEXT]);
/* "step 20", or "". */
#define GP_STEP_TEXT 32
const char *gp_event_step(const struct gp_trace *trace, uint32_t device,
			  const struct gp_steps *steps, uint64_t event,
			  char text[GP_STEP_TEXT]);
/* The number that a step is told by. */
uint64_t gp_step_number(const struct gp_trace *trace, uint32_t device,
			const struct gp_steps *steps, size_t step);

/* ---- which event a picture is of ---- */

/* The event of a run, and what it is: "the peak of reserved".  An OOM that did
 * not happen is the peak. */
uint64_t gp_map_event(const struct gp_map_choice *choice,
		      const struct gp_replay_result *result, const char **what);

#endif
