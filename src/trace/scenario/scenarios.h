/* SPDX-License-Identifier: MIT */
/* The scenarios, one file each, and the functions that they write requests
 * with. */
#ifndef TRACE_SCENARIO_SCENARIOS_H
#define TRACE_SCENARIO_SCENARIOS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "trace/build.h"
#include "trace/scenario/scenario.h"

extern const struct gp_scenario checkerboard_scenario;
extern const struct gp_scenario ragged_scenario;
extern const struct gp_scenario decoding_scenario;
extern const struct gp_scenario spikes_scenario;
extern const struct gp_scenario tenants_scenario;
extern const struct gp_scenario transformer_scenario;
extern const struct gp_scenario histogram_scenario;

/* ---- writing ---- */

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

struct trace_writer {
	struct gp_build *build;
	struct gp_rng rng;
	uint32_t device;
	uint32_t site; /* of the allocations from here on */
	uint16_t stream, pool;
	uint64_t blocks; /* so far; also the name of the next one */
	uint64_t live_bytes, peak_bytes;
	const struct gp_trace *from; /* the trace to imitate, or NULL */
};

/* A live allocation. size 0: none; freeing it has no effect. */
struct written_block {
	uint64_t name, size;
};

/* Sets the line of the imaginary program that later allocations come from. */
void writer_site(struct trace_writer *writer, const char *text);

struct written_block writer_alloc(struct trace_writer *writer, uint64_t size);
void writer_free(struct trace_writer *writer, struct written_block *held);
void writer_mark(struct trace_writer *writer, const char *name,
		 enum gp_mark_stage stage);

/* A request without operands, or one about the writer's pool. */
void writer_ask(struct trace_writer *writer, enum gp_event_kind kind);

/* The index of the n-th additional stream or private pool, from 1. */
uint16_t writer_stream(struct trace_writer *writer, uint64_t n);
uint16_t writer_pool(struct trace_writer *writer, uint64_t n);

/* Adds a row to a budget, unless it is 0 bytes. */
static inline void budget_add(struct gp_budget *budget, const char *name,
			      uint64_t bytes)
{
	if (bytes && budget->count < GP_BUDGET_ROWS)
		budget->rows[budget->count++] =
			(struct gp_budget_row){ name, bytes };
}

#endif
