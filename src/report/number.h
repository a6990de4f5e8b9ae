/* SPDX-License-Identifier: MIT */
/* The numbers of a run on one device, by name: PyTorch's memory_stats under
 * PyTorch's keys, and the report's measures. For limits, rankings and tables,
 * in which users name them. */
#ifndef REPORT_NUMBER_H
#define REPORT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

enum gp_number_unit {
	GP_NUMBER_BYTES,
	GP_NUMBER_COUNT,
	GP_NUMBER_RATIO, /* in millionths, the precision of reports */
};
#define GP_NUMBER_MILLION 1000000

struct gp_number {
	char name[64];
	uint8_t unit; /* enum gp_number_unit */
	bool more_is_better;
};

/* Sorted by name. */
struct gp_numbers {
	struct gp_number *items; /* owned */
	size_t count;
};

/* The value of a number in one run. */
struct gp_reading {
	bool is_there; /* the release has it, and there is a value */
	int64_t value;
};

/* Visits each key of memory_stats in PyTorch 2.<release>, including those of
 * single private pools; trace NULL: without these. */
void gp_stats_each(const struct gp_trace *trace,
		   const struct gp_replay_result *result, uint8_t release,
		   void (*key)(void *arg, const char *key, int64_t value),
		   void *arg);

#define GP_NUMBER_NONE SIZE_MAX

/* Every name in any release, except those of single private pools. */
void gp_numbers_init(struct gp_numbers *numbers);
void gp_numbers_release(struct gp_numbers *numbers);

/* The index of a name; GP_NUMBER_NONE: there is none. */
size_t gp_numbers_find(const struct gp_numbers *numbers, const char *name);

/* Fills readings, one for each name. */
void gp_numbers_read(const struct gp_numbers *numbers,
		     const struct gp_trace *trace, const struct gp_run *run,
		     size_t device, struct gp_reading *readings);

#endif
