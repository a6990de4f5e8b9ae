/* SPDX-License-Identifier: MIT */
/*
 * Writes what PyTorch's allocator does to the journal, as events. The caller
 * holds one lock over all calls.
 */
#ifndef SIMCUDA_PROGRAM_ENTRIES_H
#define SIMCUDA_PROGRAM_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

/* c10::CachingDeviceAllocator::TraceEntry::Action */
enum action {
	ALLOC,
	FREE_REQUESTED,
	FREE_COMPLETED,
	SEGMENT_ALLOC,
	SEGMENT_FREE,
	SEGMENT_MAP,
	SEGMENT_UNMAP,
	SNAPSHOT,
	OOM,
};

struct entry {
	uint32_t action;
	int device;
	uint64_t addr, size, stream, pool[2];
	bool is_routed;	  /* the pool follows from a capture or pool_begin */
	bool is_restored; /* no request: a pool is restored */
	uint32_t site;	  /* NO_SITE of interpreter.h: none */
	uint64_t asked;	  /* bytes requested, for the request being served; or 0
			   */
};

/* Writes formatted text as it is. */
__attribute__((format(printf, 1, 2))) void entries_put(const char *format, ...);

/* From now on each event has the simulated clock's time. */
void entries_with_times(void);

/* The device must be below SIMCUDA_MOST_DEVICES. */
void entries_write(const struct entry *entry);

/* Writes the beginning of an event; its fields and "}\n" are to follow. */
void entries_begin(const char *op, int device);
/* The live block at this address is used on that stream too. */
void entries_record_stream(uint64_t addr, uint64_t stream);
/* Whether anything was allocated on the device. */
bool entries_device_is_used(int device);
/* Writes a free that is held back. */
void entries_settle(int device);

#endif
