/* SPDX-License-Identifier: MIT */
/*
 * A thread pool: threads that do numbered pieces of work.
 *
 * Pieces are begun in ascending order, by whoever is free.  What a piece makes
 * belongs in a slot of its own, found by the piece's number, so that no result
 * depends on timing.  The pieces share only what nobody writes.
 */
#ifndef STUDY_SWEEP_THREAD_POOL_H
#define STUDY_SWEEP_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct gp_thread_pool_config {
	size_t threads; /* 0 or 1: the caller does it all */
	size_t count;	/* pieces: 0 to count - 1 */
	/* On some thread; calls for different pieces may overlap. */
	void (*work)(void *arg, size_t piece);
	/* On the caller's thread, once for each piece that is done, in the
	 * order in which they are; NULL: nobody asks. */
	void (*done)(void *arg, size_t piece);
	void *arg;
	/* Once true (a signal handler may set it, or work), no further piece is
	 * begun; those begun are finished.  NULL: never. */
	const atomic_bool *stop;
};

/* How many pieces were done; less than count only when stopped.  When the
 * system gives fewer threads than asked for, those it gives do the work. */
size_t gp_thread_pool_run(const struct gp_thread_pool_config *config);

#endif
