/* The table of settings.  Names and ranges are PyTorch's. */
#include "gpupool/knob.h"

#include <string.h>

static const struct gp_knob table[] = {
	{ "backend", NULL, GP_KNOB_BACKEND, GP_KNOB_WORD, 0, "native", "native",
	  "The allocator behind all this; only native is replayed." },
	{ "expandable_segments", "expandable-segments", GP_KNOB_EXPANDABLE,
	  GP_KNOB_BOOL, 1, "True or False", "False",
	  "Segments grow page by page in reserved address space instead of "
	  "coming from cudaMalloc one by one." },
	{ "expandable_segments_reserve", "expandable-segments-reserve",
	  GP_KNOB_RESERVE, GP_KNOB_SIZE, 15, "above 0", "9/8 of the device",
	  "Address space each expandable segment reserves." },
	{ "expandable_segments_reserve_by_class", NULL, GP_KNOB_IGNORED,
	  GP_KNOB_WORD, 15, "[name:value,...]", "empty",
	  "The same by class of stream; classes are not in traces." },
	{ "garbage_collection_threshold", "gc-threshold", GP_KNOB_GC_THRESHOLD,
	  GP_KNOB_RATIO, 0, "above 0, below 1", "off",
	  "Above this share of the memory limit, old free segments are given "
	  "back before new ones are asked for." },
	{ "graph_capture_record_stream_reuse", NULL, GP_KNOB_IGNORED,
	  GP_KNOB_BOOL, 9, "True or False", "False",
	  "Reuse of blocks freed across streams while a graph is captured." },
	{ "large_segment_size_mb", "large-segment-mb", GP_KNOB_LARGE_SEGMENT,
	  GP_KNOB_MIB, 11, "above 10", "20",
	  "Segment size for requests of 1 to 10 MiB, and the page of large "
	  "expandable segments." },
	{ "max_non_split_rounding_mb", "max-non-split-rounding-mb",
	  GP_KNOB_MAX_NON_SPLIT_ROUNDING, GP_KNOB_MIB, 6,
	  "at least the large segment size", "20",
	  "How much larger than asked a block above max_split_size_mb may be "
	  "and still be taken whole." },
	{ "max_split_size_mb", "max-split-mb", GP_KNOB_MAX_SPLIT, GP_KNOB_MIB,
	  0, "at least 20 (above 20 before 2.10)", "unlimited",
	  "Blocks of this size and more are not split, and serve only "
	  "requests of about their own size." },
	{ "per_process_memory_fraction", "memory-fraction", GP_KNOB_FRACTION,
	  GP_KNOB_RATIO, 10, "0 to 1", "1",
	  "Share of the device's memory that may be reserved." },
	{ "pinned_free_catch_all", NULL, GP_KNOB_IGNORED, GP_KNOB_BOOL, 12,
	  "True or False", "False", "Pinned host memory only." },
	{ "pinned_max_cached_size_mb", NULL, GP_KNOB_IGNORED, GP_KNOB_INTEGER,
	  15, "a number", "unlimited", "Pinned host memory only." },
	{ "pinned_max_round_threshold_mb", NULL, GP_KNOB_IGNORED,
	  GP_KNOB_INTEGER, 15, "a number", "unlimited",
	  "Pinned host memory only." },
	{ "pinned_num_register_threads", NULL, GP_KNOB_IGNORED, GP_KNOB_INTEGER,
	  1, "a power of two up to 128", "1", "Pinned host memory only." },
	{ "pinned_reserve_segment_size_mb", NULL, GP_KNOB_IGNORED,
	  GP_KNOB_INTEGER, 10, "above 0", "0", "Pinned host memory only." },
	{ "pinned_use_background_threads", NULL, GP_KNOB_IGNORED, GP_KNOB_BOOL,
	  5, "True or False", "False", "Pinned host memory only." },
	{ "pinned_use_cuda_host_register", NULL, GP_KNOB_IGNORED, GP_KNOB_BOOL,
	  1, "True or False", "False", "Pinned host memory only." },
	{ "release_lock_on_cudamalloc", NULL, GP_KNOB_IGNORED, GP_KNOB_BOOL, 1,
	  "True or False", "False",
	  "Threads go on while one waits for cudaMalloc." },
	{ "roundup_power2_divisions", "roundup-power2-divisions",
	  GP_KNOB_ROUNDUP, GP_KNOB_DIVISIONS, 0,
	  "a power of two, or [MiB:divisions,...,>:divisions]", "0",
	  "Requests are rounded up to one of so many sizes between two powers "
	  "of two." },
	{ "throw_on_cudamalloc_oom", "throw-on-cudamalloc-oom",
	  GP_KNOB_THROW_ON_OOM, GP_KNOB_BOOL, 12, "True or False", "False",
	  "Refuse requests beyond the memory fraction before asking the "
	  "device." },
};

const struct gp_knob *gp_knob_table(size_t *count)
{
	*count = sizeof(table) / sizeof(*table);
	return table;
}

const struct gp_knob *gp_knob_by_flag(const char *flag)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].flag && !strcmp(table[i].flag, flag))
			return &table[i];
	return NULL;
}
