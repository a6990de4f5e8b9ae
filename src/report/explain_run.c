/* gpupool explain, for a person: what concerns the whole run. */
#include <stdio.h>

#include "base/bytes.h"
#include "gpupool/price.h"
#include "report/explain_text.h"

/* ---- streams and pools ---- */

static void print_waiting(const struct explain_page *p)
{
	const struct gp_waiting *w = &p->explain->waiting;
	char frees[GP_PLURAL_TEXT], peak[GP_BYTES_TEXT], each[GP_COUNT_TEXT];
	char at[GP_COUNT_TEXT];

	if (!w->frees)
		return;
	gp_page_field(
		&p->page, "Streams",
		"%s waited for another stream (record_stream): up to %s "
		"at once, at event %s; %s MiB x events in all.",
		gp_plural_text(w->frees, "free", frees),
		gp_bytes_text(w->peak, peak), gp_count_text(w->peak_event, at),
		gp_count_text((uint64_t)(w->byte_events / 1048576), each));
}

/* ---- churn ---- */

static void print_churn(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	/* A verification's device is the recording: it makes no calls. */
	const struct gp_device_calls *calls = &e->base_calls;
	double us = gp_price_of(gp_prices_built_in(), calls,
				e->result.stats.num_sync_all_streams);
	char mallocs[GP_COUNT_TEXT], frees[GP_COUNT_TEXT];
	char retries[GP_PLURAL_TEXT], bytes[GP_BYTES_TEXT];

	gp_page_field(
		&p->page, "Churn",
		"%s cudaMalloc or map, %s cudaFree or unmap, about %.1f ms "
		"of calls; %s retried; %s given back to serve a request.",
		gp_count_text((uint64_t)e->result.stats.num_device_alloc,
			      mallocs),
		gp_count_text((uint64_t)e->result.stats.num_device_free, frees),
		us / 1e3,
		gp_plural_text((uint64_t)e->result.stats.num_alloc_retries,
			       "request", retries),
		gp_bytes_text(e->retries.bytes, bytes));
}

static void print_empty_caches(const struct explain_page *p)
{
	const struct gp_releases *r = &p->explain->empty_caches;
	char calls[GP_PLURAL_TEXT], bytes[GP_BYTES_TEXT], paid[GP_BYTES_TEXT];

	if (!r->count)
		return;
	gp_page_field(&p->page, "",
		      "%s of empty_cache gave back %s, of which %s were asked "
		      "for anew %s.",
		      gp_plural_text(r->count, "call", calls),
		      gp_bytes_text(r->bytes, bytes),
		      gp_bytes_text(r->paid_again, paid),
		      p->explain->steps.count ? "within a step"
					      : "before the next one");
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

static void print_growth(const struct explain_page *p)
{
	const struct gp_steps *steps = &p->explain->steps;
	const struct gp_step *from = &steps->list[steps->count / 2];
	const struct gp_step *to = &steps->list[steps->count - 1];
	uint64_t grown = 0, by_class;
	unsigned class = grown_class(from, to, &by_class);
	char bytes[GP_BYTES_TEXT], a[GP_BYTES_TEXT], b[GP_BYTES_TEXT];
	char low[GP_BYTES_TEXT], most[GP_BYTES_TEXT];

	if (to->live_at_end > from->live_at_end)
		grown = to->live_at_end - from->live_at_end;
	if (!grown)
		return;
	gp_page_field(&p->page, "",
		      "What is live at a step's end grew by %s from step %zu "
		      "to %zu (%s to %s), most in blocks of %s and up: %s.",
		      gp_bytes_text(grown, bytes), steps->count / 2 + 1,
		      steps->count, gp_bytes_text(from->live_at_end, a),
		      gp_bytes_text(to->live_at_end, b),
		      gp_bytes_text(UINT64_C(1) << class, low),
		      gp_bytes_text(by_class, most));
}

static void print_drift(const struct explain_page *p)
{
	const struct gp_steps *steps = &p->explain->steps;
	const struct gp_step *first, *last;
	char from[2][GP_BYTES_TEXT], to[2][GP_BYTES_TEXT];
	size_t risen;

	if (!steps->count) {
		gp_page_field(&p->page, "Drift",
			      "no steps found: no marks that come again, and "
			      "the requests have no period.");
		return;
	}
	risen = risen_by(steps);
	first = &steps->list[0];
	last = &steps->list[steps->count - 1];
	gp_page_field(&p->page, "Drift",
		      "%zu steps by %s%s: reserved %s in the first, %s in the "
		      "last, last raised in step %zu; largest gap %s and %s.",
		      steps->count,
		      steps->source == GP_STEPS_MARKS
			      ? *steps->name ? "marks of " : "numbered marks"
			      : "their period",
		      steps->name, gp_bytes_text(first->reserved, from[0]),
		      gp_bytes_text(last->reserved, to[0]), risen + 1,
		      gp_bytes_text(first->gap, from[1]),
		      gp_bytes_text(last->gap, to[1]));
	print_growth(p);
}

void explain_run(const struct explain_page *p)
{
	gp_page_blank(&p->page);
	print_waiting(p);
	print_churn(p);
	print_empty_caches(p);
	print_drift(p);
}
