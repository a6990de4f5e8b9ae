/* SPDX-License-Identifier: MIT */
/*
 * The engine "torch": PyTorch's own allocator in a process of its own.
 *
 *     torch.c       the requests, as messages; the counters
 *     route.c       those about pools and captures
 *     translate.c   what PyTorch did, and its segments and blocks
 *     torch_open.c  starts the process (allocator/channel.h)
 *     wire.h        what travels there
 *     helper.c, shim*.cc  the other end
 */
#ifndef ALLOCATOR_TORCH_TORCH_H
#define ALLOCATOR_TORCH_TORCH_H

#include "allocator/channel.h"
#include "allocator/torch/wire.h"
#include "base/map.h"
#include "gpupool/allocator.h"

struct torch_opened {
	uint16_t pool;
	bool is_capture;
	uint32_t capture; /* only its streams; 0: every request */
	uint16_t origin;  /* the first of them */
};

struct torch {
	struct gp_allocator head;
	struct gp_allocator_config config;
	struct channel channel;
	struct gp_stats stats;
	struct gp_level levels[GP_STAT_COUNT];
	uint8_t release; /* of the helper */

	/* Block ids by address, from alloc to free_completed; which of them the
	 * program still holds, and their pool, by id. */
	struct gp_map ids;
	bool *is_live;
	uint16_t *pools;
	struct gp_map segment_pools; /* by address */

	uint32_t id;		     /* of the request under way */
	uint16_t pool;		     /* it goes there */
	struct torch_opened *routes; /* oldest first */
	size_t route_count, route_room;
	uint32_t *captures; /* by stream: the one it is in; 0: none */
	uint32_t begun;	    /* captures so far */

	char text[TORCH_TEXT_MOST]; /* the last error */
	const char *limit; /* what this engine cannot do; NULL: all well */
	struct torch_snapshot *snapshot; /* while it is taken */
};

static inline struct torch *torch_of(struct gp_allocator *allocator)
{
	return (struct torch *)allocator;
}

/* Sends a request and takes what comes back up to its answer. */
enum gp_answer torch_request(struct torch *t, struct torch_request request,
			     const char *text, uint64_t *addr);

/* torch_open.c: starts that of config->torch_lib, under these settings; the one
 * on config->torch_cuda's runtime unless that is NULL. */
enum gp_status torch_open(struct torch *t, struct gp_diag *diag);

struct torch_request torch_about_pool(const struct torch *t, enum torch_op op,
				      uint16_t pool);

/* route.c: members of the engine, and where a request without a pool goes. */
uint16_t torch_routed_pool(const struct torch *t, uint16_t stream);
bool torch_route(struct gp_allocator *allocator, uint64_t size, uint16_t stream,
		 uint16_t pool, struct gp_route *route);
bool torch_names_pool(struct torch *t, uint16_t pool, uint16_t stream,
		      struct torch_request *request);
enum gp_answer torch_pool_begin(struct gp_allocator *allocator, uint16_t pool,
				bool is_capture);
enum gp_answer torch_capture(struct gp_allocator *allocator, uint16_t pool,
			     uint16_t stream);
void torch_wait(struct gp_allocator *allocator, uint16_t stream, uint16_t by);
enum gp_answer torch_pool_end(struct gp_allocator *allocator, uint16_t pool);
enum gp_answer torch_pool_release(struct gp_allocator *allocator,
				  uint16_t pool);
enum gp_answer torch_pool_change(struct gp_allocator *allocator, uint16_t pool,
				 enum gp_event_kind change);

/* Indices into the config's tables of what PyTorch names. */
uint16_t torch_stream_index(const struct torch *t, uint64_t stream);
uint16_t torch_pool_index(const struct torch *t, const uint64_t pool[2]);

void torch_take_action(struct torch *t, const struct torch_message *message);

void snapshot_add(struct torch *t, const struct torch_message *piece);
void torch_state(struct gp_allocator *allocator, struct gp_state *state);
size_t torch_candidates(struct gp_allocator *allocator, uint64_t size,
			uint16_t stream, uint16_t pool,
			struct gp_candidate *out, size_t room);

#endif
