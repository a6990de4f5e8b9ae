/* SPDX-License-Identifier: MIT */
/*
 * The records of a PyTorch snapshot, before their role is known: a dict is read
 * before the list that contains it, and the list before the key that says
 * whether it belongs to a device or to pinned host memory. So a reader buffers
 * records, contiguously for each list, and delivers those whose role turns out
 * to matter.
 *
 * An invalid value (negative, not an integer) is noted in its record, and is an
 * error only when the record is delivered; the message names its place.
 */
#ifndef FORMATS_SNAPSHOT_RECORD_H
#define FORMATS_SNAPSHOT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/build.h"

/*
 * The words of a PyTorch snapshot: the keys of its dicts, and the texts of
 * enumerations. A reader recognises a word once, when it first sees the text,
 * and only compares numbers from then on.
 */
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
	/* The actions of an entry. */
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
	/* The states of a block, types of a segment, and stages of an
	 * annotation. */
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

/* ---- records ---- */

#define GP_NO_LIST UINT32_MAX

struct gp_snapshot_entry {
	uint64_t addr; /* oom: device_free */
	uint64_t size, stream, time_us;
	uint32_t site;
	uint32_t pair;	/* the pool id, an index into pairs */
	uint16_t keys;	/* GP_WORD_BITs of its keys */
	uint16_t bad;	/* those with invalid values */
	uint8_t action; /* enum gp_word; GP_WORDS: unknown */
};

struct gp_snapshot_block {
	uint64_t keys, bad;
	uint64_t addr, size, requested;
	uint32_t site;
	uint8_t state; /* enum gp_word */
};

struct gp_snapshot_segment {
	uint64_t keys, bad;
	uint64_t device, addr, size, stream;
	uint32_t site, pair;
	uint32_t blocks; /* a list of the reader's, or GP_NO_LIST */
	uint8_t type;	 /* enum gp_word */
	bool is_expandable;
};

struct gp_snapshot_annotation {
	uint64_t keys, bad;
	uint64_t device, time_us;
	uint32_t text; /* of the reader's texts */
	uint8_t stage; /* enum gp_word */
};

struct gp_snapshot_settings {
	uint64_t keys;
	uint64_t max_split_size; /* bytes; 0: unlimited */
	double gc_threshold;
	const char *conf; /* NULL: none; owned by the reader */
	bool is_expandable, releases_lock, reuses_in_capture;
	const uint32_t *divisions; /* GP_DIVISIONS by interval, or NULL */
};

/* Two integers: a pool id. */
struct gp_snapshot_pair {
	struct gp_pool_id id;
	uint16_t pool; /* index in the build; GP_NO_POOL: not yet */
};
#define GP_NO_POOL UINT16_MAX

/* ---- which release wrote it ---- */

/*
 * Which PyTorch releases can have written a snapshot, according to the keys
 * that it has and lacks: a snapshot does not contain its release.
 */
enum gp_key_place {
	GP_IN_TOP,
	GP_IN_SETTINGS,
	GP_IN_SEGMENT,
	GP_IN_BLOCK,
	GP_IN_ENTRY,
	GP_IN_PLACES,
};

/* The keys found, as masks of GP_WORD_BIT; is_there: whether there is any dict
 * in that place. */
struct gp_snapshot_keys {
	uint64_t seen[GP_IN_PLACES];
	bool is_there[GP_IN_PLACES];
};

static inline void gp_snapshot_keys_add(struct gp_snapshot_keys *keys,
					enum gp_key_place place, uint64_t mask)
{
	keys->seen[place] |= mask;
	keys->is_there[place] = true;
}

void gp_snapshot_keys_bound(const struct gp_snapshot_keys *keys,
			    struct gp_build *build);

/* ---- delivery ---- */

/*
 * Delivers records to a build. The last stream and device are cached, so that a
 * run of equal ones costs one lookup.
 */
struct gp_snapshot_delivery {
	struct gp_build *build;
	struct gp_diag *diag;
	struct gp_snapshot_pair *pairs;
	struct gp_snapshot_keys keys;
	uint64_t last_stream;
	uint64_t last_ordinal;
	uint32_t last_device;
	uint16_t last_stream_index;
	bool has_stream, has_device;
	bool is_of_host; /* as in struct gp_input_config */
};

/* n entries of the device; first: the number of the first one. */
enum gp_status gp_snapshot_deliver_entries(
	struct gp_snapshot_delivery *delivery, uint64_t ordinal,
	const struct gp_snapshot_entry *entries, size_t n, size_t first);
/* number: of the segment in the file, for messages. */
enum gp_status gp_snapshot_deliver_segment(
	struct gp_snapshot_delivery *delivery,
	const struct gp_snapshot_segment *segment, size_t number);
/* n blocks of the segment delivered last; first: the number of the first
 * one. */
enum gp_status gp_snapshot_deliver_blocks(
	struct gp_snapshot_delivery *delivery,
	const struct gp_snapshot_block *blocks, size_t n, size_t segment,
	size_t first);
enum gp_status gp_snapshot_deliver_annotation(
	struct gp_snapshot_delivery *delivery,
	const struct gp_snapshot_annotation *annotation, const char *text,
	size_t number);
/* Delivers the conf string of the settings, or one composed of the values that
 * differ from their defaults. */
void gp_snapshot_deliver_settings(struct gp_snapshot_delivery *delivery,
				  const struct gp_snapshot_settings *settings);

#endif
