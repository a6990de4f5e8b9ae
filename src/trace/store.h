/* SPDX-License-Identifier: MIT */
/*
 * The owner of a trace: the trace itself and all its memory.
 */
#ifndef TRACE_STORE_H
#define TRACE_STORE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/intern.h"
#include "gpupool/trace.h"

/* All ordinals are less; no machine has as many devices. */
#define GP_DEVICES 1024

struct gp_trace_store {
	struct gp_trace trace; /* trace.memory is this store */
	struct gp_arena arena;
	struct gp_intern texts;
	atomic_uint shares; /* owners apart from the first */
};

/* Zeroed; destroyed by gp_trace_destroy(&store->trace). */
struct gp_trace_store *gp_trace_store_create(void);

/* A trace that borrows everything from another one, except for its devices:
 * *devices is its own copy, which may be modified. */
struct gp_trace_store *gp_trace_store_derive(const struct gp_trace *trace,
					     struct gp_device_trace **devices);

/* The owners of a device's blocks under other ids: numbers has the new id for
 * each old one, or GP_NO_ID; there are `count` new ids. NULL: no owner is
 * known. */
const uint32_t *gp_trace_store_owners(struct gp_arena *arena,
				      const struct gp_device_trace *from,
				      const uint32_t *numbers, uint32_t count);

#endif
