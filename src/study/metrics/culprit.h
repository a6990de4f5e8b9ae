/* SPDX-License-Identifier: MIT */
/* Blocks that belong together: those of one site, or of one size, stream,
 * pool, category or module. */
#ifndef STUDY_METRICS_CULPRIT_H
#define STUDY_METRICS_CULPRIT_H

#include "base/map.h"
#include "study/metrics/explain.h"

/* Who asked for each block of a device, by id. */
struct asker {
	uint64_t requested;
	uint64_t event;	  /* of the request; GP_FROM_START */
	uint32_t site;	  /* the program's own frame, see site.c */
	uint32_t culprit; /* index */
	uint16_t stream, pool;
	struct gp_owner owner;
};
#define GP_FROM_START UINT64_MAX

struct askers {
	struct asker *list; /* by id */
	size_t count;
	struct gp_culprit *culprits; /* nothing but who they are */
	size_t culprit_count, culprit_room;
	struct gp_map by_key;
	const uint16_t *pools; /* see askers_init_by */
	enum gp_hold_by by;
};

/* Whether the trace tells what memory is for, else by category and by module
 * all is one. */
bool askers_can_be(enum gp_hold_by by, const struct gp_trace *trace);

/* By site. */
void askers_init(struct askers *askers, const struct gp_trace *trace,
		 const struct gp_device_trace *device);
/* pools: the pool that each block lay in, by id, borrowed.  A capture and a
 * pool in use take requests that name none.  NULL: the one that the request
 * names. */
void askers_init_by(struct askers *askers, enum gp_hold_by by,
		    const struct gp_trace *trace,
		    const struct gp_device_trace *device,
		    const uint16_t *pools);
void askers_release(struct askers *askers);

/* Those who hold something at the moment, with what they hold. */
void culprits_now(const struct askers *askers, const struct gp_pins *pins,
		  uint64_t event, struct gp_culprits *now);

/* Those whose blocks are in use, with their bytes. */
void culprits_live(const struct askers *askers, const struct gp_state *state,
		   uint64_t event, struct gp_culprits *live);

/* The ones that pin anything, most first; takes culprits over. */
struct gp_culprits culprits_rank(struct gp_culprit *culprits, size_t count);

#endif
