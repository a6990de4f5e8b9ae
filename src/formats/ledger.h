/* SPDX-License-Identifier: MIT */
/*
 * Requests of recordings that know blocks by address only: gives each a name
 * from its allocation to its free.
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
	uint64_t lost; /* frees of nothing, and allocs that were live */
};

/* Appends the event, whose addr says where and is not kept: it is no answer
 * that PyTorch's allocator could be held to. */
void gp_ledger_alloc(struct gp_ledger *ledger, const struct gp_event *event);
void gp_ledger_free(struct gp_ledger *ledger, const struct gp_event *event);
/* A request that was not served, given back at once where it can be. */
void gp_ledger_refuse(struct gp_ledger *ledger, const struct gp_event *event);
void gp_ledger_release(struct gp_ledger *ledger);

#endif
