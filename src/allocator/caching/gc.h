/* SPDX-License-Identifier: MIT */
/*
 * Garbage collection of old free segments, before a new one is asked for.
 * PyTorch: garbage_collect_cached_blocks.
 */
#ifndef CACHING_GC_H
#define CACHING_GC_H

struct caching;

/* Does nothing while reserved is at or below threshold x limit. */
void gc_collect(struct caching *c);

#endif
