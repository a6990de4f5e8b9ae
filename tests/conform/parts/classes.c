/* SPDX-License-Identifier: MIT */
/* The classes of trials. */
#include "classes.h"

#include <string.h>

#define ODDS (FEW_STREAMS | RESETS)
#define ANY                                                                    \
	(FEW_STREAMS | TIGHT | OTHERS | LIMIT | LIMIT_MOVES | POOLS | RESETS | \
	 BOUNDARIES | FILLS)

static const struct trial_class classes[] = {
	{ "default", "no settings, memory enough", 0, 0, 0, ODDS },
	{ "boundary", "sizes beside every constant", 0, CONF_ROUNDUP,
	  BOUNDARIES, ODDS },
	{ "split", "max_split_size_mb", CONF_SPLIT, CONF_NON_SPLIT_ROUNDING,
	  BOUNDARIES, ODDS },
	{ "roundup", "roundup_power2_divisions", CONF_ROUNDUP, 0, BOUNDARIES,
	  ODDS },
	{ "large", "large_segment_size_mb", CONF_LARGE_SEGMENT,
	  CONF_EXPANDABLE | CONF_SPLIT | CONF_NON_SPLIT_ROUNDING, 0,
	  ODDS | BOUNDARIES | TIGHT },
	{ "expandable", "expandable_segments", CONF_EXPANDABLE,
	  CONF_SPLIT | CONF_ROUNDUP, 0, ODDS | BOUNDARIES },
	{ "streams", "record_stream and late synchronize", 0,
	  CONF_EXPANDABLE | CONF_SPLIT, FEW_STREAMS, TIGHT },
	{ "many-streams", "up to 60 streams", 0, CONF_EXPANDABLE, MANY_STREAMS,
	  TIGHT },
	{ "gc", "garbage_collection_threshold under a limit", CONF_GC,
	  CONF_SPLIT | CONF_EXPANDABLE, TIGHT | LIMIT, ODDS | LIMIT_MOVES },
	{ "oom", "near the end of the memory", 0, CONF_ROUNDUP, TIGHT | FILLS,
	  ODDS | OTHERS },
	{ "oom-split", "the same, with max_split_size_mb", CONF_SPLIT,
	  CONF_NON_SPLIT_ROUNDING, TIGHT | FILLS, ODDS | OTHERS },
	{ "oom-expandable", "the same, with expandable_segments",
	  CONF_EXPANDABLE, CONF_SPLIT | CONF_LARGE_SEGMENT, TIGHT | FILLS,
	  ODDS | OTHERS },
	{ "others", "memory that others take and give back", 0,
	  CONF_EXPANDABLE | CONF_GC, TIGHT | OTHERS, ODDS | LIMIT },
	{ "fraction", "a memory fraction that changes", 0,
	  CONF_FRACTION | CONF_GC | CONF_EXPANDABLE, TIGHT | LIMIT_MOVES,
	  ODDS | LIMIT | OTHERS },
	{ "throw", "throw_on_cudamalloc_oom", CONF_THROW,
	  CONF_FRACTION | CONF_EXPANDABLE | CONF_GC, TIGHT,
	  ODDS | LIMIT_MOVES | OTHERS | FILLS },
	{ "reserve", "expandable_segments_reserve",
	  CONF_EXPANDABLE | CONF_RESERVE, CONF_LARGE_SEGMENT | CONF_SPLIT, 0,
	  ODDS | TIGHT | FILLS },
	{ "pools", "routing to private pools", 0, CONF_SPLIT, POOLS,
	  TIGHT | RESETS },
	{ "pools-expandable", "the same, with expandable_segments",
	  CONF_EXPANDABLE, 0, POOLS, TIGHT | RESETS },
	{ "pools-streams", "private pools and other streams", 0,
	  CONF_EXPANDABLE, POOLS | FEW_STREAMS, TIGHT },
	{ "pool-flags", "MemPools, use_on_oom and no_split", 0, CONF_SPLIT,
	  POOLS | POOL_FLAGS | TIGHT, FILLS },
	{ "pool-flags-expandable", "the same, with expandable_segments",
	  CONF_EXPANDABLE, CONF_SPLIT, POOLS | POOL_FLAGS | TIGHT,
	  FILLS | FEW_STREAMS },
	{ "settings", "settings that change while it runs", 0,
	  CONF_ALL & ~(CONF_FRACTION | CONF_RESERVE), CONF_MOVES,
	  ODDS | TIGHT | LIMIT },
	{ "devices", "several devices", 0, CONF_SPLIT | CONF_EXPANDABLE,
	  DEVICES | FEW_STREAMS, TIGHT | POOLS },
	{ "resets", "counters that are reset", 0, CONF_SPLIT | CONF_EXPANDABLE,
	  RESETS, FEW_STREAMS | TIGHT },
	{ "long", "thousands of requests near the end of the memory", 0,
	  CONF_SPLIT | CONF_GC | CONF_ROUNDUP | CONF_EXPANDABLE, LONG | TIGHT,
	  FEW_STREAMS | FILLS | LIMIT },
	{ "mixed", "all of it", 0, CONF_ALL, 0, ANY | POOL_FLAGS | CONF_MOVES },
	{ "few", "tens of requests of all kinds", 0, CONF_ALL, SHORT,
	  ANY | POOL_FLAGS | MANY_STREAMS | DEVICES },
	{ "captures", "CUDA graphs, captured", 0, CONF_EXPANDABLE,
	  CAPTURES | FEW_STREAMS, TIGHT },
	{ "captured-streams", "the same, of streams that wait for each other",
	  0, CONF_EXPANDABLE | CONF_REUSE, CAPTURES | OF_STREAMS | FEW_STREAMS,
	  TIGHT | POOLS },
	{ "capture-reuse", "the same, with graph_capture_record_stream_reuse",
	  CONF_REUSE, CONF_EXPANDABLE, CAPTURES | OF_STREAMS | FEW_STREAMS,
	  TIGHT | CONF_MOVES | RESETS },
};
#define CLASSES (sizeof(classes) / sizeof(*classes))

const struct trial_class *trial_class_table(size_t *count)
{
	*count = CLASSES;
	return classes;
}

const struct trial_class *trial_class_find(const char *name)
{
	for (size_t i = 0; i < CLASSES; i++)
		if (!strcmp(classes[i].name, name))
			return &classes[i];
	return NULL;
}

const struct trial_class *trial_class_of_seed(uint64_t seed)
{
	return &classes[seed % CLASSES];
}
