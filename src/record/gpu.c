/*
 * Real devices, as they show themselves to CUDA.
 *
 * Compute capability, multiprocessors, L2, threads and shared memory: NVIDIA's
 * architecture whitepapers and data sheets of each product, and the table of
 * technical specifications by compute capability in the CUDA C++ Programming
 * Guide.  The capacity is the total of cudaMemGetInfo; where "measured" is not
 * said, it is the product's memory in GiB.
 */
#include <string.h>

#include "gpupool/record.h"

#define GIB		 (UINT64_C(1) << 30)
#define KIB		 1024
#define SHARED_PER_BLOCK (48 * KIB)

static const struct gp_gpu table[] = {
	{ "v100-16gb",
	  16 * GIB,
	  { "Tesla V100-SXM2-16GB", 7, 0, 80, 6 << 20, 4096, SHARED_PER_BLOCK,
	    96 * KIB, 96 * KIB, 2048, 0 } },
	{ "v100-32gb",
	  32 * GIB,
	  { "Tesla V100-SXM2-32GB", 7, 0, 80, 6 << 20, 4096, SHARED_PER_BLOCK,
	    96 * KIB, 96 * KIB, 2048, 0 } },
	{ "t4",
	  15 * GIB,
	  { "Tesla T4", 7, 5, 40, 4 << 20, 256, SHARED_PER_BLOCK, 64 * KIB,
	    64 * KIB, 1024, 0 } },
	{ "a100-40gb",
	  40 * GIB,
	  { "NVIDIA A100-SXM4-40GB", 8, 0, 108, 40 << 20, 5120,
	    SHARED_PER_BLOCK, 163 * KIB, 164 * KIB, 2048, 0 } },
	{ "a100-80gb",
	  80 * GIB,
	  { "NVIDIA A100-SXM4-80GB", 8, 0, 108, 40 << 20, 5120,
	    SHARED_PER_BLOCK, 163 * KIB, 164 * KIB, 2048, 0 } },
	{ "a10",
	  24 * GIB,
	  { "NVIDIA A10", 8, 6, 72, 6 << 20, 384, SHARED_PER_BLOCK, 99 * KIB,
	    100 * KIB, 1536, 0 } },
	{ "rtx-3090",
	  24 * GIB,
	  { "NVIDIA GeForce RTX 3090", 8, 6, 82, 6 << 20, 384, SHARED_PER_BLOCK,
	    99 * KIB, 100 * KIB, 1536, 0 } },
	{ "l4",
	  24 * GIB,
	  { "NVIDIA L4", 8, 9, 58, 48 << 20, 192, SHARED_PER_BLOCK, 99 * KIB,
	    100 * KIB, 1536, 0 } },
	{ "l40s",
	  48 * GIB,
	  { "NVIDIA L40S", 8, 9, 142, 96 << 20, 384, SHARED_PER_BLOCK, 99 * KIB,
	    100 * KIB, 1536, 0 } },
	{ "rtx-4090",
	  24 * GIB,
	  { "NVIDIA GeForce RTX 4090", 8, 9, 128, 72 << 20, 384,
	    SHARED_PER_BLOCK, 99 * KIB, 100 * KIB, 1536, 0 } },
	{ "h100-80gb",
	  80 * GIB,
	  { "NVIDIA H100 80GB HBM3", 9, 0, 132, 50 << 20, 5120,
	    SHARED_PER_BLOCK, 227 * KIB, 228 * KIB, 2048, 0 } },
	{ "h200",
	  141 * GIB,
	  { "NVIDIA H200", 9, 0, 132, 50 << 20, 6144, SHARED_PER_BLOCK,
	    227 * KIB, 228 * KIB, 2048, 0 } },
	{ "b200",
	  180 * GIB,
	  { "NVIDIA B200", 10, 0, 148, 126 << 20, 8192, SHARED_PER_BLOCK,
	    227 * KIB, 228 * KIB, 2048, 0 } },
};

const struct gp_gpu *gp_gpu_table(size_t *count)
{
	*count = sizeof(table) / sizeof(*table);
	return table;
}

const struct gp_gpu *gp_gpu_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}
