/* SPDX-License-Identifier: MIT */
/* Settings whose decisions are the same. */
#include "gpupool/knob.h"

struct gp_alike gp_alike_of(const struct gp_settings *settings)
{
	return (struct gp_alike){
		.max_split_least = settings->max_split_size,
		.max_split_most = settings->max_split_size,
		.non_split_least = settings->max_non_split_rounding,
		.non_split_most = settings->max_non_split_rounding,
		.large_least = settings->large_segment_size,
		.large_most = settings->large_segment_size,
		.gc_off = settings->gc_threshold <= 0,
		/* 1 to 0, an empty range, where it is off. */
		.gc_least =
			settings->gc_threshold > 0 ? settings->gc_threshold : 1,
		.gc_most =
			settings->gc_threshold > 0 ? settings->gc_threshold : 0,
	};
}

static bool is_between(uint64_t value, uint64_t least, uint64_t most)
{
	return least <= value && value <= most;
}

bool gp_alike_holds(const struct gp_alike *alike,
		    const struct gp_settings *settings)
{
	double gc = settings->gc_threshold;

	return is_between(settings->max_split_size, alike->max_split_least,
			  alike->max_split_most) &&
	       is_between(settings->max_non_split_rounding,
			  alike->non_split_least, alike->non_split_most) &&
	       is_between(settings->large_segment_size, alike->large_least,
			  alike->large_most) &&
	       (gc > 0 ? alike->gc_least <= gc && gc <= alike->gc_most
		       : alike->gc_off);
}
