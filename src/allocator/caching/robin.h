/* SPDX-License-Identifier: MIT */
/*
 * A hash map with the iteration order of PyTorch's.
 *
 * PyTorch keeps its event queues by stream, a block's stream uses and its
 * freeable pools in ska::flat_hash_map (c10/util/flat_hash_map.h): open
 * addressing, robin-hood displacement, Fibonacci hashing (a multiplication by
 * 2^64 over the golden ratio), at most half full. Iterating over them decides
 * the order of free_completed and of private pools' segment_free, so the slots
 * have to be in the same order.
 */
#ifndef CACHING_ROBIN_H
#define CACHING_ROBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct robin_slot {
	int distance; /* from its home slot; -1: empty */
	uint64_t hash;
	uint32_t key;
	void *value;
};

/* Zeroed is empty. */
struct robin {
	struct robin_slot *slots;
	size_t size;  /* home slots: 0, 4, 8, 16, ... */
	size_t count; /* entries */
};

/* A pointer to the value; NULL: no such key. */
void **robin_find(struct robin *map, uint64_t hash, uint32_t key);
/* The index of its slot; SIZE_MAX: no such key. */
size_t robin_place(const struct robin *map, uint64_t hash, uint32_t key);
void robin_insert(struct robin *map, uint64_t hash, uint32_t key, void *value);
void robin_erase(struct robin *map, uint64_t hash, uint32_t key);
struct robin robin_copy(const struct robin *map);
void robin_release(struct robin *map);

/* To iterate: for (i = robin_begin(m); i < robin_end(m); i = robin_after(m,
 * i)). */
size_t robin_begin(const struct robin *map);
size_t robin_after(const struct robin *map, size_t i);
size_t robin_end(const struct robin *map);

#endif
