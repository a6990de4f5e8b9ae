/* SPDX-License-Identifier: MIT */
/* A program, run over CUDA without a device, and its traces. */
#ifndef COMMANDS_RECORDING_H
#define COMMANDS_RECORDING_H

#include <stdio.h>

#include "commands/options.h"
#include "device/gpu.h"

struct gp_recording {
	const struct gp_options *options; /* as gpupool record takes them */
	bool is_boundless;    /* what is shown of a device is no limit */
	bool is_output_aside; /* what the program prints is no answer: it goes
			       * to standard error */
	/* After it: */
	size_t count; /* of traces, named by gp_recorded_name */
	/* Bytes, of the device and process that had most. */
	uint64_t peak_allocated, peak_reserved;
	int ending;   /* as waitpid has it */
	bool runs_on; /* a process that it started is there all the same */
};

enum gp_status gp_record_program(struct gp_recording *recording,
				 struct gp_diag *diag);
/* How the program ended, as a shell has it: its status, or 128 and the signal.
 */
int gp_recording_status(const struct gp_recording *recording);

/* The device of --gpu, or the default one; NULL: there is none of that name,
 * and diag says so, with GP_USAGE. */
const struct gp_gpu *gp_record_gpu(const struct gp_options *options,
				   struct gp_diag *diag);
/* What --gpu help shows. */
void gp_record_list_gpus(FILE *out);

#endif
