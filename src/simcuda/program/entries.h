/* SPDX-License-Identifier: MIT */
/*
 * What PyTorch's allocator does, written to the journal as events; the caller
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
	bool is_routed;	  /* the pool follows from what began before */
	bool is_restored; /* nobody asked: its pool is set back */
	uint32_t site;	  /* NO_SITE of interpreter.h: none */
	uint64_t asked;	  /* by the request that is being served, or 0 */
};

/* Text as it is. */
__attribute__((format(printf, 1, 2))) void entries_put(const char *format, ...);

/* From here on each event has the time of the simulated clock. */
void entries_with_times(void);

/* Of a device below SIMCUDA_MOST_DEVICES. */
void entries_write(const struct entry *entry);

/* The opening of an event, to be followed by its fields and "}\n". */
void entries_begin(const char *op, int device);
/* The live block at this address is used on that stream too. */
void entries_record_stream(uint64_t addr, uint64_t stream);
/* Something was allocated there. */
bool entries_device_is_used(int device);
/* Writes what was held back. */
void entries_settle(int device);

#endif
