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

/* An entry without its pool, of a release that has no trackers. */
void tracker_tell(const struct entry *entry);

/* This thread asks for so many bytes from here on: what is refused is told with
 * its rounded size only. */
void tracker_ask(size_t bytes);

/* What this thread allocates from here on, until NULL, is of this pool, which
 * is set back to what it was. */
void tracker_restore(const uint64_t *pool);

#endif
