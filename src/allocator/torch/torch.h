/* SPDX-License-Identifier: MIT */
/*
 * The engine "torch": PyTorch's own allocator, in a child process.
 *
 *     torch.c             requests, as messages; the counters
 *     route.c             requests about pools and captures
 *     translate.c         PyTorch's actions, segments and blocks
 *     torch_open.c        starts the process (allocator/channel.h)
 *     wire.h              the messages
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
	uint32_t capture; /* only requests on its streams; 0: every request */
	uint16_t origin;  /* the stream on which the capture began */
};

struct torch {
	struct gp_allocator head;
	struct gp_allocator_config config;
	struct channel channel;
	struct gp_stats stats;
	struct gp_level levels[GP_STAT_COUNT];
	uint8_t release; /* release of the helper */

	/* Block ids by address, from alloc to free_completed; by id, whether
	 * the program still holds the block, and its pool. */
	struct gp_map ids;
	bool *is_live;
	uint16_t *pools;
	struct gp_map segment_pools; /* by address */

	uint32_t id;		     /* of the request in progress */
	uint16_t pool;		     /* of the request in progress */
	struct torch_opened *routes; /* oldest first */
	size_t route_count, route_room;
	uint32_t *captures; /* by stream: its capture; 0: none */
	uint32_t begun;	    /* number of captures so far */

	char text[TORCH_TEXT_MOST]; /* the last error */
	const char *limit; /* what the engine failed to do; NULL: nothing */
	struct torch_snapshot *snapshot; /* while a snapshot is taken */
};

static inline struct torch *torch_of(struct gp_allocator *allocator)
{
	return (struct torch *)allocator;
}

/* Sends a request and processes messages until its answer. */
enum gp_answer torch_request(struct torch *t, struct torch_request request,
			     const char *text, uint64_t *addr);

/* torch_open.c: starts the engine in config->torch_lib with these settings, on
 * the runtime of config->torch_cuda unless that is NULL. */
enum gp_status torch_open(struct torch *t, struct gp_diag *diag);

struct torch_request torch_about_pool(const struct torch *t, enum torch_op op,
				      uint16_t pool);

/* route.c: operations of the engine, and the pool of a request that names
 * none. */
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

/* The index in the config's tables of a stream or pool that PyTorch names. */
uint16_t torch_stream_index(const struct torch *t, uint64_t stream);
uint16_t torch_pool_index(const struct torch *t, const uint64_t pool[2]);

void torch_take_action(struct torch *t, const struct torch_message *message);

void snapshot_add(struct torch *t, const struct torch_message *piece);
void torch_state(struct gp_allocator *allocator, struct gp_state *state);
size_t torch_candidates(struct gp_allocator *allocator, uint64_t size,
			uint16_t stream, uint16_t pool,
			struct gp_candidate *out, size_t room);

#endif
