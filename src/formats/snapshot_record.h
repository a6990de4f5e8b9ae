/* SPDX-License-Identifier: MIT */
/*
 * What a PyTorch snapshot holds, before it is known where it belongs: a dict
 * is read before the list that holds it, and the list before the key that says
 * whether it describes a device or pinned host memory.  So a reader buffers
 * records, contiguous per list, and delivers those whose role turns out to
 * matter.
 *
 * A bad value (negative, not an integer) is noted in its record and is an error
 * only when the record is delivered, named by its place.
 */
#ifndef FORMATS_SNAPSHOT_RECORD_H
#define FORMATS_SNAPSHOT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/build.h"
#include "formats/snapshot_release.h"
#include "formats/snapshot_word.h"

#define GP_NO_LIST UINT32_MAX

struct gp_snapshot_entry {
	uint64_t addr; /* oom: device_free */
	uint64_t size, stream, time_us;
	uint32_t site;
	uint32_t pair;	/* the pool id, an index into pairs */
	uint16_t keys;	/* GP_WORD_BITs there */
	uint16_t bad;	/* those whose value is none of its kind */
	uint8_t action; /* enum gp_word, GP_WORDS: none of them */
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

/* Two integers; a pool id. */
struct gp_snapshot_pair {
	struct gp_pool_id id;
	uint16_t pool; /* of the build; GP_NO_POOL: not asked for yet */
};
#define GP_NO_POOL UINT16_MAX

/*
 * Delivers records to a build.  The tables of indices are the last ones seen,
 * so that a run of equal streams costs one call.
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
	bool is_of_host; /* struct gp_input_config's */
};

/* n entries of the device, the first of which is its number first. */
enum gp_status gp_snapshot_deliver_entries(
	struct gp_snapshot_delivery *delivery, uint64_t ordinal,
	const struct gp_snapshot_entry *entries, size_t n, size_t first);
/* number: of the segment in the file, for messages. */
enum gp_status gp_snapshot_deliver_segment(
	struct gp_snapshot_delivery *delivery,
	const struct gp_snapshot_segment *segment, size_t number);
/* n blocks of the segment delivered last, the first its number first. */
enum gp_status gp_snapshot_deliver_blocks(
	struct gp_snapshot_delivery *delivery,
	const struct gp_snapshot_block *blocks, size_t n, size_t segment,
	size_t first);
enum gp_status gp_snapshot_deliver_annotation(
	struct gp_snapshot_delivery *delivery,
	const struct gp_snapshot_annotation *annotation, const char *text,
	size_t number);
/* Its conf, or one composed of the values that differ from their defaults. */
void gp_snapshot_deliver_settings(struct gp_snapshot_delivery *delivery,
				  const struct gp_snapshot_settings *settings);

#endif
