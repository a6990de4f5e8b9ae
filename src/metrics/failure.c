/* SPDX-License-Identifier: MIT */
/* Requests without memory: was it fragmentation, or is there too little? */
#include "metrics/failure.h"

#include <stdlib.h>

#include "base/mem.h"

static bool fails(const struct gp_attempt *attempt, uint64_t event)
{
	for (size_t i = 0; i < attempt->oom_event_count; i++)
		if (attempt->oom_events[i] >= event)
			return attempt->oom_events[i] == event;
	return false;
}

bool attempt_serves(const struct gp_attempt *attempt,
		    const struct gp_attempt *base, uint64_t event)
{
	size_t k = 0;

	for (size_t i = 0; i < attempt->oom_event_count; i++) {
		uint64_t failed = attempt->oom_events[i];

		if (failed > event)
			break;
		while (k < base->oom_event_count &&
		       base->oom_events[k] < failed)
			k++;
		if (failed == event || k == base->oom_event_count ||
		    base->oom_events[k] != failed)
			return false;
	}
	return true;
}

static uint64_t available(const struct gp_oom *oom)
{
	uint64_t device = oom->reserved + oom->device_free;

	return oom->limit < device ? oom->limit : device;
}

/* Capacity comes first: what does not fit as a whole fits in no order. */
static struct gp_failure judge(const struct gp_explain *explain,
			       const struct gp_oom *oom, uint64_t dropped)
{
	struct gp_failure f = { .needed = oom->live + dropped + oom->size,
				.available = available(oom) };
	/* Where the run itself does not fail on the simulated device, what is
	 * tried there proves nothing. */
	bool is_proof = fails(&explain->base, oom->event);

	f.verdict = GP_TOO_SMALL;
	if (f.needed > f.available)
		return f;
	for (; is_proof && f.trial < explain->trial_count; f.trial++)
		if (explain->trials[f.trial].is_proof &&
		    attempt_serves(&explain->trials[f.trial], &explain->base,
				   oom->event)) {
			f.verdict = GP_FRAGMENTED;
			return f;
		}
	if (oom->cause != GP_CAUSE_CAPACITY)
		f.verdict = GP_FRAGMENTED_STILL;
	return f;
}

/* What failed earlier and would be live by now. */
struct dropped {
	uint64_t *sizes; /* by id */
	uint64_t bytes, event;
};

static void pass(struct dropped *d, const struct gp_event *events, uint64_t to)
{
	for (; d->bytes && d->event < to; d->event++) {
		const struct gp_event *e = &events[d->event];

		if (e->kind != GP_FREE)
			continue;
		d->bytes -= d->sizes[e->id];
		d->sizes[e->id] = 0;
	}
	d->event = to;
}

/* What the recording did not serve either, its program went on without. */
static void drop(struct dropped *d, const struct gp_event *e)
{
	if (e->flags & GP_REFUSED || e->id == GP_NO_ID)
		return;
	d->sizes[e->id] = e->size;
	d->bytes += e->size;
}

void failures_judge(struct gp_explain *explain)
{
	const struct gp_ooms *ooms = &explain->result.ooms;
	const struct gp_device_trace *device =
		&explain->trace->devices[explain->device];
	struct dropped d = { gp_mem_alloc(device->block_ids + 1, 8), 0, 0 };

	explain->failures =
		gp_mem_alloc(ooms->kept + 1, sizeof(*explain->failures));
	explain->failure_count = ooms->kept;
	for (size_t i = 0; i < ooms->kept; i++) {
		const struct gp_oom *oom = &ooms->list[i];

		pass(&d, device->events, oom->event);
		explain->failures[i] = judge(explain, oom, d.bytes);
		drop(&d, &device->events[oom->event]);
	}
	free(d.sizes);
	if (!ooms->kept)
		return;
	explain->verdict = explain->failures[0].verdict;
	explain->needed = explain->failures[0].needed;
	explain->available = explain->failures[0].available;
}
