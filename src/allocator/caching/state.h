/* SPDX-License-Identifier: MIT */
/*
 * States: taking one over at the start of a window, showing the present one as
 * a snapshot does, and the free blocks a request could have had.
 * PyTorch: snapshot(), for what a segment is and which blocks it lists.
 */
#ifndef CACHING_STATE_H
#define CACHING_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"

struct caching;

/* As if the state's segments had been obtained and cut just so. */
void state_adopt(struct caching *c, const struct gp_state *start);

/* Memory of the state is malloc's: gp_state_release. */
void state_show(struct caching *c, struct gp_state *state);

size_t state_candidates(struct caching *c, uint64_t size, uint16_t stream,
			uint16_t pool, struct gp_candidate *out, size_t room);

#endif
