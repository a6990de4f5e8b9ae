/* SPDX-License-Identifier: MIT */
/*
 * Where a trace lives: the trace itself and all its memory, one owner.
 */
#ifndef TRACE_STORE_H
#define TRACE_STORE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/intern.h"
#include "gpupool/trace.h"

/* Ordinals are below; more devices than any machine has. */
#define GP_DEVICES 1024

struct gp_trace_store {
	struct gp_trace trace; /* trace.memory is this store */
	struct gp_arena arena;
	struct gp_intern texts;
	atomic_uint shares; /* owners beside the first */
};

/* Zeroed; the owner destroys store->trace. */
struct gp_trace_store *gp_trace_store_create(void);

/* Borrows all of the trace; *devices, its own copy of them, may be written. */
struct gp_trace_store *gp_trace_store_derive(const struct gp_trace *trace,
					     struct gp_device_trace **devices);

/* What a device's blocks are for under other ids: numbers has the new one of
 * each old id, or GP_NO_ID, so many in all.  NULL: nothing is told. */
const uint32_t *gp_trace_store_owners(struct gp_arena *arena,
				      const struct gp_device_trace *from,
				      const uint32_t *numbers, uint32_t count);

#endif
