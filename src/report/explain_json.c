/* SPDX-License-Identifier: MIT */
/* gpupool explain, for a program. */
#include "base/bytes.h"
#include "gpupool/price.h"
#include "report/schema.h"
#include "report/emit.h"
#include "report/emit_parts.h"
#include "report/explain_words.h"
#include "report/holders.h"
#include "report/ranks.h"
#include "report/verdict.h"
#include "report/object.h"

#define MOST_CULPRITS 100 /* the rest pins less */

static void write_reasons(struct gp_emit *json, const struct gp_gap *gap)
{
	gp_emit_open(json, "by_reason", '{', GP_EMIT_LINES);
	for (int i = 0; i < GP_GAP_REASONS; i++) {
		gp_emit_object(json, explain_reasons[i].key, "gap_part",
			       &gap->by_reason[i], GP_EMIT_FLAT);
	}
	gp_emit_close(json, '}');
}

static void write_groups(struct gp_emit *json, const struct gp_trace *trace,
			 const struct gp_gap *gap)
{
	gp_emit_open(json, "by_stream", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->stream_count; i++) {
		if (!gap->by_stream[i].bytes)
			continue;
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "stream", trace->streams[i]);
		gp_emit_keys(json, "gap_part", &gap->by_stream[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	gp_emit_open(json, "by_pool", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->pool_count; i++) {
		if (!gap->by_pool[i].bytes)
			continue;
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_pool(json, "pool", trace->pools[i]);
		gp_emit_keys(json, "gap_part", &gap->by_pool[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_classes(struct gp_emit *json, const struct gp_gap *gap)
{
	gp_emit_open(json, "by_size", '[', GP_EMIT_LINES);
	for (unsigned i = 0; i < GP_SIZE_CLASSES; i++) {
		if (!gap->by_class[i].bytes)
			continue;
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "from", UINT64_C(1) << i);
		gp_emit_keys(json, "gap_part", &gap->by_class[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_gap(struct gp_emit *json, const struct gp_explain *e)
{
	const struct gp_gap *gap = &e->gap;

	gp_emit_open(json, "gap", '{', GP_EMIT_LINES);
	gp_emit_count(json, GP_GAP, gap->bytes);
	gp_emit_count(json, GP_RESERVED, gap->reserved);
	gp_emit_count(json, GP_ALLOCATED, gap->allocated);
	write_reasons(json, gap);
	gp_emit_open(json, "by_segment_type", '{', GP_EMIT_LINES);
	gp_emit_object(json, "small", "gap_part", &gap->small, GP_EMIT_FLAT);
	gp_emit_object(json, "large", "gap_part", &gap->large, GP_EMIT_FLAT);
	gp_emit_close(json, '}');
	write_groups(json, e->trace, gap);
	write_classes(json, gap);
	gp_emit_count(json, GP_REQUESTED, gap->requested);
	gp_emit_uint(json, "rounding", gap->rounding);
	gp_emit_uint(json, "unsplit", gap->unsplit);
	gp_emit_close(json, '}');
}

static uint64_t name_of(const struct gp_explain *e, uint32_t id)
{
	const struct gp_device_trace *device = &e->trace->devices[e->device];

	return device->names ? device->names[id] : id;
}

static void write_pins(struct gp_emit *json, const struct gp_explain *e)
{
	gp_emit_open(json, "pinned", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < e->pins.unit_count; i++) {
		const struct gp_unit *u = &e->pins.units[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_keys(json, "pinned", u);
		gp_emit_open(json, "by", '[', GP_EMIT_FLAT);
		for (uint32_t k = 0; k < u->holders; k++)
			gp_emit_uint(
				json, NULL,
				name_of(e, e->pins.holders[u->first_holder + k]
						   .id));
		gp_emit_close(json, ']');
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_attempts(struct gp_emit *json, const struct gp_explain *e)
{
	gp_emit_object(json, "as_it_is", "attempt", &e->base, GP_EMIT_FLAT);
	gp_emit_objects(json, "attempts", "attempt", e->attempts,
			e->attempt_count, sizeof(*e->attempts));
}

static void write_steps(struct gp_emit *json, const struct gp_steps *steps)
{
	static const char *const sources[] = { "none", "marks", "period" };

	gp_emit_text(json, "steps_by", sources[steps->source]);
	gp_emit_objects(json, "steps", "step", steps->list, steps->count,
			sizeof(*steps->list));
}

static void write_request(struct gp_emit *json, const struct gp_explain *e)
{
	const struct gp_oom *oom = &e->result.first_oom;

	if (!oom->is_there) {
		gp_emit_null(json, "request");
		return;
	}
	gp_emit_open(json, "request", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "size", oom->size);
	gp_emit_site(json, e->trace, oom->site);
	gp_emit_uint(json, "needed", e->failures[0].needed);
	gp_emit_uint(json, "available", e->failures[0].available);
	gp_emit_uint(json, "device_free", oom->device_free);
	gp_emit_uint(json, "largest_free", oom->largest_free);
	gp_emit_uint(json, "free_in_its_stream_and_pool", oom->free_its_own);
	gp_emit_uint(json, "free_in_other_streams", oom->free_other_stream);
	gp_emit_uint(json, "free_in_other_pools", oom->free_other_pool);
	if (e->relief.is_told)
		gp_emit_object(json, "to_release", "to_release", &e->relief,
			       GP_EMIT_FLAT);
	else
		gp_emit_null(json, "to_release");
	gp_emit_close(json, '}');
}

static void write_failures(struct gp_emit *json, const struct gp_explain *e)
{
	gp_emit_count(json, GP_NUM_OOMS, e->result.ooms.count);
	gp_emit_open(json, "ooms", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < e->failure_count; i++) {
		const struct gp_oom *oom = &e->result.ooms.list[i];
		const struct gp_failure *f = &e->failures[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "event", oom->event);
		gp_emit_uint(json, "alloc", oom->alloc);
		gp_emit_uint(json, "size", oom->size);
		gp_emit_uint(json, "needed", f->needed);
		gp_emit_uint(json, "available", f->available);
		gp_emit_bool(json, "too_small", f->is_too_small);
		gp_emit_site(json, e->trace, oom->site);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_calls(struct gp_emit *json, const struct gp_explain *e)
{
	struct gp_subject run = gp_at_end(&e->result);

	gp_emit_measure(json, GP_DEVICE_ALLOCS, &run);
	gp_emit_measure(json, GP_NUM_DEVICE_FREE, &run);
	gp_emit_measure(json, GP_NUM_RETRIES, &run);
	gp_emit_count(json, GP_DEVICE_TIME,
		      gp_price_whole_us(gp_prices_built_in(), &e->base_calls,
					e->result.stats.num_sync_all_streams));
	gp_emit_objects(json, "released_to_serve", "given_back",
			e->retries.list, e->retries.count,
			sizeof(*e->retries.list));
	gp_emit_objects(json, "released_by_empty_cache", "given_back",
			e->empty_caches.list, e->empty_caches.count,
			sizeof(*e->empty_caches.list));
	gp_emit_object(json, "pending_free", "pending", &e->waiting,
		       GP_EMIT_FLAT);
}

static void write_device(struct gp_emit *json, const struct gp_explanation *x,
			 const struct gp_explain *e)
{
	size_t index = x->first_case + e->device;

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", e->trace->devices[e->device].device);
	gp_emit_rank_of(json, x->ranks, index);
	gp_emit_verdict(json, &x->study->verdicts[index]);
	gp_emit_uint(json, "event", e->event);
	write_request(json, e);
	write_failures(json, e);
	write_attempts(json, e);
	gp_emit_object(json, "floor", "floor_sum", e, GP_EMIT_FLAT);
	write_gap(json, e);
	write_pins(json, e);
	gp_emit_uint(json, "in_use_event", e->live_event);
	gp_emit_holders(json, "in_use", e->trace, &e->live, MOST_CULPRITS);
	gp_emit_owners(json, e);
	gp_emit_holders(json, "pins_now", e->trace, &e->now, MOST_CULPRITS);
	gp_emit_holders(json, "pins_most", e->trace, &e->over_time,
			MOST_CULPRITS);
	write_calls(json, e);
	write_steps(json, &e->steps);
	gp_emit_close(json, '}');
}

void gp_report_explain_json(const struct gp_explanation *explanation, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, explanation->path, explanation->trace);
	gp_emit_ranks(&json, explanation->ranks);
	gp_emit_settings(&json, "settings", explanation->settings);
	gp_emit_release(&json, "torch", explanation->settings->release);
	if (explanation->what_ifs)
		gp_emit_what_ifs(&json, "what_ifs", explanation->what_ifs);
	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < explanation->study->case_count; i++) {
		size_t device = i - explanation->first_case;

		if (i >= explanation->first_case && device < explanation->count)
			write_device(&json, explanation,
				     &explanation->devices[device]);
		else
			gp_emit_rank_verdict(&json, explanation->ranks,
					     explanation->study, i);
	}
	gp_emit_close(&json, ']');
	gp_emit_trials(&json, explanation->study);
	gp_emit_close(&json, '}');
}
