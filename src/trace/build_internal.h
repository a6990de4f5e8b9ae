/* SPDX-License-Identifier: MIT */
/*
 * The contents of a build, for the files that build a trace: build.c fills it,
 * finish.c and history.c turn it into a trace.
 */
#ifndef TRACE_BUILD_INTERNAL_H
#define TRACE_BUILD_INTERNAL_H

#include "base/intern.h"
#include "base/map.h"
#include "trace/build.h"

/* Segments and blocks in the file's order; after settling, checked and in order
 * of address. */
struct gp_build_state {
	struct gp_segment *segments;
	struct gp_block *blocks;
	uint64_t *names; /* REQUESTS: the name of block i, if it has an id */
	size_t segment_count, segment_room;
	size_t block_count, block_room, name_room;
};

/* Claims about the owners of blocks: each applies to the block that had the
 * name most recently, `behind` events into the trace. */
struct gp_build_claims {
	struct gp_build_claim {
		uint64_t name;
		size_t behind;
		uint32_t owner;
	} * list;
	size_t count, room, next;
};

#define GP_WHY_ROOM sizeof(((struct gp_release_range *)0)->why)

/* An annotation of a device; sorted by time, equal ones in the file's order. */
struct gp_build_mark {
	uint64_t time_us;
	uint32_t ordinal; /* of the device */
	uint32_t order;	  /* in the file */
	uint32_t text;
	uint16_t stage; /* enum gp_mark_stage */
};

/*
 * A device under construction. gp_history_finish_device is given the events in
 * the file's order, with final streams, pools, sites and texts, and a checked
 * end state. It replaces or changes the events (allocated with malloc), and
 * sets dense ids, the start state, the ids of the end state's blocks, block_ids
 * and guesses.
 */
struct gp_build_device {
	uint32_t ordinal;
	uint64_t total_memory;
	struct gp_event *events;
	size_t event_count, event_room;
	/* REQUESTS: by event, the name of its block. When finished: by block
	 * id, its name; NULL: the id itself. */
	uint64_t *names;
	size_t name_room;
	struct gp_build_state start, end;
	const struct gp_build_mark *marks; /* HISTORY: borrows build->marks */
	size_t mark_count;
	uint32_t block_ids;
	struct gp_guesses guesses;
	struct gp_counter *counters;
	size_t counter_count, counter_room;
	struct gp_build_claims start_claims, claims; /* REQUESTS */
	uint32_t *owners; /* by id; NULL: nothing is claimed */
	bool at_end;	  /* REQUESTS: segments added now are the end state's */
};

struct gp_build {
	enum gp_build_kind kind;
	struct gp_intern texts;
	char *scratch;
	size_t scratch_room;

	struct gp_site *sites;
	size_t site_count, site_room;
	struct gp_map site_of; /* caller << 32 | text */

	struct gp_owner *owners;
	size_t owner_count, owner_room;

	uint64_t *streams;
	size_t stream_count, stream_room;
	struct gp_map stream_of;
	uint16_t last_stream;

	struct gp_pool_id *pools; /* [0] is {0, 0} */
	size_t pool_count, pool_room;
	struct gp_intern pool_of; /* the bytes of a struct gp_pool_id */
	uint16_t last_pool;

	struct gp_build_device *devices;
	size_t device_count, device_room;
	struct gp_build_mark *marks;
	size_t mark_count, mark_room;

	char *source, *settings; /* settings NULL: unknown */
	char *values;		 /* NULL: unknown */
	char *not_told;		 /* NULL: nothing */
	uint8_t release_first, release_last;
	/* Two texts, one for each end of the range; a trace that gpupool wrote
	 * may have all of it in one. */
	char why_first[GP_WHY_ROOM], why_last[GP_WHY_ROOM];
	bool is_complete;
};

/* "event 812", with the device if there are several. */
void gp_build_name_event(const struct gp_build *build,
			 const struct gp_build_device *device, size_t event,
			 struct gp_diag *diag);

/* Moves the arrays of a finished build into a trace. */
struct gp_trace *gp_build_assemble(struct gp_build *build);

/* For GP_BUILD_HISTORY: replaces addresses by dense ids, and infers the start
 * state and the requests. */
enum gp_status gp_history_finish_device(struct gp_build *build,
					struct gp_build_device *device,
					struct gp_diag *diag);

#endif
