/* SPDX-License-Identifier: MIT */
/*
 * Requests of recordings that identify blocks by address only: a block gets a
 * name from its allocation to its free.
 */
#ifndef FORMATS_LEDGER_H
#define FORMATS_LEDGER_H

#include "base/map.h"
#include "trace/build.h"

struct gp_ledger {
	struct gp_build *build; /* REQUESTS; borrowed */
	uint32_t device;	/* of the build */
	struct gp_map live;	/* address -> name */
	uint32_t names;		/* so far */
	/* frees of unknown blocks, and allocs at live addresses */
	uint64_t lost;
};

/* Appends the event. Its addr identifies the block and is not kept, because a
 * replay of PyTorch's allocator is not compared with it. */
void gp_ledger_alloc(struct gp_ledger *ledger, const struct gp_event *event);
void gp_ledger_free(struct gp_ledger *ledger, const struct gp_event *event);
/* A request that was not served, freed at once in case a replay serves it. */
void gp_ledger_refuse(struct gp_ledger *ledger, const struct gp_event *event);
void gp_ledger_release(struct gp_ledger *ledger);

#endif
