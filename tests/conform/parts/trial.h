/* SPDX-License-Identifier: MIT */
/*
 * A trial: a program's requests, and the settings and devices under which it
 * runs.
 *
 * The generator makes trials, and the reducer cuts them down. To run one, it is
 * turned into a trace, which never changes.
 */
#ifndef CONFORM_TRIAL_H
#define CONFORM_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"

#define TRIAL_CONF 256
#define TRIAL_TEXT 128
#define MIB	   (UINT64_C(1) << 20)
#define GIB	   (UINT64_C(1) << 30)

struct op {
	enum gp_event_kind kind;
	uint32_t device; /* ordinal */
	uint64_t id, size, stream;
	uint8_t flags; /* enum gp_event_flag */
	uint64_t by;   /* GP_STREAM_WAITS */
	struct gp_pool_id pool;
	double fraction;
	char text[TRIAL_TEXT]; /* GP_SET_SETTINGS */
};

struct trial {
	char about[TRIAL_TEXT];
	char conf[TRIAL_CONF]; /* PYTORCH_CUDA_ALLOC_CONF */
	char release[16];      /* that it is about; empty: all */
	uint64_t capacity;     /* bytes, of each device */
	struct op *ops;	       /* owned */
	size_t count, room;
};

void trial_release(struct trial *trial);
void trial_copy(struct trial *to, const struct trial *from);
struct op *trial_add(struct trial *trial, const struct op *op);

/* The first release, 2.x, whose allocator has all these requests. */
uint8_t trial_since(const struct trial *trial);

/* The caller destroys it with gp_trace_destroy. */
enum gp_status trial_trace(const struct trial *trial, struct gp_trace **trace,
			   struct gp_diag *diag);
/* Reads the requests of a trace; false: it has something that trials do not
 * have. */
bool trial_of_trace(struct trial *trial, const struct gp_trace *trace);

/* Writes a gpupool-trace whose first line has the flags of the run. */
void trial_print(const struct trial *trial, FILE *out);

#endif
