/* SPDX-License-Identifier: MIT */
/*
 * Which requests go to which private pool, as the allocator was told by
 * captures and use_mem_pool.
 */
#ifndef SIMCUDA_PROGRAM_POOLS_H
#define SIMCUDA_PROGRAM_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "simcuda/program/entries.h"
#include "simcuda/program/tracker.h"

/* beginAllocateToPool: for requests on streams that the filter accepts. true:
 * it accepts this stream already, so it is not a capture that is about to
 * begin. */
bool pools_begin(int device, const uint64_t pool[2],
		 const struct callable *filter, uint64_t stream);
/* Before 2.3: for requests on this stream. */
void pools_begin_stream(int device, const uint64_t pool[2], uint64_t stream);

/* endAllocateToPool; true: it began as a capture. */
bool pools_end(int device, const uint64_t pool[2]);
/* Before 2.3: the pool of that stream; false: there is none. */
bool pools_end_stream(int device, uint64_t stream, uint64_t pool[2]);

/*
 * use_mem_pool applies to one thread, but traces have no threads. So the pool
 * ends before a request that it does not take, and begins again before the next
 * that it takes. This is decided from the requesting thread, and again from
 * what the allocator reports.
 */
bool pools_are_any(void);
void pools_turn_for_request(int device, uint64_t stream);
void pools_turn_for_entry(const struct entry *entry);

/* The pool of an entry, in releases whose entries do not have it. */
void pools_guess(struct entry *entry);

/* Whether a capture or use_mem_pool directs requests to the entry's pool. */
bool pools_are_underway(const struct entry *entry);

#endif
