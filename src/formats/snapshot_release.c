/* SPDX-License-Identifier: MIT */
/*
 * Keys to releases: sections 7 and 11 of the allocator's description, whose
 * source is torch/csrc/cuda/Module.cpp and torch/cuda/memory.py per release.
 */
#include "formats/snapshot_release.h"

#include <stddef.h>

#include "formats/snapshot_word.h"

/* A key first written by 2.since; 0: it does not bound that way. */
struct row {
	enum gp_key_place place;
	enum gp_word key;
	uint8_t since;
	const char *is_there;
	const char *is_missing; /* NULL: not everybody writes it */
};

static const struct row rows[] = {
	{ GP_IN_BLOCK, GP_WORD_ADDRESS, 1,
	  "blocks have an address: 2.1 or later",
	  "blocks have no address: 2.0" },
	{ GP_IN_SEGMENT, GP_WORD_IS_EXPANDABLE, 1,
	  "segments have is_expandable: 2.1 or later",
	  "segments have no is_expandable: 2.0" },
	{ GP_IN_ENTRY, GP_WORD_TIME_US, 2, "entries have time_us: 2.2 or later",
	  "entries have no time_us: 2.1 or earlier" },
	{ GP_IN_TOP, GP_WORD_ALLOCATOR_SETTINGS, 3,
	  "allocator_settings is there: 2.3 or later", NULL },
	{ GP_IN_TOP, GP_WORD_EXTERNAL_ANNOTATIONS, 5,
	  "external_annotations is there: 2.5 or later", NULL },
	{ GP_IN_ENTRY, GP_WORD_COMPILE_CONTEXT, 8,
	  "entries have compile_context: 2.8 or later",
	  "entries have no compile_context: 2.7 or earlier" },
	{ GP_IN_SETTINGS, GP_WORD_CAPTURE_REUSE, 9,
	  "settings have graph_capture_record_stream_reuse: 2.9 or later",
	  "settings have no graph_capture_record_stream_reuse: "
	  "2.8 or earlier" },
	{ GP_IN_ENTRY, GP_WORD_USER_METADATA, 10,
	  "entries have user_metadata: 2.10 or later",
	  "entries have no user_metadata: 2.9 or earlier" },
	{ GP_IN_ENTRY, GP_WORD_POOL_ID, 12,
	  "entries have a pool_id: 2.12 or later",
	  "entries have no pool_id: 2.11 or earlier" },
	{ GP_IN_SETTINGS, GP_WORD_MAX_ROUND_THRESHOLD, 12,
	  "settings have max_round_threshold: 2.12 or later", NULL },
	{ GP_IN_TOP, GP_WORD_HOST_SEGMENTS, 13,
	  "host_segments is there: 2.13 or later", NULL },
	{ GP_IN_TOP, GP_WORD_HOST_TRACES, 13,
	  "host_traces is there: 2.13 or later", NULL },
};

void gp_snapshot_keys_bound(const struct gp_snapshot_keys *keys,
			    struct gp_build *build)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];

		if (!keys->is_there[row->place])
			continue;
		if (keys->seen[row->place] & GP_WORD_BIT(row->key))
			gp_build_release_from(build, row->since, row->is_there);
		else if (row->is_missing)
			gp_build_release_to(build, row->since - 1,
					    row->is_missing);
	}
}
