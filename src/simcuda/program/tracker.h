/* SPDX-License-Identifier: MIT */
/* What PyTorch's allocator tells its trace trackers. */
#ifndef SIMCUDA_PROGRAM_TRACKER_H
#define SIMCUDA_PROGRAM_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simcuda/program/entries.h"
#include "simcuda/program/layout.h"

/* std::function in libstdc++: a small object inside or a pointer to one. */
struct callable {
	uint64_t functor[2];
	bool (*manage)(void *to, const void *from, int operation);
	void (*invoke)(void);
};

/* Calls attachAllocatorTraceTracker, which is this function. */
void tracker_attach(const struct layout *layout, void *allocator,
		    void (*attach)(void));

/* This thread asks for so many bytes from here on: what is refused is told with
 * its rounded size only. */
void tracker_ask(size_t bytes);

/* What this thread allocates from here on, until NULL, is of this pool, which
 * is set back to what it was. */
void tracker_restore(const uint64_t *pool);

/* ---- calls that are intercepted: PyTorch 2.1 ---- */

/*
 * PyTorch 2.1's allocator tells nobody what it does: its requests are known
 * from the calls on it, and when frees completed from the events that it
 * records while it frees, and asks about later.  Segments are what is taken
 * with cudaMalloc while a request is served; mapped ones are not told.
 */

/* Leads the function that DataPtrs are deleted with to this one.  Nothing here
 * is to be called unless this was. */
void intercepted_start(void (*deleter)(void *), void (*mine)(void *));

/* A request, before it is served; intercepted_alloc when it was.  One that was
 * not left by an exception: it was refused. */
void intercepted_ask(int device, uint64_t bytes, uint64_t stream);
void intercepted_alloc(uint64_t addr);
/* Tells of a request of this thread that was refused. */
void intercepted_settle(void);

/* A free, before and after. */
void intercepted_free(uint64_t addr);
void intercepted_freed(void);

#endif
