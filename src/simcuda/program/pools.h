/* SPDX-License-Identifier: MIT */
/*
 * Which requests go to which private pool: what captures and use_mem_pool have
 * told the allocator, as it keeps it.
 */
#ifndef SIMCUDA_PROGRAM_POOLS_H
#define SIMCUDA_PROGRAM_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "simcuda/program/entries.h"
#include "simcuda/program/tracker.h"

/* beginAllocateToPool: requests on streams of which the filter says so.  True:
 * it does of this one already, so it is no capture that is about to begin. */
bool pools_begin(int device, const uint64_t pool[2],
		 const struct callable *filter, uint64_t stream);
/* Before 2.3: requests on this stream. */
void pools_begin_stream(int device, const uint64_t pool[2], uint64_t stream);

/* endAllocateToPool; true: it was begun as a capture. */
bool pools_end(int device, const uint64_t pool[2]);
/* Before 2.3: the pool of that stream; false: there is none. */
bool pools_end_stream(int device, uint64_t stream, uint64_t pool[2]);

/*
 * use_mem_pool is of one thread; a trace knows no threads.  Before a request
 * that the pool does not take it is told to end, and to begin before the next
 * that it takes.  By the thread that asks, and by what the allocator then said.
 */
bool pools_are_any(void);
void pools_turn_for_request(int device, uint64_t stream);
void pools_turn_for_entry(const struct entry *entry);

/* The pool of an entry of a release whose entries do not say it. */
void pools_guess(struct entry *entry);

/* Whether something sends requests to the entry's pool. */
bool pools_are_underway(const struct entry *entry);

#endif
