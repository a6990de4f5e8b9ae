/* SPDX-License-Identifier: MIT */
/*
 * Measures: the numbers that describe a run, one row each.
 *
 * A row's key is the JSON key in every report, and its label is used in text.
 * Its formula, meaning and reading make up gpupool-metrics(7). Measures of a
 * moment are available after every event: they are thinned to a bounded number
 * of moments that keeps every peak (struct gp_thin), and compared with
 * thresholds (struct gp_alert).
 *
 * PyTorch's own counters have PyTorch's keys and are not repeated here (struct
 * gp_stats), except for the two that thresholds need.
 */
#ifndef GPUPOOL_METRICS_H
#define GPUPOOL_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/replay.h"
#include "gpupool/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- the table ---- */

enum gp_measure_unit {
	GP_UNIT_BYTES,
	GP_UNIT_COUNT,
	GP_UNIT_MICROSECONDS,
	GP_UNIT_RATIO,
};

enum gp_measure_scope {
	GP_SCOPE_RUN,	  /* the whole run */
	GP_SCOPE_MOMENT,  /* after each event */
	GP_SCOPE_COUNTER, /* the whole run; memory_stats has them since
			   * the last reset */
	GP_SCOPE_CALLS,	  /* the whole run: "device_calls.NAME" */
	GP_SCOPE_SUMMARY, /* the whole run, in tables with one row per run */
};

enum gp_measure_id {
	GP_PEAK_RESERVED,
	GP_PEAK_ALLOCATED,
	GP_RECORDED_RESERVED,
	GP_RECORDED_ALLOCATED,
	GP_RECORDED_START,
	GP_ALLOCS,
	GP_DROPPED,
	GP_DEVICE_ALLOCS,
	GP_HIT_RATE,
	GP_RESERVED,
	GP_ALLOCATED,
	GP_ACTIVE_BYTES,
	GP_REQUESTED,
	GP_INACTIVE_SPLIT,
	GP_GAP,
	GP_FRAGMENTATION,
	GP_INACTIVE_SPLIT_RATIO,
	GP_UTILIZATION,
	GP_INTERNAL,
	GP_LARGEST_FREE,
	GP_EXTERNAL,
	GP_NUM_RETRIES,
	GP_NUM_OOMS,
	GP_NUM_DEVICE_FREE,
	GP_CALLS_MALLOC,
	GP_CALLS_MALLOC_FAILED,
	GP_CALLS_FREE,
	GP_CALLS_RESERVE,
	GP_CALLS_UNRESERVE,
	GP_CALLS_MAP,
	GP_CALLS_MAP_FAILED,
	GP_CALLS_UNMAP,
	GP_DEVICE_TIME,
	GP_FIRST_OOM_ALLOC,
	GP_FIRST_OOM_EVENT,
	GP_MEASURES,
};

/* A run, and the moment of it to measure. */
struct gp_subject {
	const struct gp_replay_result *result; /* not read by GP_SCOPE_MOMENT */
	const struct gp_moment *moment;	       /* not read by other scopes */
};

struct gp_measure {
	const char *key, *label;
	enum gp_measure_unit unit;
	enum gp_measure_scope scope;
	const char *meaning; /* in a few words */
	const char *formula;
	const char *reading; /* sentences: how to interpret it */
	/* Whether the value is known for this run, as opposed to 0; NULL:
	 * always. */
	bool (*is_known)(const struct gp_subject *subject);
	/* One of the two is set, depending on the unit. */
	uint64_t (*count)(const struct gp_subject *subject);
	double (*ratio)(const struct gp_subject *subject);
};

/* Indexed by enum gp_measure_id. */
extern const struct gp_measure gp_measures[GP_MEASURES];

/* A run together with its moment of peak reserved memory, or its last moment.
 * Borrow the result. */
struct gp_subject gp_at_peak(const struct gp_replay_result *result);
struct gp_subject gp_at_end(const struct gp_replay_result *result);

/* Whether a measure is known for a subject; and its value, for measures with a
 * count or a ratio respectively. */
bool gp_measure_is_known(enum gp_measure_id id,
			 const struct gp_subject *subject);
uint64_t gp_measure_count(enum gp_measure_id id,
			  const struct gp_subject *subject);
double gp_measure_ratio(enum gp_measure_id id,
			const struct gp_subject *subject);
/* The value, whichever of the two it is. */
double gp_measure_value(enum gp_measure_id id,
			const struct gp_subject *subject);
/* The part of the key after its last dot: the name within an object. */
const char *gp_measure_name(enum gp_measure_id id);
/* "bytes", "count", "microseconds", "ratio" */
const char *gp_unit_name(enum gp_measure_unit unit);

/* ---- over time ---- */

/*
 * A thinned series of the moments of a run. Events fall into buckets of equal
 * width. For each measure of a moment, a bucket keeps the moments of its
 * smallest and its largest value, so that no peak is lost. Memory is bounded:
 * when the buckets are full, adjacent ones are merged.
 */
#define GP_THIN_BUCKETS 256
struct gp_thin;

/* Creates an empty series; the caller destroys it. */
struct gp_thin *gp_thin_create(void);
void gp_thin_destroy(struct gp_thin *thin);
/* Events must ascend. */
void gp_thin_add(struct gp_thin *thin, const struct gp_moment *moment);
/* Returns the moments kept, in order of event and without duplicates; the
 * caller frees *moments. */
size_t gp_thin_moments(const struct gp_thin *thin, struct gp_moment **moments);

/* ---- thresholds ---- */

/* "fragmentation>0.3 for 100 events" */
struct gp_alert {
	enum gp_measure_id id;
	enum gp_alert_operator {
		GP_ABOVE,
		GP_AT_LEAST,
		GP_BELOW,
		GP_AT_MOST
	} op;
	double limit;
	uint64_t events; /* consecutive events required; at least 1 */
	/* Results. A violation is a sequence of consecutive events beyond the
	 * limit. */
	uint64_t first;	 /* first event of the current violation */
	uint64_t length; /* length of the current violation */
	/* Most extreme value; finally that of the violation that fired. */
	double worst;
	bool has_fired, has_ended;
	uint64_t fired_first, fired_length;
};

/* Parses an alert. Returns GP_USAGE, with the reason in diag, if the text is
 * invalid. */
enum gp_status gp_alert_parse(const char *text, struct gp_alert *alert,
			      struct gp_diag *diag);
/* Compares a moment with the threshold. To be called after each event. */
void gp_alert_look(struct gp_alert *alert, const struct gp_moment *moment);
/* To be called at the end of the run; has_fired is then final. */
void gp_alert_end(struct gp_alert *alert,
		  const struct gp_replay_result *result);
/* Writes a sentence, such as "fragmentation was above 0.3 for 412 events from
 * event 1,234 on, 0.57 at the most". */
#define GP_ALERT_TEXT 256
const char *gp_alert_text(const struct gp_alert *alert,
			  char text[GP_ALERT_TEXT]);

/* ---- observing a run ---- */

struct gp_film; /* every action; only gpupool's own commands make one */

/* What is recorded during a run of one device. All of it is owned. */
struct gp_track {
	struct gp_thin *thin;	 /* NULL: not kept */
	struct gp_film *film;	 /* NULL: not kept */
	struct gp_alert *alerts; /* malloc's */
	size_t alert_count;
};
/* Records the moment after an event, for a gp_replay_config.look. */
void gp_track_look(struct gp_track *track, struct gp_allocator *allocator,
		   uint64_t event);
void gp_track_release(struct gp_track *track);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
