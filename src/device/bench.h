/* SPDX-License-Identifier: MIT */
/*
 * Measured times of CUDA calls: each call by size, many times, on an otherwise
 * idle device.
 */
#ifndef DEVICE_BENCH_H
#define DEVICE_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "device/cuda.h"
#include "gpupool/device.h"

/* Continues enum gp_price_call, whose calls have a price. */
enum gp_bench_call {
	GP_BENCH_MALLOC_ASYNC = GP_PRICE_CALLS,
	GP_BENCH_FREE_ASYNC,
	GP_BENCH_MALLOC_KEPT, /* from a pool that keeps freed memory */
	GP_BENCH_FREE_KEPT,
	GP_BENCH_STREAM_SYNCHRONIZE,
	GP_BENCH_EVENT_RECORD,
	GP_BENCH_EVENT_QUERY,
	GP_BENCH_MEM_GET_INFO,
	GP_BENCH_REFUSED, /* cudaMalloc of more memory than there is */
	GP_BENCH_COPY,	  /* cudaMemset and cudaMemcpy, not timed */
	GP_BENCH_STREAM_WAIT,
	GP_BENCH_TRIM,
	GP_BENCH_MANAGED,
	GP_BENCH_TOUCH, /* cudaMemset, first use of managed memory */
	GP_BENCH_CALLS,
};
const char *gp_bench_call_name(unsigned call);

/* One measurement, in microseconds. */
struct gp_bench_row {
	unsigned call; /* enum gp_price_call, enum gp_bench_call */
	uint64_t size; /* bytes */
	uint32_t count;
	double first_us; /* first call of that size in this process */
	double p10_us, median_us, p90_us, most_us;
};

struct gp_bench {
	struct gp_bench_row *rows; /* by call, then size */
	size_t count;
};

struct gp_bench_config {
	struct gp_cuda *cuda;
	uint32_t repeats; /* calls of each row */
	double row_s;	  /* most seconds spent on a row */
	/* Called before each size; may be NULL. */
	void (*progress)(void *arg, const char *call, uint64_t size);
	void *progress_arg;
};

/* GP_SYSTEM: a call failed unexpectedly; bench still has what was measured. All
 * device memory is released. */
enum gp_status gp_bench_run(const struct gp_bench_config *config,
			    struct gp_bench *bench, struct gp_diag *diag);
void gp_bench_release(struct gp_bench *bench);

#endif
