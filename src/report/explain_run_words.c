/* SPDX-License-Identifier: MIT */
/* What gpupool explain says of the whole run, in words. */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "gpupool/price.h"
#include "report/explain_words.h"
#include "report/page.h"

/* ---- streams and pools ---- */

struct explain_words explain_waiting(const struct gp_explain *e)
{
	struct explain_words words = { 0 };
	const struct gp_waiting *w = &e->waiting;
	char frees[GP_PLURAL_TEXT], peak[GP_BYTES_TEXT], each[GP_COUNT_TEXT];
	char at[GP_EVENT_TEXT];

	if (!w->frees)
		return words;
	snprintf(words.text, EXPLAIN_WORDS,
		 "%s pending, for another stream (record_stream): up to %s "
		 "at once, at %s; %s MiB x events in all.",
		 gp_plural_text(w->frees, "free", frees),
		 gp_bytes_text(w->peak, peak),
		 gp_event_words_in(e->trace, e->device, &e->steps,
				   w->peak_event, at),
		 gp_count_text((uint64_t)(w->byte_events / 1048576), each));
	return words;
}

/* ---- driver calls ---- */

struct explain_words explain_calls(const struct gp_explain *e)
{
	struct explain_words words = { 0 };
	/* A verification's device is the recording: it makes no calls. */
	const struct gp_device_calls *calls = &e->base_calls;
	double us = gp_price_of(gp_prices_built_in(), calls,
				e->result.stats.num_sync_all_streams);
	char mallocs[GP_COUNT_TEXT], frees[GP_COUNT_TEXT];
	char retries[GP_PLURAL_TEXT], bytes[GP_BYTES_TEXT];
	uint64_t given = e->retries.bytes;

	snprintf(
		words.text, EXPLAIN_WORDS,
		"%s cudaMalloc or map, %s cudaFree or unmap: driver calls of "
		"about %.1f ms; %s retried%s%s%s.",
		gp_count_text((uint64_t)e->result.stats.num_device_alloc,
			      mallocs),
		gp_count_text((uint64_t)e->result.stats.num_device_free, frees),
		us / 1e3,
		gp_plural_text((uint64_t)e->result.stats.num_alloc_retries,
			       "request", retries),
		given ? ", " : "", given ? gp_bytes_text(given, bytes) : "",
		given ? " given back to serve requests" : "");
	return words;
}

struct explain_words explain_caches(const struct gp_explain *e)
{
	struct explain_words words = { 0 };
	const struct gp_releases *r = &e->empty_caches;
	char calls[GP_PLURAL_TEXT], bytes[GP_BYTES_TEXT], paid[GP_BYTES_TEXT];

	if (!r->count)
		return words;
	snprintf(words.text, EXPLAIN_WORDS,
		 "%s of empty_cache gave back %s, of which %s were asked "
		 "for anew %s.",
		 gp_plural_text(r->count, "call", calls),
		 gp_bytes_text(r->bytes, bytes),
		 gp_bytes_text(r->paid_again, paid),
		 e->steps.count ? "within a step" : "before the next one");
	return words;
}

/* ---- drift ---- */

/* From which step on nothing rises any more. */
static size_t risen_by(const struct gp_steps *steps)
{
	uint64_t most = 0;
	size_t at = 0;

	for (size_t i = 0; i < steps->count; i++)
		if (steps->list[i].reserved > most) {
			most = steps->list[i].reserved;
			at = i;
		}
	return at;
}

/* The size class whose live bytes grew most in the second half. */
static unsigned grown_class(const struct gp_step *from,
			    const struct gp_step *to, uint64_t *bytes)
{
	unsigned class = 0;

	*bytes = 0;
	for (unsigned i = 0; i < GP_SIZE_CLASSES; i++)
		if (to->by_class[i] > from->by_class[i] &&
		    to->by_class[i] - from->by_class[i] > *bytes) {
			*bytes = to->by_class[i] - from->by_class[i];
			class = i;
		}
	return class;
}

struct explain_words explain_growth(const struct gp_explain *e)
{
	struct explain_words words = { 0 };
	const struct gp_steps *steps = &e->steps;
	const struct gp_step *from, *to;
	uint64_t grown = 0, by_class;
	unsigned class;
	char bytes[GP_BYTES_TEXT], a[GP_BYTES_TEXT], b[GP_BYTES_TEXT];
	char low[GP_BYTES_TEXT], most[GP_BYTES_TEXT];

	if (!steps->count)
		return words;
	from = &steps->list[steps->count / 2];
	to = &steps->list[steps->count - 1];
	class = grown_class(from, to, &by_class);
	if (to->live_at_end > from->live_at_end)
		grown = to->live_at_end - from->live_at_end;
	if (!grown)
		return words;
	snprintf(words.text, EXPLAIN_WORDS,
		 "What is live at a step's end grew by %s from step %" PRIu64
		 " to %" PRIu64 " (%s to %s), most in blocks of %s and up: %s.",
		 gp_bytes_text(grown, bytes),
		 gp_step_number(e->trace, e->device, steps, steps->count / 2),
		 gp_step_number(e->trace, e->device, steps, steps->count - 1),
		 gp_bytes_text(from->live_at_end, a),
		 gp_bytes_text(to->live_at_end, b),
		 gp_bytes_text(UINT64_C(1) << class, low),
		 gp_bytes_text(by_class, most));
	return words;
}

struct explain_words explain_drift(const struct gp_explain *e)
{
	struct explain_words words = { 0 };
	const struct gp_steps *steps = &e->steps;
	const struct gp_step *first, *last;
	char from[2][GP_BYTES_TEXT], to[2][GP_BYTES_TEXT];
	size_t risen;

	if (!steps->count) {
		snprintf(words.text, EXPLAIN_WORDS,
			 "no steps found: no marks that come again, and "
			 "the requests have no period.");
		return words;
	}
	risen = risen_by(steps);
	first = &steps->list[0];
	last = &steps->list[steps->count - 1];
	snprintf(words.text, EXPLAIN_WORDS,
		 "%zu steps by %s%s: reserved %s in the first, %s in the "
		 "last, last raised in step %" PRIu64
		 "; largest gap %s and %s.",
		 steps->count,
		 steps->source == GP_STEPS_MARKS
			 ? *steps->name ? "marks of " : "numbered marks"
			 : "their period",
		 steps->name, gp_bytes_text(first->reserved, from[0]),
		 gp_bytes_text(last->reserved, to[0]),
		 gp_step_number(e->trace, e->device, steps, risen),
		 gp_bytes_text(first->gap, from[1]),
		 gp_bytes_text(last->gap, to[1]));
	return words;
}
