/* SPDX-License-Identifier: MIT */
/*
 * Settings of the engine "caching" beyond PyTorch's own: what pull requests
 * propose, and PyTorch's allocators for other devices, where they decide
 * differently from CUDA's.
 */
#include <string.h>

#include "allocator/caching/caching.h"

/*
 * XPU: c10/xpu/XPUCachingAllocator.cpp of August 2026 (BlockComparatorSize,
 * get_free_block, round_size: no such settings); expandable segments since
 * pytorch #166292.
 * NPU: torch_npu/csrc/core/npu/NPUCachingAllocator.cpp of August 2026
 * (AddPadSize, of devices before Ascend950; BlockComparatorSize).
 * HIP: CUDA's source, translated; expandable segments since pytorch #177974.
 */
struct profile {
	const char *device;
	uint64_t padding;	  /* bytes added to each request */
	uint8_t expandable_since; /* release */
	/* Of equal free blocks, the lowest address is taken in every
	 * release. */
	bool takes_lowest;
	/* expandable_segments is the only one of CUDA's settings */
	bool has_expandable_only;
};

static const struct profile profiles[] = {
	{ "hip", .expandable_since = 12 },
	{ "xpu", .expandable_since = 10, .takes_lowest = true,
	  .has_expandable_only = true },
	{ "npu", .padding = 32, .takes_lowest = true },
	{ 0 },
};

static const struct profile *find_profile(const char *device)
{
	const struct profile *p = profiles;

	while (p->device && strcmp(p->device, device) != 0)
		p++;
	return p->device ? p : NULL;
}

static enum block_order order_of(const struct caching *c, const char *ties)
{
	if (!strcmp(ties, "address") ||
	    (c->profile && c->profile->takes_lowest &&
	     !strcmp(ties, "release")))
		return BY_ADDRESS;
	if (!strcmp(ties, "object"))
		return BY_OBJECT;
	return !strcmp(ties, "segment") ? BY_SEGMENT : c->order;
}

void variant_restrict(struct caching *c)
{
	const struct profile *p = c->profile;
	struct gp_settings *s = &c->settings, none;

	if (!p)
		return;
	if (s->release < p->expandable_since)
		s->expandable_segments = false;
	if (p->padding)
		c->rounds_plainly = false;
	if (!p->has_expandable_only)
		return;
	gp_settings_init(&none, s->release);
	none.expandable_segments = s->expandable_segments;
	none.memory_fraction = s->memory_fraction;
	*s = none;
}

uint64_t variant_round(const struct caching *c, uint64_t size)
{
	return gp_settings_round(&c->settings,
				 size + (c->profile ? c->profile->padding : 0));
}

void variant_apply(struct caching *c, const struct gp_engine *engine)
{
	c->profile = find_profile(engine_setting(engine, "device"));
	c->order = order_of(c, engine_setting(engine, "ties"));
	c->reuses_oversize =
		!strcmp(engine_setting(engine, "reuse_oversize"), "true");
	c->searches_again =
		!strcmp(engine_setting(engine, "search_again"), "true");
	variant_restrict(c);
}
