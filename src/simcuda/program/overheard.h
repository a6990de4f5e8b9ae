/* SPDX-License-Identifier: MIT */
/*
 * PyTorch 2.1's allocator tells nobody what it does: its requests are known
 * from the calls on it, and when frees completed from the events that it
 * records while it frees, and asks about later.  Segments are what is taken
 * with cudaMalloc while a request is served; mapped ones are not told.
 */
#ifndef SIMCUDA_PROGRAM_OVERHEARD_H
#define SIMCUDA_PROGRAM_OVERHEARD_H

#include <stdint.h>

/* Leads the function that DataPtrs are deleted with to this one.  Nothing here
 * is to be called unless this was. */
void overheard_start(void (*deleter)(void *), void (*mine)(void *));

/* A request, before it is served; overheard_alloc when it was.  One that was
 * not left by an exception: it was refused. */
void overheard_ask(int device, uint64_t bytes, uint64_t stream);
void overheard_alloc(uint64_t addr);
/* Tells of a request of this thread that was refused. */
void overheard_settle(void);

/* A free, before and after. */
void overheard_free(uint64_t addr);
void overheard_freed(void);

#endif
