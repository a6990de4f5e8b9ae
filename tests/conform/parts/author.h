/* SPDX-License-Identifier: MIT */
/*
 * The author generates trials; a seed and a class determine all of a trial.
 *
 *     author.c  the trial: its settings, devices, streams and course
 *     desk.c    one device's program: its live blocks, and requests about them
 *     turn.c    the rarer requests, one function each
 */
#ifndef CONFORM_AUTHOR_H
#define CONFORM_AUTHOR_H

#include "classes.h"
#include "conf.h"
#include "dice.h"
#include "sizes.h"
#include "trial.h"

#define STREAMS_MOST 60
#define DEVICES_MOST 3
#define POOLS_MOST   12
#define LIVE_MOST    400

struct route {
	uint64_t pool;
	bool is_capture;
};

struct desk_pool {
	unsigned holders; /* MemPool objects and routings not yet released */
	bool was_released;
};

struct block_live {
	uint64_t id, size;
};

/* One device's program. */
struct desk {
	uint32_t device;
	struct block_live live[LIVE_MOST];
	size_t live_count;
	uint64_t live_bytes;
	struct desk_pool pools[POOLS_MOST]; /* pool {0, i + 1} */
	struct route routes[POOLS_MOST];
	size_t route_count;
	uint64_t origin; /* stream, of the capture */
};

enum victim { VICTIM_ANY, VICTIM_NEWEST, VICTIM_OLDEST, VICTIMS };

struct author {
	struct trial *trial;
	struct dice dice;
	unsigned features;
	unsigned changeable; /* enum conf_bit that may change */
	struct conf conf;
	struct sizes sizes;
	uint64_t streams[STREAMS_MOST];
	size_t stream_count;
	unsigned record_permille; /* of allocations, a record_stream */
	unsigned free_permille;	  /* of the requests now */
	enum victim victim;
	uint64_t next_id;
	struct desk desks[DEVICES_MOST];
	size_t desk_count;
};

/* The caller calls trial_release() on trial. */
void author_write(struct trial *trial, uint64_t seed,
		  const struct trial_class *of);

/* desk.c */
void desk_add(struct author *author, struct desk *desk, struct op op);
void desk_alloc(struct author *author, struct desk *desk);
void desk_free(struct author *author, struct desk *desk);
void desk_burst(struct author *author, struct desk *desk);
void desk_end(struct author *author, struct desk *desk);

/* turn.c: whether another kind of request took this turn, rather than one for
 * or about a block. */
bool turn_take(struct author *author, struct desk *desk);
/* The settings that LIMIT needs. */
void turn_limit(struct author *author, struct desk *desk);
void turn_end_routes(struct author *author, struct desk *desk);

#endif
