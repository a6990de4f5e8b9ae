/*
 * Altered traces: the same program, had it asked otherwise.
 *
 * An altered trace is for what-ifs: replays on a simulated device.  Its events
 * stand where they stood, so that an event's number means the same in both; one
 * that is left out becomes a GP_SNAPSHOT, which asks for nothing.  Only events
 * that are added move those behind them.
 */
#ifndef GPUPOOL_ALTER_H
#define GPUPOOL_ALTER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* An event that is put before the one of that number (the number of events:
 * behind the last). */
struct gp_addition {
	uint32_t device;
	uint64_t before;
	struct gp_event event;
};

struct gp_alter {
	/* Each event, in a copy that may be changed; false: it is left out.
	 * NULL: all stay. */
	bool (*event)(void *arg, uint32_t device, uint64_t index,
		      struct gp_event *event);
	/* Each block that is live at the start; false: it is free by then. */
	bool (*block)(void *arg, uint32_t device, const struct gp_block *block);
	/* Each segment at the start, in a copy; stream and pool may be
	 * changed. */
	void (*segment)(void *arg, uint32_t device, struct gp_segment *segment);
	void *arg;
	const struct gp_addition *additions; /* by device, then before */
	size_t addition_count;
};

/* Borrows texts, sites and tables of trace, which must outlive it. */
struct gp_trace *gp_trace_alter(const struct gp_trace *trace,
				const struct gp_alter *alter);

/* ---- ready-made ones ---- */

enum gp_what_if {
	GP_ONE_STREAM,	     /* all work on the default stream */
	GP_NO_PRIVATE_POOLS, /* MemPools and graphs share the default pool */
	GP_NO_WAITING,	     /* no record_stream: frees are never delayed */
	GP_NO_EMPTY_CACHE,
	GP_WHAT_IFS,
};

struct gp_what_if_row {
	const char *name;     /* "one-stream" */
	const char *sentence; /* "all work on one stream" */
};
extern const struct gp_what_if_row gp_what_ifs[GP_WHAT_IFS];

/* Whether it would change anything. */
bool gp_what_if_applies(const struct gp_trace *trace, enum gp_what_if what);
struct gp_trace *gp_trace_what_if(const struct gp_trace *trace,
				  enum gp_what_if what);

/* Without the blocks that are marked, by id, of one device. */
struct gp_trace *gp_trace_without(const struct gp_trace *trace, uint32_t device,
				  const bool *marked);

/* The same trace without its names: source lines and marks are numbered. */
struct gp_trace *gp_trace_anonymous(const struct gp_trace *trace);

#endif
