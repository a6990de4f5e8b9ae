/* SPDX-License-Identifier: MIT */
/*
 * A thread pool: threads that process numbered pieces of work.
 *
 * Pieces are started in ascending order, each by the next idle thread. The
 * result of a piece belongs in a slot of its own, found by the number of the
 * piece, so that no result depends on timing. Pieces share only constant data.
 */
#ifndef STUDY_SWEEP_THREAD_POOL_H
#define STUDY_SWEEP_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct gp_thread_pool_config {
	size_t threads; /* 0 or 1: all work is done by the caller */
	size_t count;	/* pieces: 0 to count - 1 */
	/* Called on some thread; calls for different pieces may overlap. */
	void (*work)(void *arg, size_t piece);
	/* Called on the caller's thread for each completed piece, in order of
	 * completion; may be NULL. */
	void (*done)(void *arg, size_t piece);
	void *arg;
	/* Once true (set by a signal handler or by work), no further piece is
	 * started; started ones are completed. NULL: never. */
	const atomic_bool *stop;
};

/* Returns the number of completed pieces, which is less than count only if
 * stopped. If the system refuses threads, those that were created do the
 * work. */
size_t gp_thread_pool_run(const struct gp_thread_pool_config *config);

#endif
