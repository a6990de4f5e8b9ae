/* SPDX-License-Identifier: MIT */
/* A pen: writes a scenario's requests down. */
#ifndef TRACE_SCENARIO_PEN_H
#define TRACE_SCENARIO_PEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "trace/build.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

struct pen {
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
void pen_site(struct pen *pen, const char *text);

struct held pen_alloc(struct pen *pen, uint64_t size);
void pen_free(struct pen *pen, struct held *held);
void pen_record_stream(struct pen *pen, const struct held *held,
		       uint16_t stream);
void pen_synchronize(struct pen *pen); /* all streams */
void pen_mark(struct pen *pen, const char *name, enum gp_mark_stage stage);

/* A request without operands, or about the pen's pool. */
void pen_ask(struct pen *pen, enum gp_event_kind kind);

/* The index of the n-th further stream, or private pool, from 1. */
uint16_t pen_stream(struct pen *pen, uint64_t n);
uint16_t pen_pool(struct pen *pen, uint64_t n);

#endif
