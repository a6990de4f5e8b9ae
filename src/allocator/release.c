/* SPDX-License-Identifier: MIT */
/* The differences between PyTorch's releases. */
#include "allocator/release.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/knob.h"

/* The source "run" means: found by running adjacent releases on generated
 * cases. */
static const struct gp_change_row rows[GP_CHANGES] = {
	[GP_CHANGE_DIVISION_ONE] = {
		.since = 4,
		.sentence = "roundup division 1 rounds to 512 (before: not at "
			    "all), 0 is allowed in lists",
		.source = "#126830, #126833",
	},
	[GP_CHANGE_LIST_FILL] = {
		.since = 10,
		.sentence = "\">\" in a roundup list starts after the last "
			"named interval (before: at it)",
		.source = "AllocatorConfig.cpp; run",
	},
	[GP_CHANGE_PINNED_LISTS] = {
		.since = 5,
		.sentence = "pinned host memory: a free block of the same "
			    "power of two, the last freed (before: the "
			    "smallest that is large enough)",
		.source = "ATen/core/CachingHostAllocator.h; run",
	},
	[GP_CHANGE_LENIENT_PARSER] = {
		.since = 10,
		.sentence = "separators are not checked, errors are ValueError",
		.source = "AllocatorConfig.cpp; run",
	},
	[GP_CHANGE_SPLIT_FROM_SEGMENT] = {
		.since = 10,
		.sentence = "max_split_size_mb may equal the large segment "
			    "size (before: must be above)",
		.source = "AllocatorConfig.cpp; run",
	},
	[GP_CHANGE_ROUNDING_RESET] = {
		.since = 11,
		.sentence = "max_non_split_rounding follows "
			    "large_segment_size_mb at each parse",
		.source = "#172056",
	},
	[GP_CHANGE_EXPANDABLE_IN_POOLS] = {
		.since = 5,
		.sentence = "private pools use expandable segments",
		.source = "run",
	},
	[GP_CHANGE_RESERVE_CHECKED] = {
		.since = 15,
		.sentence = "a request larger than an expandable segment's "
			    "address space reserves none",
		.source = "#192269; run",
	},
	[GP_CHANGE_OBJECT_ORDER] = {
		.since = 12,
		.sentence = "of equal free blocks the object created first is "
			"taken (before: the lowest address)",
		.source = "#178362",
	},
	[GP_CHANGE_SEGMENT_ORDER] = {
		.since = 13,
		.sentence = "of equal free blocks that of the oldest segment "
			    "is taken, then the lowest address",
		.source = "#183591",
	},
	[GP_CHANGE_ONE_STREAM] = {
		.since = 1,
		.sentence = "in a capture, only the stream that it began on "
			"uses the graph's pool (until 2.3)",
		.source = "beginAllocateStreamToPool; run",
	},
	[GP_CHANGE_ROUTING] = {
		.since = 3,
		.sentence = "a thread's allocations can be routed to a pool "
			    "outside of a capture",
		.source = "#114647; run",
	},
	[GP_CHANGE_CAPTURED_USES] = {
		.since = 4,
		.sentence = "streams recorded while routing are forgotten when "
			    "a block freed meanwhile completes",
		.source = "insert_events_deferred_until_no_capture; run",
	},
	[GP_CHANGE_CAPTURE_MARKS] = {
		.since = 10,
		.sentence = "graph_capture_record_stream_reuse adds no nodes "
			    "of its own to the graph",
		.source = "record_free_markers; run",
	},
	[GP_CHANGE_REUSE_ENDS] = {
		.since = 12,
		.sentence = "under graph_capture_record_stream_reuse, blocks "
			    "deferred by a capture are free when it ends",
		.source = "endAllocateToPool; run",
	},
	[GP_CHANGE_ROUTING_GOES_ON] = {
		.since = 13,
		.sentence = "use_mem_pool no longer suspends event processing, "
			    "retry and empty_cache; captures still do",
		.source = "#181830",
	},
	[GP_CHANGE_EMPTY_WHILE_ROUTING] = {
		.since = 8,
		.sentence = "empty_cache while routing to a pool is no error",
		.source = "run",
	},
	[GP_CHANGE_POOL_OBJECTS] = {
		.since = 6,
		.sentence = "a MemPool holds its pool from its creation on "
			"(createOrIncrefPool)",
		.source = "ensureExistsAndIncrefPool in 2.6; run",
	},
	[GP_CHANGE_POOL_EMPTY] = {
		.since = 6,
		.sentence = "emptyCache of one pool",
		.source = "MemPoolContext until 2.7; run",
	},
	[GP_CHANGE_POOL_NO_SPLIT] = {
		.since = 10,
		.sentence = "pools whose blocks are not split",
		.source = "setNoSplit; run",
	},
	[GP_CHANGE_NO_SPLIT_ENDS] = {
		.since = 14,
		.sentence = "a pool's no_split ends with its last holder "
			    "(before: it stays with the id)",
		.source = "releasePool; run",
	},
	[GP_CHANGE_FALLBACK] = {
		.since = 8,
		.sentence = "use_on_oom pools serve a request that would fail",
		.source = "#151487",
	},
	[GP_CHANGE_FALLBACK_PER_REQUEST] = {
		.since = 10,
		.sentence = "expandable segments are decided by request, so "
			    "use_on_oom pools' expandable blocks are not seen",
		.source = "#169491; run",
	},
	[GP_CHANGE_FALLBACK_FIRST] = {
		.since = 11,
		.sentence = "use_on_oom pools are tried before memory is "
			    "released, and can be withdrawn",
		.source = "#169699; run",
	},
	[GP_CHANGE_NEWEST_ROUTE] = {
		.since = 10,
		.sentence = "of several routings the newest wins (before: the "
			    "oldest)",
		.source = "get_pool; run",
	},
	[GP_CHANGE_FRACTION_ONE] = {
		.since = 10,
		.sentence = "memory fraction 1.0 is no limit (before: a limit "
			    "of the whole device)",
		.source = "setMemoryFraction; run",
	},
	[GP_CHANGE_REJECTION] = {
		.since = 12,
		.sentence = "throw_on_cudamalloc_oom",
		.source = "#179473",
	},
	[GP_CHANGE_DIVISIONS_SPELLED] = {
		.since = 8,
		.sentence = "errors of roundup lists spell \"divisions\" "
			    "(before: \"divisons\")",
		.source = "run",
		.is_wording = true,
	},
};

const struct gp_change_row *gp_change_table(size_t *count)
{
	*count = GP_CHANGES;
	return rows;
}

bool gp_release_has(uint8_t release, enum gp_change change)
{
	return release >= rows[change].since;
}

bool gp_release_limits(uint8_t release, double fraction)
{
	return fraction < 1 || !gp_release_has(release, GP_CHANGE_FRACTION_ONE);
}

bool gp_release_alike(uint8_t a, uint8_t b)
{
	for (int i = 0; i < GP_CHANGES; i++)
		if (!rows[i].is_wording &&
		    gp_release_has(a, i) != gp_release_has(b, i))
			return false;
	return true;
}

enum gp_status gp_release_parse(const char *text, uint8_t *minor,
				struct gp_diag *diag)
{
	unsigned long value;
	char *end;

	if (!strcmp(text, "latest")) {
		*minor = GP_RELEASE_LAST;
		return GP_OK;
	}
	if (!strncmp(text, "2.", 2) && isdigit((unsigned char)text[2])) {
		value = strtoul(text + 2, &end, 10);
		if (value <= GP_RELEASE_LAST &&
		    (!*end || *end == '.' || *end == '+' || *end == 'a')) {
			*minor = (uint8_t)value;
			return GP_OK;
		}
	}
	gp_diag_hint(diag, "2.%d to 2.%d, or latest", GP_RELEASE_FIRST,
		     GP_RELEASE_LAST);
	return gp_diag_set(diag, GP_USAGE,
			   "\"%s\" is no PyTorch release that "
			   "gpupool knows",
			   text);
}
