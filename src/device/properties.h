/* SPDX-License-Identifier: MIT */
/* What a GPU reports about itself. */
#ifndef DEVICE_PROPERTIES_H
#define DEVICE_PROPERTIES_H

struct gp_gpu_properties {
	char name[256];
	int major, minor; /* compute capability */
	int multiprocessors;
	int l2_bytes, bus_width_bits;
	int shared_per_block, shared_per_block_optin, shared_per_sm; /* bytes */
	int threads_per_sm; /* 0: 2048 */
	int blocks_per_sm;  /* 0: 32 */
	int clock_khz, memory_clock_khz;
	int compiled_for; /* 86: the architecture kernels were compiled for; 0:
			   * the device's own */
};

#endif
