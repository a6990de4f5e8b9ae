/* SPDX-License-Identifier: MIT */
#include "simcuda/program/pools.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "simcuda/simcuda.h"
#include "simcuda/program/recorder.h"

/* std::_Manager_operation of libstdc++ */
enum { CLONE = 2, DESTROY = 3 };

struct underway {
	int device;
	uint64_t pool[2];
	bool is_capture, has_filter;
	bool is_paused; /* a request that it does not take is under way */
	struct callable filter;
	uint64_t stream; /* without a filter */
};

static struct {
	pthread_mutex_t lock;
	struct underway *items; /* in the order in which they began */
	size_t count, room;
	/* Segments of private pools: address -> index of the pool. */
	struct gp_map segments[SIMCUDA_MOST_DEVICES];
	uint64_t (*pools)[2];
	size_t pool_count, pool_room;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_chosen(const struct underway *u, uint64_t stream)
{
	if (!u->has_filter)
		return u->stream == stream;
	return ((bool (*)(const void *, const uint64_t *))u->filter.invoke)(
		u->filter.functor, &stream);
}

static void add(const struct underway *u)
{
	pthread_mutex_lock(&all.lock);
	GP_GROW(all.items, all.count + 1, all.room);
	all.items[all.count++] = *u;
	pthread_mutex_unlock(&all.lock);
}

bool pools_begin(int device, const uint64_t pool[2],
		 const struct callable *filter, uint64_t stream)
{
	struct underway u = { .device = device,
			      .pool = { pool[0], pool[1] },
			      .has_filter = true };
	bool is_at_once;

	filter->manage(&u.filter, filter, CLONE);
	u.filter.manage = filter->manage;
	u.filter.invoke = filter->invoke;
	is_at_once = is_chosen(&u, stream);
	u.is_capture = !is_at_once;
	add(&u);
	return is_at_once;
}

void pools_begin_stream(int device, const uint64_t pool[2], uint64_t stream)
{
	struct underway u = { .device = device,
			      .pool = { pool[0], pool[1] },
			      .is_capture = true,
			      .stream = stream };

	add(&u);
}

static void drop(size_t index)
{
	struct underway *u = &all.items[index];

	if (u->has_filter)
		u->filter.manage(&u->filter, &u->filter, DESTROY);
	GP_REMOVE(all.items, all.count, index);
}

/* ---- pools that take the requests of some threads ---- */

static void write_event(const char *op, const struct underway *u)
{
	if (!recorder_begin(op, u->device))
		return;
	recorder_put_pool(u->pool);
	recorder_end();
}

/* When a pool begins again it gets one more holder, so it is released once. */
static void turn(struct underway *u, bool takes)
{
	if (u->is_capture || u->is_paused != takes)
		return;
	u->is_paused = !takes;
	if (!takes) {
		write_event("pool_end", u);
		return;
	}
	write_event("pool_begin", u);
	write_event("pool_release", u);
}

bool pools_end(int device, const uint64_t pool[2])
{
	bool is_capture = false;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.count; i++) {
		const struct underway *u = &all.items[i];

		if (u->device != device || u->pool[0] != pool[0] ||
		    u->pool[1] != pool[1])
			continue;
		is_capture = u->is_capture;
		turn(&all.items[i], true);
		drop(i);
		break;
	}
	pthread_mutex_unlock(&all.lock);
	return is_capture;
}

bool pools_end_stream(int device, uint64_t stream, uint64_t pool[2])
{
	bool is_there = false;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.count && !is_there; i++) {
		const struct underway *u = &all.items[i];

		if (u->device != device || u->stream != stream)
			continue;
		is_there = true;
		memcpy(pool, u->pool, sizeof(u->pool));
		drop(i);
	}
	pthread_mutex_unlock(&all.lock);
	return is_there;
}

bool pools_are_any(void)
{
	return all.count;
}

void pools_turn_for_request(int device, uint64_t stream)
{
	if (!all.count)
		return;
	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].device == device)
			turn(&all.items[i], is_chosen(&all.items[i], stream));
	pthread_mutex_unlock(&all.lock);
}

void pools_turn_for_entry(const struct entry *e)
{
	if (!all.count || (e->action != ALLOC && e->action != OOM))
		return;
	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.count; i++) {
		struct underway *u = &all.items[i];

		if (u->device == e->device)
			turn(u, !memcmp(u->pool, e->pool, sizeof(e->pool)));
	}
	pthread_mutex_unlock(&all.lock);
}

/* Like the allocator's malloc: the first whose filter takes the stream. The
 * filters call the runtime and take no lock of the allocator. */
static void choose(struct entry *e)
{
	for (size_t i = 0; i < all.count; i++) {
		const struct underway *u = &all.items[i];

		if (u->device != e->device || !is_chosen(u, e->stream))
			continue;
		memcpy(e->pool, u->pool, sizeof(e->pool));
		return;
	}
}

static void keep_segment(const struct entry *e)
{
	if (!e->pool[0] && !e->pool[1])
		return;
	gp_map_put(&all.segments[e->device], e->addr, (uint32_t)all.pool_count);
	GP_GROW(all.pools, all.pool_count + 1, all.pool_room);
	memcpy(all.pools[all.pool_count++], e->pool, sizeof(e->pool));
}

static void take_segment(struct entry *e)
{
	uint32_t index = gp_map_take(&all.segments[e->device], e->addr);

	if (index != GP_MAP_NONE)
		memcpy(e->pool, all.pools[index], sizeof(e->pool));
}

void pools_guess(struct entry *e)
{
	pthread_mutex_lock(&all.lock);
	switch ((enum action)e->action) {
	case ALLOC:
	case OOM: choose(e); break;
	case SEGMENT_ALLOC:
	case SEGMENT_MAP:
		choose(e);
		keep_segment(e);
		break;
	case SEGMENT_FREE:
	case SEGMENT_UNMAP: take_segment(e); break;
	case FREE_REQUESTED:
	case FREE_COMPLETED:
	case SNAPSHOT: break;
	}
	pthread_mutex_unlock(&all.lock);
}

bool pools_are_underway(const struct entry *e)
{
	bool is_there = false;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.count && !is_there; i++)
		is_there = all.items[i].device == e->device &&
			   !memcmp(all.items[i].pool, e->pool, sizeof(e->pool));
	pthread_mutex_unlock(&all.lock);
	return is_there;
}
