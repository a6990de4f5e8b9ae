/* SPDX-License-Identifier: MIT */
/*
 * What `gpupool compare` tells: the same traces under several allocators, and
 * how far each is from what a packing of the same lifetimes takes.
 */
#ifndef REPORT_ENGINES_REPORT_H
#define REPORT_ENGINES_REPORT_H

#include <stddef.h>

#include "report/report.h"
#include "report/table.h"

/* One engine under one set of settings. */
struct gp_engine_entry {
	const char *engine, *conf; /* conf NULL: as each trace was recorded */
	double mean, worst;    /* of reserved / packing, where all is served */
	uint64_t traces, wins; /* served in full; with the least reserved */
	uint64_t ooms;	       /* of all traces */
};

/* One device of a trace under one entry. */
struct gp_engine_run {
	const char *path;
	uint32_t device;
	const char *engine, *conf; /* the entry's */
	uint64_t capacity;	   /* bytes; GP_UNLIMITED: no end */
	uint64_t reserved, allocated;
	double fragmentation; /* at the peak of reserved */
	uint64_t live, packing;
	uint64_t device_calls, time_us;
	uint64_t dropped, retries;
	uint64_t need;	     /* 0: not asked, or not known */
	const char *trouble; /* why there is no run; NULL: there is */
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

#endif
