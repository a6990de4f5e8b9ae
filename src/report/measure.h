/*
 * The numbers of a report: each has one row, here, with its key in JSON, its
 * label in text, its unit and its definition.
 *
 * PyTorch's own counters are not here: they carry PyTorch's keys
 * (report/stats.h).
 */
#ifndef REPORT_MEASURE_H
#define REPORT_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/replay.h"

enum gp_unit { GP_UNIT_BYTES, GP_UNIT_COUNT, GP_UNIT_RATIO };

enum gp_measure_scope {
	GP_SCOPE_RUN,	 /* of the whole run */
	GP_SCOPE_MOMENT, /* at the peak of reserved, and at the end */
	GP_SCOPE_END,	 /* at the end only */
};

enum gp_measure_id {
	GP_PEAK_RESERVED,
	GP_PEAK_ALLOCATED,
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
	GP_MEASURES,
};

/* A run, and the moment of it that is measured. */
struct gp_subject {
	const struct gp_replay_result *result;
	const struct gp_moment *moment; /* GP_SCOPE_RUN: not read */
};

struct gp_measure {
	const char *key, *label;
	enum gp_unit unit;
	enum gp_measure_scope scope;
	const char *meaning;
	/* One of them, by unit. */
	uint64_t (*count)(const struct gp_subject *subject);
	double (*ratio)(const struct gp_subject *subject);
};

/* By enum gp_measure_id. */
extern const struct gp_measure gp_measures[GP_MEASURES];

struct gp_subject gp_at_peak(const struct gp_replay_result *result);
struct gp_subject gp_at_end(const struct gp_replay_result *result);

uint64_t gp_measure_count(enum gp_measure_id id,
			  const struct gp_subject *subject);
double gp_measure_ratio(enum gp_measure_id id,
			const struct gp_subject *subject);

#endif
