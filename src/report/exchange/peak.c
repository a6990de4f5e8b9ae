/* SPDX-License-Identifier: MIT */
/* Memory at the peak, by stack. */
#include "report/exchange/peak.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/exchange/frame.h"

static void add_block(struct peak *peak, const struct gp_trace *trace,
		      const struct gp_block *block, const uint32_t *sites)
{
	uint32_t site = block->id == GP_NO_ID ? block->site : sites[block->id];
	size_t at = site == GP_NO_SITE ? trace->site_count : site;

	if (block->state == GP_ACTIVE)
		peak->allocated[at] += block->size;
	else if (block->state == GP_PENDING_FREE)
		peak->waiting[at] += block->size;
	else
		peak->not_allocated += block->size;
}

void peak_init(struct peak *peak, const struct gp_trace *trace, uint32_t device,
	       const struct gp_replay_result *result)
{
	uint32_t *sites = frame_sites(&trace->devices[device]);
	size_t n = trace->site_count + 1;

	*peak = (struct peak){
		.allocated = gp_mem_alloc(n, sizeof(*peak->allocated)),
		.waiting = gp_mem_alloc(n, sizeof(*peak->waiting)),
	};
	for (size_t i = 0; i < result->peak.block_count; i++)
		add_block(peak, trace, &result->peak.blocks[i], sites);
	free(sites);
}

void peak_release(struct peak *peak)
{
	free(peak->allocated);
	free(peak->waiting);
}
