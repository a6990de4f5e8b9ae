/* SPDX-License-Identifier: MIT */
/* Whether two traces say the same, whatever their tables' order. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/trace.h"

struct pair {
	const struct gp_trace *a, *b;
	const struct gp_device_trace *da, *db;
	uint32_t *twin; /* site of a -> the site of b found equal, or none */
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_stream(const struct pair *p, uint16_t a, uint16_t b)
{
	if (a >= GP_NO_STREAM || b >= GP_NO_STREAM)
		return a == b;
	return p->a->streams[a] == p->b->streams[b];
}

static bool same_pool(const struct pair *p, uint16_t a, uint16_t b)
{
	const struct gp_pool_id *x = &p->a->pools[a], *y = &p->b->pools[b];

	return x->first == y->first && x->second == y->second;
}

static bool same_site(const struct pair *p, uint32_t a, uint32_t b)
{
	const uint32_t leaf_a = a, leaf_b = b;

	while (a != GP_NO_SITE && b != GP_NO_SITE && p->twin[a] != b) {
		const struct gp_site *x = &p->a->sites[a], *y = &p->b->sites[b];

		if (strcmp(p->a->texts[x->text], p->b->texts[y->text]) != 0)
			return false;
		a = x->caller;
		b = y->caller;
	}
	if ((a == GP_NO_SITE) != (b == GP_NO_SITE))
		return false;
	if (leaf_a != GP_NO_SITE)
		p->twin[leaf_a] = leaf_b;
	return true;
}

/* Blocks are the same when the file calls them the same. */
static bool same_id(const struct pair *p, uint32_t a, uint32_t b)
{
	if (a == GP_NO_ID || b == GP_NO_ID)
		return a == b;
	return (p->da->names ? p->da->names[a] : a) ==
	       (p->db->names ? p->db->names[b] : b);
}

static bool same_event(const struct pair *p, const struct gp_event *a,
		       const struct gp_event *b)
{
	if (a->kind != b->kind || a->flags != b->flags || a->size != b->size ||
	    a->time_us != b->time_us)
		return false;
	/* A free's is its block's, and not everybody says it again. */
	if (a->kind != GP_FREE && a->addr != b->addr)
		return false;
	if (a->flags & GP_STREAM_WAITS ? !same_stream(p, a->by, b->by)
				       : a->mark != b->mark)
		return false;
	if (gp_event_fields(a->kind) & GP_HAS_TEXT) {
		if (strcmp(p->a->texts[a->text], p->b->texts[b->text]) != 0)
			return false;
	} else if (!same_id(p, a->id, b->id)) {
		return false;
	}
	return same_site(p, a->site, b->site) &&
	       same_stream(p, a->stream, b->stream) &&
	       same_pool(p, a->pool, b->pool);
}

static bool same_segment(const struct pair *p, const struct gp_segment *a,
			 const struct gp_segment *b)
{
	return a->addr == b->addr && a->size == b->size &&
	       a->is_small == b->is_small &&
	       a->is_expandable == b->is_expandable &&
	       a->first_block == b->first_block && a->blocks == b->blocks &&
	       same_stream(p, a->stream, b->stream) &&
	       same_pool(p, a->pool, b->pool) && same_site(p, a->site, b->site);
}

static bool same_block(const struct pair *p, const struct gp_block *a,
		       const struct gp_block *b)
{
	return a->addr == b->addr && a->size == b->size &&
	       a->requested == b->requested && a->state == b->state &&
	       same_id(p, a->id, b->id) && same_site(p, a->site, b->site);
}

static bool same_state(const struct pair *p, const struct gp_state *a,
		       const struct gp_state *b)
{
	size_t i;

	if (a->segment_count != b->segment_count ||
	    a->block_count != b->block_count)
		return false;
	for (i = 0; i < a->segment_count; i++)
		if (!same_segment(p, &a->segments[i], &b->segments[i]))
			return false;
	for (i = 0; i < a->block_count; i++)
		if (!same_block(p, &a->blocks[i], &b->blocks[i]))
			return false;
	return true;
}

static bool same_counters(const struct pair *p)
{
	if (p->da->counter_count != p->db->counter_count)
		return false;
	for (size_t i = 0; i < p->da->counter_count; i++) {
		const struct gp_counter *a = &p->da->counters[i];
		const struct gp_counter *b = &p->db->counters[i];

		if (a->value != b->value ||
		    strcmp(p->a->texts[a->text], p->b->texts[b->text]) != 0)
			return false;
	}
	return true;
}

static bool same_device(struct pair *p, size_t index)
{
	const struct gp_device_trace *a = &p->a->devices[index];
	const struct gp_device_trace *b = &p->b->devices[index];
	size_t i;

	p->da = a;
	p->db = b;
	if (a->device != b->device || a->total_memory != b->total_memory ||
	    a->event_count != b->event_count || a->block_ids != b->block_ids ||
	    memcmp(&a->guesses, &b->guesses, sizeof(a->guesses)) != 0)
		return false;
	for (i = 0; i < a->event_count; i++)
		if (!same_event(p, &a->events[i], &b->events[i]))
			return false;
	return same_state(p, &a->start, &b->start) &&
	       same_state(p, &a->end, &b->end) && same_counters(p);
}

static bool same_head(const struct gp_trace *a, const struct gp_trace *b)
{
	return a->device_count == b->device_count &&
	       a->is_complete == b->is_complete &&
	       same_text(a->source, b->source) &&
	       same_text(a->settings, b->settings) &&
	       a->release.first == b->release.first &&
	       a->release.last == b->release.last &&
	       same_text(a->release.why, b->release.why);
}

bool gp_trace_equal(const struct gp_trace *a, const struct gp_trace *b)
{
	struct pair pair = { .a = a, .b = b };
	bool is_same = same_head(a, b);
	size_t i;

	pair.twin = gp_mem_alloc(a->site_count, sizeof(*pair.twin));
	memset(pair.twin, 0xff, a->site_count * sizeof(*pair.twin));
	for (i = 0; i < a->device_count && is_same; i++)
		is_same = same_device(&pair, i);
	free(pair.twin);
	return is_same;
}
