/* The classes of trials. */
#include "classes.h"

#include <string.h>

#define ODDS (FEW_STREAMS | RESETS)
#define ANY                                                                    \
	(FEW_STREAMS | TIGHT | OTHERS | LIMIT | LIMIT_MOVES | POOLS | RESETS | \
	 BOUNDARIES | FILLS)

static const struct trial_class classes[] = {
	{ "default", "no settings, memory enough", 0, 0, 0, ODDS, true },
	{ "boundary", "sizes beside every constant", 0, CONF_ROUNDUP,
	  BOUNDARIES, ODDS, true },
	{ "split", "max_split_size_mb", CONF_SPLIT, CONF_NON_SPLIT_ROUNDING,
	  BOUNDARIES, ODDS, true },
	{ "roundup", "roundup_power2_divisions", CONF_ROUNDUP, 0, BOUNDARIES,
	  ODDS, true },
	{ "large", "large_segment_size_mb", CONF_LARGE_SEGMENT,
	  CONF_EXPANDABLE | CONF_SPLIT | CONF_NON_SPLIT_ROUNDING, 0,
	  ODDS | BOUNDARIES | TIGHT, true },
	{ "expandable", "expandable_segments", CONF_EXPANDABLE,
	  CONF_SPLIT | CONF_ROUNDUP, 0, ODDS | BOUNDARIES, true },
	{ "streams", "record_stream and late synchronize", 0,
	  CONF_EXPANDABLE | CONF_SPLIT, FEW_STREAMS, TIGHT, true },
	{ "many-streams", "up to 60 streams", 0, CONF_EXPANDABLE, MANY_STREAMS,
	  TIGHT, true },
	{ "gc", "garbage_collection_threshold under a limit", CONF_GC,
	  CONF_SPLIT | CONF_EXPANDABLE, TIGHT | LIMIT, ODDS | LIMIT_MOVES,
	  true },
	{ "oom", "near the end of the memory", 0, CONF_ROUNDUP, TIGHT | FILLS,
	  ODDS | OTHERS, true },
	{ "oom-split", "the same, with max_split_size_mb", CONF_SPLIT,
	  CONF_NON_SPLIT_ROUNDING, TIGHT | FILLS, ODDS | OTHERS, true },
	{ "oom-expandable", "the same, with expandable_segments",
	  CONF_EXPANDABLE, CONF_SPLIT | CONF_LARGE_SEGMENT, TIGHT | FILLS,
	  ODDS | OTHERS, true },
	{ "others", "memory that others take and give back", 0,
	  CONF_EXPANDABLE | CONF_GC, TIGHT | OTHERS, ODDS | LIMIT, true },
	{ "fraction", "a memory fraction that changes", 0,
	  CONF_FRACTION | CONF_GC | CONF_EXPANDABLE, TIGHT | LIMIT_MOVES,
	  ODDS | LIMIT | OTHERS, true },
	{ "throw", "throw_on_cudamalloc_oom", CONF_THROW,
	  CONF_FRACTION | CONF_EXPANDABLE | CONF_GC, TIGHT,
	  ODDS | LIMIT_MOVES | OTHERS | FILLS, true },
	{ "reserve", "expandable_segments_reserve",
	  CONF_EXPANDABLE | CONF_RESERVE, CONF_LARGE_SEGMENT | CONF_SPLIT, 0,
	  ODDS | TIGHT | FILLS, true },
	{ "pools", "routing to private pools", 0, CONF_SPLIT, POOLS,
	  TIGHT | RESETS, true },
	{ "pools-expandable", "the same, with expandable_segments",
	  CONF_EXPANDABLE, 0, POOLS, TIGHT | RESETS, true },
	{ "pools-streams", "private pools and other streams", 0,
	  CONF_EXPANDABLE, POOLS | FEW_STREAMS, TIGHT, true },
	{ "pool-flags", "MemPools, use_on_oom and no_split", 0, CONF_SPLIT,
	  POOLS | POOL_FLAGS | TIGHT, FILLS, true },
	{ "pool-flags-expandable", "the same, with expandable_segments",
	  CONF_EXPANDABLE, CONF_SPLIT, POOLS | POOL_FLAGS | TIGHT,
	  FILLS | FEW_STREAMS, true },
	{ "settings", "settings that change while it runs", 0,
	  CONF_ALL & ~(CONF_FRACTION | CONF_RESERVE), CONF_MOVES,
	  ODDS | TIGHT | LIMIT, true },
	{ "devices", "several devices", 0, CONF_SPLIT | CONF_EXPANDABLE,
	  DEVICES | FEW_STREAMS, TIGHT | POOLS, true },
	{ "resets", "counters that are reset", 0, CONF_SPLIT | CONF_EXPANDABLE,
	  RESETS, FEW_STREAMS | TIGHT, true },
	{ "long", "thousands of requests near the end of the memory", 0,
	  CONF_SPLIT | CONF_GC | CONF_ROUNDUP | CONF_EXPANDABLE, LONG | TIGHT,
	  FEW_STREAMS | FILLS | LIMIT, true },
	{ "mixed", "all of it", 0, CONF_ALL, 0, ANY | POOL_FLAGS | CONF_MOVES,
	  true },
	{ "few", "tens of requests of all kinds", 0, CONF_ALL, SHORT,
	  ANY | POOL_FLAGS | MANY_STREAMS | DEVICES, true },
	{ "captures", "CUDA graphs, captured", 0, CONF_EXPANDABLE,
	  CAPTURES | FEW_STREAMS, TIGHT, false },
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
	size_t n = 0, turn;

	for (size_t i = 0; i < CLASSES; i++)
		n += classes[i].by_default;
	turn = (size_t)(seed % n);
	for (size_t i = 0; i < CLASSES; i++)
		if (classes[i].by_default && !turn--)
			return &classes[i];
	return &classes[0];
}
