/* SPDX-License-Identifier: MIT */
/* What changed between two runs, for a program. */
#include "report/change_report.h"

#include "report/schema.h"
#include "report/emit.h"
#include "report/emit_parts.h"
#include "report/object.h"
#include "report/ranks.h"

static void write_breakdown(struct gp_emit *json, const struct gp_breakdown *m)
{
	gp_emit_uint(json, "event", m->event);
	gp_emit_bool(json, "from_start", m->is_from_start);
	gp_emit_count(json, GP_PEAK_RESERVED, m->reserved);
	gp_emit_open(json, "parts", '{', GP_EMIT_LINES);
	for (unsigned i = 0; i < GP_PARTS; i++) {
		if (!m->is_split && i == GP_PART_PACKING)
			gp_emit_uint(json, "free", m->part[i]);
		else if (m->is_split ||
			 (i != GP_PART_STREAMS && i != GP_PART_POOLS))
			gp_emit_uint(json, gp_parts[i].key, m->part[i]);
	}
	gp_emit_close(json, '}');
	if (m->is_split)
		gp_emit_uint(json, "unused_segments", m->unused_segments);
	gp_emit_count(json, GP_PEAK_ALLOCATED, m->peak_allocated);
	gp_emit_count(json, GP_NUM_RETRIES, m->retries);
	gp_emit_count(json, GP_NUM_OOMS, m->ooms);
	gp_emit_count(json, GP_DROPPED, m->dropped);
}

static void write_side(struct gp_emit *json, const char *key,
		       const struct gp_change_side *side)
{
	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_emit_text(json, "path", side->path);
	if (side->trace)
		gp_emit_told(json, side->trace);
	gp_emit_text(json, "alloc_conf", side->conf);
	gp_emit_release(json, "torch", side->release);
	gp_emit_text(json, "engine", side->engine);
	gp_emit_text(json, "what_if", side->what_if);
	gp_emit_limit(json, "capacity", side->capacity);
	write_breakdown(json, &side->breakdown);
	gp_emit_close(json, '}');
}

static int64_t minus(uint64_t b, uint64_t a)
{
	return (int64_t)(b - a);
}

static void write_difference(struct gp_emit *json,
			     const struct gp_change *change)
{
	const struct gp_breakdown *a = &change->a.breakdown,
				  *b = &change->b.breakdown;
	bool is_split = a->is_split && b->is_split;

	gp_emit_open(json, "difference", '{', GP_EMIT_LINES);
	gp_emit_int(json, gp_measures[GP_PEAK_RESERVED].key,
		    minus(b->reserved, a->reserved));
	for (unsigned i = 0; i < GP_PARTS; i++) {
		bool is_split_part = i == GP_PART_STREAMS || i == GP_PART_POOLS;

		if (is_split || !is_split_part)
			gp_emit_int(json,
				    !is_split && i == GP_PART_PACKING
					    ? "free"
					    : gp_parts[i].key,
				    minus(b->part[i], a->part[i]));
	}
	gp_emit_close(json, '}');
}

static void write_pair(struct gp_emit *json, const struct gp_share_pair *pair,
		       bool is_site)
{
	const struct gp_share *some = pair->b.blocks ? &pair->b : &pair->a;

	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	if (is_site)
		gp_emit_text(json, "site", *some->name ? some->name : NULL);
	else
		gp_emit_uint(json, "from", some->floor);
	if (is_site && pair->fate == GP_SHARE_MOVED)
		gp_emit_text(json, "site_in_a", pair->a.name);
	gp_emit_keys(json, "change_pair", pair);
	gp_emit_close(json, '}');
}

static void write_pairs(struct gp_emit *json, const char *key,
			const struct gp_share_pair *pairs, size_t count,
			bool is_site)
{
	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		write_pair(json, &pairs[i], is_site);
	gp_emit_close(json, ']');
}

static void write_request(struct gp_emit *json, const char *key,
			  const struct gp_request *r)
{
	if (!r->is_there) {
		gp_emit_null(json, key);
		return;
	}
	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "event", r->event);
	gp_emit_text(json, "op", gp_event_kind_name(r->kind));
	gp_emit_uint(json, "size", r->size);
	gp_emit_uint(json, "stream", r->stream);
	gp_emit_pool(json, "pool", r->pool);
	gp_emit_text(json, "site", *r->site ? r->site : NULL);
	gp_emit_text(json, "step", r->step);
	gp_emit_close(json, '}');
}

static void write_divergence(struct gp_emit *json,
			     const struct gp_divergence *p)
{
	if (!p) {
		gp_emit_null(json, "requests");
		return;
	}
	gp_emit_open(json, "requests", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "in_common", p->common);
	gp_emit_bool(json, "same", !p->is_there);
	gp_emit_bool(json, "starts_differ", p->starts_differ);
	write_request(json, "a", &p->a);
	write_request(json, "b", &p->b);
	gp_emit_object(json, "steps", "change_steps", &p->steps, GP_EMIT_LINES);
	gp_emit_close(json, '}');
}

static void write_change(struct gp_emit *json, const struct gp_change *change)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", change->device);
	if (change->files)
		gp_emit_uint(json, "files", change->files);
	gp_emit_bool(json, "same_requests", change->is_same);
	write_side(json, "a", &change->a);
	write_side(json, "b", &change->b);
	write_difference(json, change);
	write_pairs(json, "sites", change->sites, change->site_count, true);
	write_pairs(json, "sizes", change->sizes, change->size_count, false);
	write_divergence(json, change->divergence);
	gp_emit_close(json, '}');
}

static void write_ranks(struct gp_emit *json,
			const struct gp_change_ranks *ranks)
{
	if (!ranks)
		return;
	gp_emit_open(json, "a", '{', GP_EMIT_LINES);
	gp_emit_ranks(json, ranks->a);
	gp_emit_uint(json, "without_counterpart", ranks->only_a);
	gp_emit_close(json, '}');
	if (!ranks->b)
		return;
	gp_emit_open(json, "b", '{', GP_EMIT_LINES);
	gp_emit_ranks(json, ranks->b);
	gp_emit_uint(json, "without_counterpart", ranks->only_b);
	gp_emit_close(json, '}');
}

void gp_change_json(const struct gp_change *changes, size_t count,
		    const struct gp_change_ranks *ranks, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	write_ranks(&json, ranks);
	gp_emit_open(&json, "changes", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		write_change(&json, &changes[i]);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
