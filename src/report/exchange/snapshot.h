/* SPDX-License-Identifier: MIT */
/* What the parts of a pickled snapshot share: its words and its stacks. */
#ifndef REPORT_EXCHANGE_SNAPSHOT_H
#define REPORT_EXCHANGE_SNAPSHOT_H

#include "report/exchange/pickler.h"
#include "report/exchange/exchange.h"

/* Texts that come again and again: written once, then by number. */
enum word {
	WORD_ACTION,
	WORD_ADDR,
	WORD_DEVICE_FREE,
	WORD_SIZE,
	WORD_STREAM,
	WORD_TIME_US,
	WORD_COMPILE_CONTEXT,
	WORD_NOT_AVAILABLE,
	WORD_USER_METADATA,
	WORD_EMPTY,
	WORD_POOL_ID,
	WORD_FRAMES,
	WORD_NAME,
	WORD_FILENAME,
	WORD_LINE,
	WORD_ALLOC,
	WORD_FREE_REQUESTED,
	WORD_FREE_COMPLETED,
	WORD_SEGMENT_ALLOC,
	WORD_SEGMENT_FREE,
	WORD_SEGMENT_MAP,
	WORD_SEGMENT_UNMAP,
	WORD_OOM,
	WORD_SEGMENTS,
	WORD_DEVICE_TRACES,
	WORD_ALLOCATOR_SETTINGS,
	WORD_EXTERNAL_ANNOTATIONS,
	WORD_DEVICE,
	WORD_ADDRESS,
	WORD_TOTAL_SIZE,
	WORD_ALLOCATED_SIZE,
	WORD_ACTIVE_SIZE,
	WORD_REQUESTED_SIZE,
	WORD_SEGMENT_TYPE,
	WORD_SMALL,
	WORD_LARGE,
	WORD_SEGMENT_POOL_ID,
	WORD_IS_EXPANDABLE,
	WORD_BLOCKS,
	WORD_STATE,
	WORD_ACTIVE_ALLOCATED,
	WORD_ACTIVE_PENDING_FREE,
	WORD_INACTIVE,
	WORD_HISTORY,
	WORD_REAL_SIZE,
	WORD_STAGE,
	WORD_START,
	WORD_END,
	WORDS,
};

struct snapshot {
	const struct gp_trace *trace;
	const struct gp_settings *settings;
	const char *conf;
	uint8_t release; /* whose keys are written */
	struct pickler pickler;
	uint32_t words[WORDS]; /* kept, or 0 */
	uint32_t *stacks;      /* by site: its list of frames */
	uint32_t *frames;      /* by text: its dict */
};

void snapshot_begin(struct snapshot *snapshot,
		    const struct gp_exchange_config *config);
void snapshot_release(struct snapshot *snapshot);

void snapshot_word(struct snapshot *snapshot, enum word word);
void snapshot_text(struct snapshot *snapshot, const char *text);
/* A key and its value. */
void snapshot_uint(struct snapshot *snapshot, enum word key, uint64_t value);
void snapshot_stream(struct snapshot *snapshot, uint16_t stream);
void snapshot_pool(struct snapshot *snapshot, enum word key, uint16_t pool);
/* The value only: a list of frames, innermost first. */
void snapshot_stack(struct snapshot *snapshot, uint32_t site);

/* The end of a device, as segments of the open list.  sites: by id of a block,
 * segment_sites by segment. */
void snapshot_segments(struct snapshot *snapshot, struct pickler_list *list,
		       uint32_t device, const struct gp_state *state,
		       const uint32_t *sites, const uint32_t *segment_sites);
/* The value of allocator_settings. */
void snapshot_settings(struct snapshot *snapshot);
/* The value of external_annotations: the trace's marks. */
void snapshot_annotations(struct snapshot *snapshot);

#endif
