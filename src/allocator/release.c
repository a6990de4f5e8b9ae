/* What differs between PyTorch's releases. */
#include "allocator/release.h"

#include <stddef.h>

#include "gpupool/knob.h"

/* "run" as a source: seen by running adjacent releases on generated cases. */
static const struct gp_change_row rows[GP_CHANGES] = {
	[GP_CHANGE_DIVISION_ONE] = { 4,
				     "roundup division 1 rounds to 512 "
				     "(before: not at all), 0 "
				     "is allowed in lists",
				     "#126830, #126833" },
	[GP_CHANGE_LIST_FILL] = { 10,
				  "\">\" in a roundup list starts behind the "
				  "last named "
				  "interval (before: at it)",
				  "AllocatorConfig.cpp; run" },
	[GP_CHANGE_LENIENT_PARSER] = { 10,
				       "separators are not checked, errors are "
				       "ValueError",
				       "AllocatorConfig.cpp; run" },
	[GP_CHANGE_SPLIT_FROM_SEGMENT] = { 10,
					   "max_split_size_mb may equal the "
					   "large segment size "
					   "(before: must be above)",
					   "AllocatorConfig.cpp; run" },
	[GP_CHANGE_ROUNDING_RESET] = { 11,
				       "max_non_split_rounding follows "
				       "large_segment_size_mb at "
				       "each parse",
				       "#172056" },
	[GP_CHANGE_EXPANDABLE_IN_POOLS] = { 6,
					    "private pools use expandable "
					    "segments",
					    "run" },
	[GP_CHANGE_OBJECT_ORDER] = { 12,
				     "of equal free blocks the object made "
				     "first is taken "
				     "(before: the lowest address)",
				     "#178362" },
	[GP_CHANGE_SEGMENT_ORDER] = { 13,
				      "of equal free blocks that of the oldest "
				      "segment is taken, "
				      "then the lowest address",
				      "#183591" },
	[GP_CHANGE_ROUTING] = { 3,
				"a thread's allocations can be routed to a "
				"pool outside of a capture",
				"#114647; run" },
	[GP_CHANGE_ROUTING_GOES_ON] = { 13,
					"use_mem_pool no longer suspends event "
					"processing, retry "
					"and empty_cache; captures still do",
					"#181830" },
	[GP_CHANGE_EMPTY_WHILE_ROUTING] = { 8,
					    "empty_cache while routing to a "
					    "pool is no error",
					    "run" },
	[GP_CHANGE_FALLBACK] = { 8,
				 "use_on_oom pools serve a request that would "
				 "fail",
				 "#151487" },
	[GP_CHANGE_FALLBACK_PER_REQUEST] = { 10,
					     "expandable segments are decided "
					     "by request, so use_on_oom "
					     "pools' expandable blocks are not "
					     "seen",
					     "#169491; run" },
	[GP_CHANGE_FALLBACK_FIRST] = { 11,
				       "use_on_oom pools are tried before "
				       "memory is released, and "
				       "can be withdrawn",
				       "#169699; run" },
	[GP_CHANGE_NEWEST_ROUTE] = { 10,
				     "of several routings the newest wins "
				     "(before: the oldest)",
				     "get_pool; run" },
	[GP_CHANGE_FRACTION_ONE] = { 10,
				     "memory fraction 1.0 is no limit (before: "
				     "a limit of the "
				     "whole device)",
				     "setMemoryFraction; run" },
	[GP_CHANGE_REJECTION] = { 12, "throw_on_cudamalloc_oom", "#179473" },
};

const struct gp_change_row *gp_change_row(enum gp_change change)
{
	return &rows[change];
}

bool gp_release_has(uint8_t release, enum gp_change change)
{
	return release >= rows[change].since;
}

bool gp_release_alike(uint8_t a, uint8_t b)
{
	for (int i = 0; i < GP_CHANGES; i++)
		if (gp_release_has(a, i) != gp_release_has(b, i))
			return false;
	return true;
}
