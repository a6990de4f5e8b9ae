/* SPDX-License-Identifier: MIT */
/*
 * The words a PyTorch snapshot is written in: the keys of its dicts and the
 * texts that stand for one of a few things.  A reader recognises a word once,
 * when it first sees the text, and compares numbers from then on.
 */
#ifndef INPUT_SNAPSHOT_WORD_H
#define INPUT_SNAPSHOT_WORD_H

#include <stdint.h>

enum gp_word {
	/* Keys of a trace entry; the first 16, so that a mask is 16 bits. */
	GP_WORD_ACTION,
	GP_WORD_ADDR,
	GP_WORD_SIZE, /* of a block too */
	GP_WORD_STREAM,
	GP_WORD_TIME_US,
	GP_WORD_COMPILE_CONTEXT,
	GP_WORD_USER_METADATA,
	GP_WORD_POOL_ID,
	GP_WORD_FRAMES,
	GP_WORD_DEVICE_FREE,
	GP_WORD_ENTRY_KEYS,
	/* Other keys; all are below 64, so that a mask is 64 bits. */
	GP_WORD_FILENAME = GP_WORD_ENTRY_KEYS,
	GP_WORD_LINE,
	GP_WORD_NAME,
	GP_WORD_STATE,
	GP_WORD_ADDRESS,
	GP_WORD_REQUESTED_SIZE,
	GP_WORD_HISTORY,
	GP_WORD_REAL_SIZE,
	GP_WORD_DEVICE,
	GP_WORD_TOTAL_SIZE,
	GP_WORD_SEGMENT_TYPE,
	GP_WORD_SEGMENT_POOL_ID,
	GP_WORD_IS_EXPANDABLE,
	GP_WORD_BLOCKS,
	GP_WORD_STAGE,
	GP_WORD_SEGMENTS,
	GP_WORD_DEVICE_TRACES,
	GP_WORD_ALLOCATOR_SETTINGS,
	GP_WORD_EXTERNAL_ANNOTATIONS,
	GP_WORD_HOST_SEGMENTS,
	GP_WORD_HOST_TRACES,
	GP_WORD_CONF,
	GP_WORD_MAX_SPLIT_SIZE,
	GP_WORD_GC_THRESHOLD,
	GP_WORD_EXPANDABLE_SEGMENTS,
	GP_WORD_RELEASE_LOCK,
	GP_WORD_CAPTURE_REUSE,
	GP_WORD_ROUNDUP,
	GP_WORD_MAX_ROUND_THRESHOLD,
	GP_WORD_KEYS,
	/* What an entry's action can be. */
	GP_WORD_ALLOC = GP_WORD_KEYS,
	GP_WORD_FREE_REQUESTED,
	GP_WORD_FREE_COMPLETED,
	GP_WORD_SEGMENT_ALLOC,
	GP_WORD_SEGMENT_FREE,
	GP_WORD_SEGMENT_MAP,
	GP_WORD_SEGMENT_UNMAP,
	GP_WORD_SNAPSHOT,
	GP_WORD_OOM,
	GP_WORD_USER_DEFINED,
	GP_WORD_ANNOTATE,
	/* A block's state, a segment's type, an annotation's stage. */
	GP_WORD_ACTIVE_ALLOCATED,
	GP_WORD_ACTIVE_PENDING_FREE,
	GP_WORD_ACTIVE_AWAITING_FREE,
	GP_WORD_INACTIVE,
	GP_WORD_SMALL,
	GP_WORD_LARGE,
	GP_WORD_START,
	GP_WORD_END,
	/* Keys of roundup_power2_divisions: "1", "2", "4", ... "32768". */
	GP_WORD_DIVISION,
	GP_WORD_DIVISION_LAST = GP_WORD_DIVISION + 15,
	GP_WORDS,
};
_Static_assert(GP_WORD_ENTRY_KEYS <= 16 && GP_WORD_KEYS <= 64, "masks");

#define GP_DIVISIONS 16

#define GP_WORD_BIT(word) (UINT64_C(1) << (word))

extern const char *const gp_word_texts[GP_WORDS];

#endif
