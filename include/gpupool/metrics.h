/* SPDX-License-Identifier: MIT */
/*
 * Measures: the numbers that describe a run, one row each.
 *
 * A row's key is the JSON key in every report, its label the text's; its
 * formula, its sentence and how to read it are the manual's
 * (gpupool-metrics(7)).  Those of a moment are known behind every event:
 * thinned to a bounded number of moments that keep every peak (struct gp_thin),
 * and watched for a threshold (struct gp_alert).
 *
 * PyTorch's own counters carry PyTorch's keys and are not repeated here
 * (report/stats.h), but for the two that thresholds are for.
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
	GP_SCOPE_RUN,	  /* of the whole run */
	GP_SCOPE_MOMENT,  /* behind each event */
	GP_SCOPE_COUNTER, /* of the whole run, and one of memory_stats */
	GP_SCOPE_CALLS,	  /* of the whole run: "device_calls.NAME" */
	GP_SCOPE_SUMMARY, /* of the whole run, where runs are rows */
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

/* A run, and the moment of it that is measured. */
struct gp_subject {
	const struct gp_replay_result *result; /* GP_SCOPE_MOMENT: not read */
	const struct gp_moment *moment;	       /* else: not read */
};

struct gp_measure {
	const char *key, *label;
	enum gp_measure_unit unit;
	enum gp_measure_scope scope;
	const char *meaning; /* in a few words */
	const char *formula;
	const char *reading; /* sentences: what it tells */
	/* Whether the run has it, and not 0 instead; NULL: every run does. */
	bool (*is_known)(const struct gp_subject *subject);
	/* One of them, by unit. */
	uint64_t (*count)(const struct gp_subject *subject);
	double (*ratio)(const struct gp_subject *subject);
};

/* By enum gp_measure_id. */
extern const struct gp_measure gp_measures[GP_MEASURES];

struct gp_subject gp_at_peak(const struct gp_replay_result *result);
struct gp_subject gp_at_end(const struct gp_replay_result *result);

bool gp_measure_is_known(enum gp_measure_id id,
			 const struct gp_subject *subject);
uint64_t gp_measure_count(enum gp_measure_id id,
			  const struct gp_subject *subject);
double gp_measure_ratio(enum gp_measure_id id,
			const struct gp_subject *subject);
/* Either of them. */
double gp_measure_value(enum gp_measure_id id,
			const struct gp_subject *subject);
/* The key without what stands before its last dot: the name in an object. */
const char *gp_measure_name(enum gp_measure_id id);
/* "bytes", "count", "microseconds", "ratio" */
const char *gp_unit_name(enum gp_measure_unit unit);

/* ---- over time ---- */

/*
 * A run's moments, thinned.  Events fall into buckets of equal width; of each
 * measure of a moment a bucket keeps the moments of its least and its most
 * value, so that no peak is lost and memory does not grow with the trace: when
 * the buckets are full, neighbours become one.
 */
#define GP_THIN_BUCKETS 256
struct gp_thin;

struct gp_thin *gp_thin_create(void);
void gp_thin_destroy(struct gp_thin *thin);
/* Events in rising order. */
void gp_thin_add(struct gp_thin *thin, const struct gp_moment *moment);
/* What is kept, by event, each once; the caller frees *moments. */
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
	uint64_t events; /* in a row; at least 1 */
	/* What was found. */
	uint64_t first;	 /* event that the present row began with */
	uint64_t length; /* of the present row */
	double worst;	 /* of the present row, then of the row that fired */
	bool has_fired, has_ended;
	uint64_t fired_first, fired_length;
};

/* GP_USAGE with what is wrong in diag. */
enum gp_status gp_alert_parse(const char *text, struct gp_alert *alert,
			      struct gp_diag *diag);
void gp_alert_look(struct gp_alert *alert, const struct gp_moment *moment);
/* When the run is over; then has_fired says it all. */
void gp_alert_end(struct gp_alert *alert,
		  const struct gp_replay_result *result);
/* "fragmentation was above 0.3 for 412 events from event 1,234 on, 0.57 at the
 * most" */
#define GP_ALERT_TEXT 256
const char *gp_alert_text(const struct gp_alert *alert,
			  char text[GP_ALERT_TEXT]);

/* ---- all of it ---- */

struct gp_film;

/* What is kept of a run of one device as it goes. */
struct gp_track {
	struct gp_thin *thin; /* NULL: not kept */
	struct gp_film *film; /* NULL: not kept */
	struct gp_alert *alerts;
	size_t alert_count;
};
void gp_track_look(struct gp_track *track, struct gp_allocator *allocator,
		   uint64_t event);
void gp_track_release(struct gp_track *track);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
