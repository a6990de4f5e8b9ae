/* SPDX-License-Identifier: MIT */
/* What a benchmark found, for a person, for a program, and as prices. */
#ifndef REPORT_BENCH_REPORT_H
#define REPORT_BENCH_REPORT_H

#include "device/bench.h"
#include "report/report.h"

struct gp_bench_report {
	const struct gp_cuda_about *about;
	const struct gp_bench *bench;
	const char *date; /* of the measurement: 2026-11-21 */
};

/* What gpupool itself takes for a trace: nanoseconds an event. */
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

/* A file as gp_prices_read takes it; how each price was measured stands in
 * it. */
void gp_report_bench_prices(const struct gp_bench_report *report, FILE *out);

#endif
