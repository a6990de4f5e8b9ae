/* SPDX-License-Identifier: MIT */
/* Writes a scenario's requests down, as a trace's events. */
#ifndef TRACE_SCENARIO_WRITER_H
#define TRACE_SCENARIO_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "trace/build.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

struct trace_writer {
	struct gp_build *build;
	struct gp_rng rng;
	uint32_t device;
	uint32_t site; /* of what is allocated from here on */
	uint16_t stream, pool;
	uint64_t blocks; /* so far; the next one's name */
	uint64_t live_bytes, peak_bytes;
	const struct gp_trace *from; /* that it is made after; or NULL */
};

/* A live allocation; size 0: none, and freeing it does nothing. */
struct held {
	uint64_t name, size;
};

/* From here on allocations come from this line of the made-up program. */
void writer_site(struct trace_writer *writer, const char *text);

struct held writer_alloc(struct trace_writer *writer, uint64_t size);
void writer_free(struct trace_writer *writer, struct held *held);
void writer_record_stream(struct trace_writer *writer, const struct held *held,
			  uint16_t stream);
void writer_synchronize(struct trace_writer *writer); /* all streams */
void writer_mark(struct trace_writer *writer, const char *name,
		 enum gp_mark_stage stage);

/* A request without operands, or about the writer's pool. */
void writer_ask(struct trace_writer *writer, enum gp_event_kind kind);

/* The index of the n-th further stream, or private pool, from 1. */
uint16_t writer_stream(struct trace_writer *writer, uint64_t n);
uint16_t writer_pool(struct trace_writer *writer, uint64_t n);

#endif
