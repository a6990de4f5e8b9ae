/* SPDX-License-Identifier: MIT */
/* What PyTorch's allocator reports to its trace trackers. */
#ifndef SIMCUDA_PROGRAM_TRACKER_H
#define SIMCUDA_PROGRAM_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simcuda/program/entries.h"
#include "simcuda/program/layout.h"

/* std::function of libstdc++: a small object stored inside, or a pointer to
 * one. */
struct callable {
	uint64_t functor[2];
	bool (*manage)(void *to, const void *from, int operation);
	void (*invoke)(void);
};

/* Calls attachAllocatorTraceTracker, which is `attach`. */
void tracker_attach(const struct layout *layout, void *allocator,
		    void (*attach)(void));

/* This thread requests this many bytes from now on: for a refused request, the
 * allocator reports only the rounded size. */
void tracker_ask(size_t bytes);
/* Whether the allocator has reported since then what it gave this thread. */
bool tracker_is_told(void);

/* What this thread allocates from now on belongs to this pool, which is being
 * restored; NULL ends that. */
void tracker_restore(const uint64_t *pool);

/* ---- intercepted calls: PyTorch 2.1 ---- */

/*
 * PyTorch 2.1's allocator has no trackers. Its requests are known from the
 * calls on it. When frees complete is known from the events that it records in
 * the free and queries later. Segments are what it takes with cudaMalloc while
 * it serves a request; mapped ones are not reported.
 */

/* Redirects the function that deletes DataPtrs to `mine`. The others may only
 * be called after this. */
void intercepted_start(void (*deleter)(void *), void (*mine)(void *));

/* A request, before it is served; intercepted_alloc if it succeeded. A request
 * that was left by an exception was refused. */
void intercepted_ask(int device, uint64_t bytes, uint64_t stream);
void intercepted_alloc(uint64_t addr);
/* Reports a refused request of this thread. */
void intercepted_settle(void);

/* A free, before and after. */
void intercepted_free(uint64_t addr);
void intercepted_freed(void);

#endif
