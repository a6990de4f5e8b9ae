/* SPDX-License-Identifier: MIT */
/*
 * The table of settings. Names and ranges are PyTorch's; `since` was determined
 * by running each release.
 */
#include "gpupool/knob.h"

#include <string.h>

#define MEMBER(name) offsetof(struct gp_settings, name)

static const struct gp_knob table[] = {
	{ .name = "backend",
	  .id = GP_KNOB_BACKEND,
	  .type = GP_KNOB_WORD,
	  .range = "native",
	  .by_default = "native",
	  .sentence = "The allocator to use; only native can be replayed.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "expandable_segments",
	  .flag = "expandable-segments",
	  .id = GP_KNOB_EXPANDABLE,
	  .type = GP_KNOB_BOOL,
	  .member = MEMBER(expandable_segments),
	  .since = 1,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Segments grow page by page in reserved address "
		      "space instead of coming from cudaMalloc one by "
		      "one.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "expandable_segments_reserve",
	  .flag = "expandable-segments-reserve",
	  .id = GP_KNOB_RESERVE,
	  .type = GP_KNOB_SIZE,
	  .member = MEMBER(reserve_fraction),
	  .since = 15,
	  .range = "above 0: a share of the device (0.5), or GiB "
		   "(40G); anything else is ignored",
	  .by_default = "9/8 of the device",
	  .sentence = "Address space each expandable segment reserves.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "expandable_segments_reserve_by_class",
	  .id = GP_KNOB_RESERVE_BY_CLASS,
	  .type = GP_KNOB_WORD,
	  .since = 15,
	  .range = "[name:value,...]",
	  .by_default = "empty",
	  .sentence = "The same by class of stream; classes are not in "
		      "traces.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "garbage_collection_threshold",
	  .flag = "gc-threshold",
	  .id = GP_KNOB_GC_THRESHOLD,
	  .type = GP_KNOB_RATIO,
	  .member = MEMBER(gc_threshold),
	  .range = "above 0, below 1",
	  .by_default = "off",
	  .sentence = "Above this share of the memory limit, old free segments "
		      "are released before new ones are requested.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "graph_capture_record_stream_reuse",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_BOOL,
	  .member = MEMBER(capture_reuse),
	  .since = 9,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Reuse of blocks freed across streams while a graph is "
		      "captured.  It depends on the graph, which is not in a "
		      "trace: captures with it are refused.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "large_segment_size_mb",
	  .flag = "large-segment-mb",
	  .id = GP_KNOB_LARGE_SEGMENT,
	  .type = GP_KNOB_MIB,
	  .member = MEMBER(large_segment_size),
	  .since = 11,
	  .range = "above 10",
	  .by_default = "20",
	  .sentence = "Segment size for requests of 1 to 10 MiB, and "
		      "the page of large expandable segments.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "max_non_split_rounding_mb",
	  .flag = "max-non-split-rounding-mb",
	  .id = GP_KNOB_MAX_NON_SPLIT_ROUNDING,
	  .type = GP_KNOB_MIB,
	  .member = MEMBER(max_non_split_rounding),
	  .since = 6,
	  .range = "at least the large segment size (above 20 before "
		   "2.10)",
	  .by_default = "the large segment size",
	  .sentence = "How much larger than the request a block above "
		      "max_split_size_mb may be and still be used whole.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "max_split_size_mb",
	  .flag = "max-split-mb",
	  .id = GP_KNOB_MAX_SPLIT,
	  .type = GP_KNOB_MIB,
	  .member = MEMBER(max_split_size),
	  .range = "at least the large segment size (above 20 before "
		   "2.10)",
	  .by_default = "unlimited",
	  .sentence = "Blocks of this size and larger are not split, and serve "
		      "only requests of about their own size.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "per_process_memory_fraction",
	  .flag = "memory-fraction",
	  .id = GP_KNOB_FRACTION,
	  .type = GP_KNOB_RATIO,
	  .member = MEMBER(memory_fraction),
	  .since = 10,
	  .range = "0 to 1",
	  .by_default = "1",
	  .sentence = "Share of the device's memory that may be "
		      "reserved.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "pinned_free_catch_all",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_BOOL,
	  .since = 12,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Pinned host memory only.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "pinned_max_cached_size_mb",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_MIB,
	  .member = MEMBER(pinned_cached_most),
	  .since = 13,
	  .range = "a whole number",
	  .by_default = "unlimited",
	  .sentence = "Pinned host memory: larger blocks are released when "
		      "they are freed, and are not rounded up.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "pinned_max_round_threshold_mb",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_MIB,
	  .member = MEMBER(pinned_round_most),
	  .since = 13,
	  .range = "a whole number",
	  .by_default = "unlimited",
	  .sentence = "Pinned host memory: larger requests are not rounded up "
		      "to a power of two.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "pinned_num_register_threads",
	  .id = GP_KNOB_REGISTER_THREADS,
	  .type = GP_KNOB_INTEGER,
	  .since = 2,
	  .range = "a power of two up to 128",
	  .by_default = "1",
	  .sentence = "Pinned host memory only.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "pinned_reserve_segment_size_mb",
	  .id = GP_KNOB_PINNED_RESERVE,
	  .type = GP_KNOB_MIB,
	  .member = MEMBER(pinned_reserve),
	  .since = 10,
	  .range = "above 0",
	  .by_default = "0",
	  .sentence = "Pinned host memory: this much is taken at once, and "
		      "never released.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "pinned_use_background_threads",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_BOOL,
	  .member = MEMBER(pinned_background_thread),
	  .since = 6,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Pinned host memory: a thread checks whether freed "
		      "blocks can be reused, not the next request.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "pinned_use_cuda_host_register",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_BOOL,
	  .since = 2,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Pinned host memory only.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "pinned_use_hip_host_register",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_BOOL,
	  .since = 2,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Another name for pinned_use_cuda_host_register.",
	  .reader = GP_KNOB_OF_CUDA,
	  .alias_of = "pinned_use_cuda_host_register" },
	{ .name = "release_lock_on_cudamalloc",
	  .id = GP_KNOB_RELEASE_LOCK,
	  .type = GP_KNOB_BOOL,
	  .since = 2,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Threads go on while one waits for cudaMalloc.",
	  .reader = GP_KNOB_OF_CUDA },
	{ .name = "release_lock_on_hipmalloc",
	  .id = GP_KNOB_RELEASE_LOCK,
	  .type = GP_KNOB_BOOL,
	  .since = 2,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Another name for release_lock_on_cudamalloc.",
	  .reader = GP_KNOB_OF_CUDA,
	  .alias_of = "release_lock_on_cudamalloc" },
	{ .name = "roundup_power2_divisions",
	  .flag = "roundup-power2-divisions",
	  .id = GP_KNOB_ROUNDUP,
	  .type = GP_KNOB_DIVISIONS,
	  .member = MEMBER(divisions),
	  .range = "a power of two, or "
		   "[MiB:divisions,...,>:divisions]",
	  .by_default = "0",
	  .sentence = "Requests are rounded up to one of this many sizes "
		      "between two powers of two.",
	  .reader = GP_KNOB_OF_ALL },
	{ .name = "throw_on_cudamalloc_oom",
	  .flag = "throw-on-cudamalloc-oom",
	  .id = GP_KNOB_PLAIN,
	  .type = GP_KNOB_BOOL,
	  .member = MEMBER(throw_on_oom),
	  .since = 12,
	  .range = "True or False",
	  .by_default = "False",
	  .sentence = "Refuse requests beyond the memory fraction "
		      "before asking the device.",
	  .reader = GP_KNOB_OF_CUDA },
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

bool gp_knob_is_equal(const struct gp_knob *knob, const struct gp_settings *a,
		      const struct gp_settings *b)
{
	const void *one = (const char *)a + knob->member;
	const void *other = (const char *)b + knob->member;

	if (!knob->member)
		return true;
	switch (knob->type) {
	case GP_KNOB_MIB:
		return *(const uint64_t *)one == *(const uint64_t *)other;
	case GP_KNOB_BOOL: return *(const bool *)one == *(const bool *)other;
	case GP_KNOB_DIVISIONS:
		return !memcmp(one, other, sizeof(a->divisions));
	case GP_KNOB_SIZE:
		if (a->reserve_bytes != b->reserve_bytes)
			return false;
		/* fall through */
	case GP_KNOB_RATIO:
		return *(const double *)one == *(const double *)other;
	default: return true;
	}
}
