/* SPDX-License-Identifier: MIT */
/*
 * The CUDA runtime without a device (src/simcuda), linked into a test instead
 * of loaded by gpupool/cuda.h; a test may replace single functions by its own.
 */
#ifndef TESTS_CUDA_STAND_IN_H
#define TESTS_CUDA_STAND_IN_H

#include <string.h>

#include "device/cuda/cuda_calls.h"
#include "device/cuda.h"
#include "simcuda/simcuda.h"
#include "simcuda/api/cuda.h"
#include "simcuda/api/cuda_runtime_api.h"
#include "suite.h"

/* If stand_in_own.name is set, own replaces the function of that name. */
static struct {
	const char *name;
	void *own;
} stand_in_own;

static inline void *stand_in_find(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} rows[] = {
#define STAND_IN_ROW(name, arguments) { #name, (void *)name },
		CUDA_CALLS(STAND_IN_ROW){ "cudaGetErrorString",
					  (void *)cudaGetErrorString },
		{ "cudaGetErrorName", (void *)cudaGetErrorName },
		{ "simcuda_reset", (void *)simcuda_reset },
	};

	if (stand_in_own.name && !strcmp(stand_in_own.name, name))
		return stand_in_own.own;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].function;
	return NULL;
}

/* Each time somebody reads the clock, a microsecond passes. */
static inline double stand_in_now(void)
{
	static double now;

	return now += 1e-6;
}

static inline enum gp_status stand_in_open(struct gp_cuda **cuda,
					   struct gp_diag *diag)
{
	struct gp_cuda_config config = { .find = stand_in_find,
					 .now = stand_in_now };

	return gp_cuda_open(&config, cuda, diag);
}

static inline struct gp_cuda *opened(void)
{
	struct gp_cuda *cuda = NULL;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(stand_in_open(&cuda, &diag), GP_OK);
	return cuda;
}

static inline struct gp_device *make(void *cuda, uint32_t ordinal,
				     uint64_t capacity)
{
	return gp_cuda_device_create(cuda, ordinal, capacity);
}

static inline uint64_t free_memory(void)
{
	size_t free_bytes, total;

	ck_assert_int_eq(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
	return free_bytes;
}

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#endif
