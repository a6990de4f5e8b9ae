/* SPDX-License-Identifier: MIT */
/* Culprits: groups of blocks of one site, or of one size, stream, pool,
 * category or module. */
#ifndef STUDY_METRICS_CULPRIT_H
#define STUDY_METRICS_CULPRIT_H

#include "base/map.h"
#include "study/metrics/explain.h"

/* Who requested a block of a device. */
struct asker {
	uint64_t requested;
	uint64_t event;	  /* of the request; GP_FROM_START */
	uint32_t site;	  /* the program's own frame: site.c */
	uint32_t culprit; /* index */
	uint16_t stream, pool;
	struct gp_owner owner;
};
#define GP_FROM_START UINT64_MAX

struct askers {
	struct asker *list; /* by id */
	size_t count;
	struct gp_culprit *culprits; /* identity only, no amounts */
	size_t culprit_count, culprit_room;
	struct gp_map by_key;
	const uint16_t *pools; /* see askers_init_by */
	enum gp_hold_by by;
};

/* Whether the trace can be grouped in this way: without owners, grouping by
 * category or module would yield a single group. */
bool askers_can_be(enum gp_hold_by by, const struct gp_trace *trace);

/* Groups blocks by site. */
void askers_init(struct askers *askers, const struct gp_trace *trace,
		 const struct gp_device_trace *device);
/* pools: by id, the pool that each block was in, borrowed, because a capture or
 * routing serves requests that name no pool. NULL: the pool that the request
 * names. */
void askers_init_by(struct askers *askers, enum gp_hold_by by,
		    const struct gp_trace *trace,
		    const struct gp_device_trace *device,
		    const uint16_t *pools);
void askers_release(struct askers *askers);

/* The culprits that pin anything at the moment, with what they pin. */
void culprits_now(const struct askers *askers, const struct gp_pins *pins,
		  uint64_t event, struct gp_culprits *now);

/* The culprits whose blocks are in use, with their bytes. */
void culprits_live(const struct askers *askers, const struct gp_state *state,
		   uint64_t event, struct gp_culprits *live);

/* Keeps the culprits that pin anything, sorted, most first; takes ownership of
 * the list. */
struct gp_culprits culprits_rank(struct gp_culprit *culprits, size_t count);

#endif
