/* SPDX-License-Identifier: MIT */
/*
 * Reports about runs, for people and for programs.
 *
 * Every number is named once, in gpupool/metrics.h, which is the source of the
 * JSON keys, the text labels and the manual. Nothing here fails: write errors
 * stay with the stream, and its owner checks for them.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "device/bench.h"
#include "device/cuda.h"
#include "device/gpu.h"
#include "gpupool/metrics.h"
#include "gpupool/replay.h"
#include "gpupool/study.h"
#include "gpupool/trace.h"
#include "report/table.h"
#include "study/estimate.h"
#include "study/floor/floor.h"
#include "study/headroom.h"
#include "study/metrics/change.h"
#include "study/metrics/explain.h"
#include "study/oom_log.h"
#include "study/what_if/what_if.h"
#include "trace/ranks.h"

/* One replay of a whole trace: all its devices under one set of settings. */
struct gp_run {
	const struct gp_trace *trace; /* altered by what-ifs; NULL: unaltered */
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
	/* One for each run, for pages; NULL: not asked for. */
	const struct gp_explanation *explanations;
	const struct gp_ranks *ranks; /* the ranks of which path is the worst;
					 NULL: a single trace */
	const struct gp_rank_runs *rank_runs; /* NULL: none */
	/* For pages; NULL: the page cannot replay. */
	const struct gp_live_page *live;
};

struct gp_report_style {
	bool ascii; /* no Unicode */
	bool color;
	unsigned columns; /* of the terminal; 0: 80 */
};

/* For a person, the most important part first; two runs are side by side. */
void gp_report_text(const struct gp_report *report,
		    const struct gp_report_style *style, FILE *out);

/* gpupool-report/1: man/gpupool-report.5. */
void gp_report_json(const struct gp_report *report, FILE *out);

/* torch.cuda.memory_summary(), byte for byte: for each device of the last run,
 * or for one. */
void gp_report_memory_summary(const struct gp_report *report,
			      bool is_abbreviated, FILE *out);
void gp_report_device_summary(const struct gp_stats *stats, uint32_t device,
			      bool is_abbreviated, FILE *out);

/* The measures over time, thinned, from the tracks of the last run. */
void gp_report_timeline_csv(const struct gp_report *report, FILE *out);
void gp_report_timeline_json(const struct gp_report *report, FILE *out);

/* A text map of segments and blocks of each run after an event; the runs'
 * tracks must have films. */
enum gp_map_when { GP_MAP_EVENT, GP_MAP_PEAK, GP_MAP_OOM, GP_MAP_END };
struct gp_map_choice {
	enum gp_map_when when;
	uint64_t event;
};
void gp_report_map(const struct gp_report *report,
		   const struct gp_map_choice *choice,
		   const struct gp_report_style *style, FILE *out);

/* A self-contained page, and a drawing for a paper; the runs' tracks must have
 * films and moments. */
void gp_report_html(const struct gp_report *report, FILE *out);
void gp_report_svg(const struct gp_report *report,
		   const struct gp_map_choice *choice, FILE *out);

/* What is in a trace: `gpupool info`. */
struct gp_info {
	const char *path;
	const struct gp_trace *trace;
	const struct gp_release_choice
		*choice; /* NULL: there is none, see trouble */
	/* Per device, from a replay as recorded; NULL: none, see trouble. */
	const struct gp_replay_result *results;
	const char *trouble; /* why there is no replay; NULL: there is nothing
			      * to replay */
	const struct gp_ranks *ranks; /* the ranks of which path is the worst;
					 NULL: a single trace */
	const struct gp_rank_runs *rank_runs; /* NULL: none */
};
void gp_report_info_text(const struct gp_info *info,
			 const struct gp_report_style *style, FILE *out);
void gp_report_info_json(const struct gp_info *info, FILE *out);

/* How small the device may be, under one or more sets of settings. */
struct gp_headroom_run {
	const struct gp_settings *settings;
	const char *conf;
	const struct gp_release_choice *choice; /* NULL: the user chose */
	const struct gp_headroom *devices;
	const struct gp_estimate *estimates; /* per device, of its need */
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
	/* Settings that were asked for but that PyTorch refuses. */
	const struct gp_headroom_refusal *refused;
	size_t refused_count;
	const struct gp_study *study; /* under the first run's settings */
	const struct gp_ranks *ranks; /* the ranks of which path is the worst;
					 NULL: a single trace */
	size_t first_case; /* index of the trace's first device in the study */
	const struct gp_prices *prices;
};
void gp_report_headroom_text(const struct gp_headroom_report *report,
			     const struct gp_report_style *style, FILE *out);
void gp_report_headroom_json(const struct gp_headroom_report *report,
			     FILE *out);
/* The curves, a line for each point. */
void gp_report_headroom_csv(const struct gp_headroom_report *report, FILE *out);

/* Why reserved memory cannot be used: `gpupool explain`. */
struct gp_explanation {
	const char *path, *conf;
	const struct gp_trace *trace;
	const char *operand; /* what names the trace in suggested commands;
				NULL: path */
	const struct gp_ranks *ranks; /* NULL: one file is all */
	/* Other options as given, for suggested commands: " --capacity 80GiB";
	 * NULL: none. */
	const char *given;
	const struct gp_settings *settings;
	const struct gp_prices *prices;
	const struct gp_explain *devices; /* study/metrics/explain.h */
	const struct gp_study *study;	  /* one case per device */
	size_t first_case; /* index of the first of these devices in the study
			    */
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
	const char *path;    /* of the worst of the ranks */
	const char *operand; /* what names the trace in suggested commands */
	const struct gp_ranks *ranks;		 /* NULL: there is one file */
	const struct gp_trace *trace;		 /* NULL: nothing but spans */
	const char *conf;			 /* as asked, or as recorded */
	const struct gp_study *study;		 /* one case per device */
	size_t worst;				 /* the reported case */
	uint32_t device;			 /* its index */
	const struct gp_explain *explain;	 /* of that device */
	const struct gp_release_choice *choice;	 /* NULL: the user chose */
	const struct gp_replay_result *recorded; /* of that device, as recorded;
						  * NULL: see trouble */
	const char *trouble; /* why it cannot be replayed as recorded */
	/* Other options as given, for suggested commands: for replay without
	 * and with the settings, for explain, and for suggest; NULL: suggest
	 * does not accept them. */
	const char *given, *given_replay, *given_explain, *given_suggest;
	uint64_t spans, spans_live; /* for minimalloc's CSV: their number, and
				     * the most bytes live at once */
};
void gp_report_look_text(const struct gp_look_report *report,
			 const struct gp_report_style *style, FILE *out);
void gp_report_look_json(const struct gp_look_report *report, FILE *out);

/* Logs that hold the message of an OutOfMemoryError: `gpupool train.log`. */
struct gp_log_report {
	const char *path; /* as given */
	const struct oom_logged *logs;
	size_t count, first; /* first: index of the one to show */
	bool is_by_time;     /* the first one was the first to fail */
	bool has_several;    /* a folder, or several files */
	size_t files;	     /* number of files that were read */
	size_t folder; /* length of the common prefix of all paths, up to and
			* including a / */
};
void gp_report_log_text(const struct gp_log_report *report,
			const struct gp_report_style *style, FILE *out);
void gp_report_log_json(const struct gp_log_report *report, FILE *out);

/* The setting to use, and why. */
struct gp_suggest_report {
	const char *path;
	const struct gp_trace *trace;
	const struct gp_ranks *ranks; /* NULL: there is only one file */
	const struct gp_study *study; /* one case per device */
	size_t worst; /* the case that is described in words; path and trace are
		       * its own */
	uint64_t capacity_below; /* the first device's capacity was inferred to
				  * be below this; 0: it is known */
	const struct gp_release_choice *choice; /* NULL: the user chose */
	uint64_t checked, matched; /* addresses, in a replay as recorded */
};
void gp_report_suggest_text(const struct gp_suggest_report *report,
			    const struct gp_report_style *style, FILE *out);
void gp_report_suggest_json(const struct gp_suggest_report *report, FILE *out);

/* ---- compare: the same traces under several allocators, and how far each is
 * from a packing of the same lifetimes ---- */

/* One engine under one set of settings. */
struct gp_engine_entry {
	const char *engine, *conf; /* conf NULL: as each trace was recorded */
	double mean, worst;	   /* reserved / packing, where all is served */
	uint64_t traces, wins;	   /* served in full; with the least reserved */
	uint64_t ooms;		   /* sum over all traces */
};

/* One device of a trace under one entry. */
struct gp_engine_run {
	const char *path;
	uint32_t device;
	const char *engine, *conf; /* the entry's */
	uint64_t capacity;	   /* bytes; GP_UNLIMITED: no limit */
	uint64_t reserved, allocated;
	double fragmentation; /* at the peak of reserved */
	uint64_t live, packing;
	uint64_t start; /* bytes reserved when the trace begins */
	uint64_t device_calls, time_us;
	uint64_t dropped, retries;
	bool lacks_room; /* less is left than other processes use */
	uint64_t need;	 /* 0: not asked, or not known */
	/* The widest range of larger capacities for which it is not known. */
	uint64_t need_unknown;
	const char *trouble; /* why there is no run; NULL: there is one */
};

struct gp_engines_report {
	struct gp_engine_entry *entries;
	size_t entry_count;
	const struct gp_engine_run *runs; /* entry_count for each device */
	size_t run_count;
	const struct gp_prices *prices;
};

/* Fills in the entries' sums. */
void gp_engines_sum(struct gp_engines_report *report);

void gp_report_engines(const struct gp_engines_report *report,
		       enum gp_table_format format,
		       const struct gp_report_style *style, FILE *out);
void gp_report_engines_json(const struct gp_engines_report *report, FILE *out);

/* ---- floor: how little memory would be enough, and the breakdown of the rest
 * that a run reserves ---- */

/* One device of a trace. */
struct gp_floor_device {
	uint32_t device; /* CUDA's ordinal */
	struct gp_spans spans;
	struct gp_floor floor;
	uint64_t requested; /* peak of live bytes, not rounded */
	/* The run under the given settings, with all requests served. If memory
	 * ran out, this is another run, without a limit. */
	struct gp_breakdown breakdown;
	/* If the run is a replay that begins with a window's memory; is_there
	 * false: its numbers are exact. */
	struct gp_estimate estimate;
	uint64_t capacity;  /* capacity of the run; GP_UNLIMITED */
	uint64_t dropped;   /* requests not served at that capacity */
	uint64_t live_then; /* bytes live at the breakdown's event, rounded */
};

/* The terms of what the run reserves beyond the packing. */
struct gp_floor_parts {
	int64_t shape, rounding, pending, streams, pools, packing, height;
};

struct gp_floor_report {
	const char *path;
	const struct gp_trace *trace; /* NULL: spans of a CSV */
	const char *conf;
	const struct gp_settings *settings; /* NULL: spans of a CSV */
	uint64_t round;
	uint64_t capacity; /* as asked for, for the spans of a CSV; 0: none */
	const struct gp_floor_device *devices;
	size_t count;
};

void gp_report_floor_text(const struct gp_floor_report *report,
			  const struct gp_report_style *style, FILE *out);
void gp_report_floor_json(const struct gp_floor_report *report, FILE *out);
/* minimalloc's CSV, with offsets. */
void gp_report_floor_csv(const struct gp_floor_report *report, FILE *out);

/* ---- fit: whether a recorded program fits a device ---- */

/* A second run of the program, on a device that is full at its size: a program
 * that catches the error and requests less runs there. */
struct gp_fit_again {
	bool is_there;
	int exit;		      /* exit status as in a shell */
	uint64_t ooms;		      /* requests that failed */
	const struct gp_trace *trace; /* with the first or the most of them */
	uint32_t device;	      /* its index */
	uint64_t event;
	uint64_t reserved; /* by PyTorch, at the peak */
};

struct gp_fit_report {
	const char *program; /* its file's name */
	int exit;	     /* exit status as in a shell; if not 0, the report
			      * is about what it did until then */
	bool runs_on;	     /* a process that it started still runs, and may
			      * not have used a device yet */
	const char *path;    /* about its path, in words; NULL: nothing */
	const char *kept;    /* path of the trace; NULL: it is not kept */
	const struct gp_gpu *gpu;
	struct gp_non_pytorch besides; /* PyTorch cannot use its `high` */
	const struct gp_ranks *ranks;  /* NULL: there is only one process */
	uint32_t sharers; /* number of processes that use the same device, each
			   * judged as if it were alone; 0: none */
	uint32_t shared;  /* that device: CUDA's ordinal */
	const struct gp_trace *trace; /* of the worst rank */
	const struct gp_study *study; /* one case per device */
	size_t worst;
	uint32_t device; /* its index */
	/* The trace in which memory ran out while it was recorded; NULL:
	 * none. */
	const struct gp_trace *oom_trace;
	uint32_t oom_device;
	uint64_t oom; /* the event */
	bool went_on; /* the worst rank did not end there */
	struct gp_fit_again again;
	const struct gp_explain *explain; /* of the trace that is explained */
};

/* The total bytes of a device that it needs, without changes; 0: not known, or
 * none is large enough. */
uint64_t gp_fit_needs(const struct gp_fit_report *report);
/* Whether it runs there without changes. */
bool gp_fit_is(const struct gp_fit_report *report);
/* Whether that is unknown: the program failed, processes share a device, no
 * device was used and a process still runs, the program can do with less than
 * it requests, or it depends on what else the process holds. */
bool gp_fit_is_open(const struct gp_fit_report *report);
void gp_report_fit_text(const struct gp_fit_report *report,
			const struct gp_report_style *style, FILE *out);
void gp_report_fit_json(const struct gp_fit_report *report, FILE *out);

/* ---- fit --vary: the largest value of something with which a program fits
 * ---- */

struct gp_vary_point {
	uint64_t value;
	uint64_t need; /* bytes of the device, in total; 0: not known */
	bool fits;
	const char *failure; /* of the program: nothing is known about its
			      * memory; NULL: none */
	const char *path;    /* as for fit */
};

struct gp_vary_report {
	const char *program, *name; /* name of what varies */
	uint64_t first, last;
	const struct gp_gpu *gpu;
	const struct gp_vary_point *points; /* by value */
	size_t count;
};

/* The largest value that fits, such that no smaller tried value does not; NULL:
 * the first one does not fit. */
const struct gp_vary_point *gp_vary_largest(const struct gp_vary_report *r);
/* The smallest value with which the program failed; NULL: none. */
const struct gp_vary_point *gp_vary_failed(const struct gp_vary_report *r);
void gp_report_vary_text(const struct gp_vary_report *report,
			 const struct gp_report_style *style, FILE *out);
void gp_report_vary_json(const struct gp_vary_report *report, FILE *out);
/* A page with a drawing. */
void gp_report_vary_html(const struct gp_vary_report *report, FILE *out);

/* ---- bench: for a person, for a program, and as prices ---- */

struct gp_bench_report {
	const struct gp_cuda_about *about;
	const struct gp_bench *bench;
	const char *date; /* of the measurement: 2026-11-21 */
};

/* The time that gpupool itself takes for a trace: nanoseconds per event. */
struct gp_speed {
	const char *what; /* "read", "replay: caching" */
	uint32_t runs;
	double p10_ns, median_ns, p90_ns;
};
struct gp_speed_report {
	const char *path;
	uint64_t events;
	const struct gp_speed *rows;
	size_t count;
};
void gp_report_speed_text(const struct gp_speed_report *report,
			  const struct gp_report_style *style, FILE *out);
void gp_report_speed_json(const struct gp_speed_report *report, FILE *out);

void gp_report_bench_text(const struct gp_bench_report *report,
			  const struct gp_report_style *style, FILE *out);
void gp_report_bench_json(const struct gp_bench_report *report, FILE *out);

/* A file in the format of gp_prices_read, which also says how each price was
 * measured. */
void gp_report_bench_prices(const struct gp_bench_report *report, FILE *out);

/* ---- doctor: what it finds on a machine ---- */

struct gp_doctor_library {
	const char *name, *version;
};

/* Something other than gpupool that a part of it needs. */
struct gp_doctor_check {
	const char *name;
	bool is_there;
	const char *found;	/* what it is, or why it is not there */
	const char *needed_for; /* "gpupool record" */
	const char *hint;	/* how to get it; NULL: none */
};

/* All of it borrowed. */
struct gp_doctor {
	const char *version, *compiler, *architecture, *system;
	uint32_t processors;
	const struct gp_doctor_library *libraries;
	size_t library_count;
	const struct gp_doctor_check *checks;
	size_t check_count;
};

void gp_report_doctor_text(const struct gp_doctor *doctor,
			   const struct gp_report_style *style, FILE *out);
void gp_report_doctor_json(const struct gp_doctor *doctor, FILE *out);

/* ---- --events ---- */

/* One line of --events, in JSON: man/gpupool-replay.1. */
void gp_report_action(const struct gp_trace *trace,
		      const struct gp_device_trace *device,
		      const struct gp_action *action, uint64_t event,
		      FILE *out);

/* ---- an event, in words ---- */

/* "step 20, 3.1 s, serve.py:90 (event 143)": the step as numbered by the
 * program's marks, or else counted from 1; the time since the first event that
 * has one; the source line. Unknown parts are left out: "event 143". For
 * GP_AT_START: "the start of the trace". device is an index. */
struct gp_steps; /* trace/steps.h */
#define GP_EVENT_TEXT 320
const char *gp_event_words(const struct gp_trace *trace, uint32_t device,
			   uint64_t event, char text[GP_EVENT_TEXT]);
/* The same with steps that were found before. */
const char *gp_event_words_in(const struct gp_trace *trace, uint32_t device,
			      const struct gp_steps *steps, uint64_t event,
			      char text[GP_EVENT_TEXT]);
/* The same without the source line: "step 20, 3.1 s (event 143)". */
const char *gp_event_when(const struct gp_trace *trace, uint32_t device,
			  uint64_t event, char text[GP_EVENT_TEXT]);
/* The same with steps that were found before. */
const char *gp_event_moment(const struct gp_trace *trace, uint32_t device,
			    const struct gp_steps *steps, uint64_t event,
			    char text[GP_EVENT_TEXT]);
/* "step 20", or "". */
#define GP_STEP_TEXT 32
const char *gp_event_step(const struct gp_trace *trace, uint32_t device,
			  const struct gp_steps *steps, uint64_t event,
			  char text[GP_STEP_TEXT]);
/* The number by which a step is shown. */
uint64_t gp_step_number(const struct gp_trace *trace, uint32_t device,
			const struct gp_steps *steps, size_t step);

/* ---- which event a map shows ---- */

/* The event that a map shows, and its description: "the peak of reserved".
 * Without an OOM, GP_MAP_OOM is the peak. */
uint64_t gp_map_event(const struct gp_map_choice *choice,
		      const struct gp_replay_result *result, const char **what);

#endif
