/* SPDX-License-Identifier: MIT */
/* Where the gap between reserved and allocated memory is. */
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "study/metrics/explain.h"
#include "study/metrics/page.h"

/* ---- parts ---- */

static void add(struct gp_gap_part *part, uint64_t bytes)
{
	part->bytes += bytes;
	part->blocks++;
	part->largest = gp_larger(part->largest, bytes);
}

struct where {
	const struct gp_settings *settings;
	struct gp_gap *gap;
	const struct gp_segment *segment;
	/* The whole pages of the run of free or pending blocks around the
	 * present one. These can be released; but not yet if a pending block
	 * reaches into them. */
	struct page_range whole;
	bool is_pending;
};

static void add_piece(const struct where *w, enum gp_gap_reason reason,
		      uint64_t bytes)
{
	if (bytes)
		add(&w->gap->by_reason[reason], bytes);
}

/* The part of the whole pages that can be released now. */
static uint64_t ready(const struct where *w, const struct gp_block *block,
		      uint64_t whole)
{
	if (!w->is_pending)
		return whole;
	return whole_pages(w->segment, page_of_segment(w->settings, w->segment),
			   block->addr, block->size)
		.size;
}

static void add_idle(const struct where *w, const struct gp_block *block)
{
	struct gp_gap *gap = w->gap;
	uint64_t whole = overlap(block, w->whole.addr, w->whole.size), now;

	add(&gap->by_class[size_class(block->size)], block->size);
	add(w->segment->is_small ? &gap->small : &gap->large, block->size);
	add(&gap->by_stream[w->segment->stream], block->size);
	add(&gap->by_pool[w->segment->pool], block->size);
	if (block->state == GP_PENDING_FREE) {
		add_piece(w, GP_GAP_WAITING, block->size);
		return;
	}
	now = ready(w, block, whole);
	add_piece(w, w->segment->pool ? GP_GAP_POOL : GP_GAP_CACHED, now);
	add_piece(w, GP_GAP_WAITING, whole - now);
	add_piece(w, GP_GAP_HELD, block->size - whole);
}

/* Adds a run of free or pending blocks; returns their number. */
static uint32_t add_run(struct where *w, const struct gp_block *first,
			uint32_t most)
{
	uint32_t n = 0;
	uint64_t size = 0;

	w->is_pending = false;
	for (; n < most && first[n].state != GP_ACTIVE; n++) {
		if (first[n].state == GP_PENDING_FREE) {
			w->is_pending = true;
			w->gap->requested += first[n].requested;
		}
		size += first[n].size;
	}
	w->whole = whole_pages(w->segment,
			       page_of_segment(w->settings, w->segment),
			       first->addr, size);
	for (uint32_t i = 0; i < n; i++)
		add_idle(w, &first[i]);
	return n;
}

/* The bytes of a block beyond its request: by rounding, or because it was not
 * split. */
static void add_live(const struct where *w, const struct gp_block *block)
{
	struct gp_gap *gap = w->gap;
	uint64_t asked =
		block->requested < block->size ? block->requested : block->size;
	uint64_t rounded = gp_settings_round(w->settings, asked);

	if (rounded > block->size)
		rounded = block->size;
	gap->allocated += block->size;
	gap->requested += asked;
	gap->rounding += rounded - asked;
	gap->unsplit += block->size - rounded;
}

static void add_segment(struct where *w, const struct gp_block *blocks)
{
	uint32_t n = w->segment->blocks, k = 0;

	w->gap->reserved += w->segment->size;
	while (k < n) {
		if (blocks[k].state == GP_ACTIVE)
			add_live(w, &blocks[k++]);
		else
			k += add_run(w, &blocks[k], n - k);
	}
}

void gp_gap_of(const struct gp_trace *trace, const struct gp_settings *settings,
	       const struct gp_state *state, struct gp_gap *gap)
{
	*gap = (struct gp_gap){ 0 };
	gap->by_stream =
		gp_mem_alloc(trace->stream_count, sizeof(*gap->by_stream));
	gap->by_pool = gp_mem_alloc(trace->pool_count, sizeof(*gap->by_pool));
	for (size_t i = 0; i < state->segment_count; i++) {
		struct where w = { .settings = settings,
				   .gap = gap,
				   .segment = &state->segments[i] };

		add_segment(&w, &state->blocks[w.segment->first_block]);
	}
	gap->bytes = gap->reserved - gap->allocated;
}

void gp_gap_release(struct gp_gap *gap)
{
	free(gap->by_stream);
	free(gap->by_pool);
}
