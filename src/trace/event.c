/* SPDX-License-Identifier: MIT */
/* Kinds of events and of guesses: one row each. */
#include "gpupool/trace.h"

#include <assert.h>

struct row {
	const char *name;
	uint8_t fields;
};

#define SEGMENT (GP_HAS_ADDR | GP_HAS_SIZE | GP_HAS_STREAM | GP_HAS_POOL)

static const struct row rows[GP_EVENT_KINDS] = {
	[GP_ALLOC] = { "alloc", GP_HAS_ID | SEGMENT },
	[GP_FREE] = { "free", GP_HAS_ID | GP_HAS_ADDR | GP_HAS_SIZE },
	[GP_RECORD_STREAM] = { "record_stream", GP_HAS_ID | GP_HAS_STREAM },
	[GP_SYNCHRONIZE] = { "synchronize", GP_HAS_ID | GP_HAS_STREAM },
	[GP_EMPTY_CACHE] = { "empty_cache", GP_HAS_POOL },
	[GP_SET_FRACTION] = { "set_memory_fraction", GP_HAS_FRACTION },
	[GP_OTHER_MEMORY] = { "other_memory", GP_HAS_SIZE },
	[GP_POOL_BEGIN] = { "pool_begin", GP_HAS_POOL },
	[GP_POOL_END] = { "pool_end", GP_HAS_POOL },
	[GP_POOL_RELEASE] = { "pool_release", GP_HAS_POOL },
	[GP_POOL_CREATE] = { "pool_create", GP_HAS_POOL },
	[GP_POOL_USE_ON_OOM] = { "pool_use_on_oom", GP_HAS_POOL },
	[GP_POOL_NO_USE_ON_OOM] = { "pool_no_use_on_oom", GP_HAS_POOL },
	[GP_POOL_NO_SPLIT] = { "pool_no_split", GP_HAS_POOL },
	[GP_CAPTURE_BEGIN] = { "capture_begin", GP_HAS_STREAM | GP_HAS_POOL },
	[GP_CAPTURE_END] = { "capture_end", GP_HAS_POOL },
	[GP_SET_SETTINGS] = { "set_allocator_settings", GP_HAS_TEXT },
	[GP_RESET_PEAK] = { "reset_peak_stats", 0 },
	[GP_RESET_ACCUMULATED] = { "reset_accumulated_stats", 0 },
	[GP_MARK] = { "mark", GP_HAS_TEXT | GP_HAS_MARK },
	[GP_SEGMENT_ALLOC] = { "segment_alloc", SEGMENT },
	[GP_SEGMENT_FREE] = { "segment_free", SEGMENT },
	[GP_SEGMENT_MAP] = { "segment_map", SEGMENT },
	[GP_SEGMENT_UNMAP] = { "segment_unmap", SEGMENT },
	[GP_FREE_COMPLETED] = { "free_completed",
				GP_HAS_ID | GP_HAS_ADDR | GP_HAS_SIZE },
	[GP_OOM] = { "oom", SEGMENT },
	[GP_SNAPSHOT] = { "snapshot", GP_HAS_SIZE },
};

const char *gp_event_kind_name(enum gp_event_kind kind)
{
	assert(kind < GP_EVENT_KINDS);
	return rows[kind].name;
}

uint8_t gp_event_fields(enum gp_event_kind kind)
{
	assert(kind < GP_EVENT_KINDS);
	return rows[kind].fields;
}

bool gp_event_is_of_pool(enum gp_event_kind kind)
{
	switch (kind) {
	case GP_POOL_BEGIN:
	case GP_POOL_END:
	case GP_POOL_RELEASE:
	case GP_CAPTURE_BEGIN:
	case GP_CAPTURE_END:
	case GP_POOL_CREATE:
	case GP_POOL_USE_ON_OOM:
	case GP_POOL_NO_USE_ON_OOM:
	case GP_POOL_NO_SPLIT: return true;
	default: return false;
	}
}

bool gp_event_is_growth(enum gp_event_kind kind)
{
	return kind == GP_SEGMENT_ALLOC || kind == GP_SEGMENT_MAP;
}

bool gp_event_is_release(enum gp_event_kind kind)
{
	return kind == GP_SEGMENT_FREE || kind == GP_SEGMENT_UNMAP;
}

#define GUESS(member)                                                          \
	{                                                                      \
#member, offsetof(struct gp_guesses, member)                   \
	}

static const struct gp_guess_row guesses[] = {
	GUESS(start_blocks), GUESS(block_slack), GUESS(segment_order),
	GUESS(empty_caches), GUESS(late_frees),	 GUESS(pool_of_segment),
	GUESS(lost_entries),
};
#define GUESSES (sizeof(guesses) / sizeof(*guesses))
_Static_assert(sizeof(struct gp_guesses) == GUESSES * sizeof(uint64_t),
	       "each guess has its row");

const struct gp_guess_row *gp_guess_table(size_t *count)
{
	*count = GUESSES;
	return guesses;
}
