/* SPDX-License-Identifier: MIT */
/* Requests that found no memory: whether live memory leaves room for them at
 * all. */
#include "study/metrics/failure.h"

#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"

static uint64_t available(const struct gp_oom *oom)
{
	uint64_t device = oom->reserved + oom->device_free;

	return oom->limit < device ? oom->limit : device;
}

static uint64_t rounded(uint64_t size)
{
	return gp_round_up(size, GP_MIN_BLOCK_SIZE);
}

/* Requests that failed earlier and would be live now. */
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

/* Requests that also failed in the recording do not count: the program
 * continued without them. */
static void drop(struct dropped *d, const struct gp_event *e)
{
	if (e->flags & GP_REFUSED || e->id == GP_NO_ID)
		return;
	d->sizes[e->id] = rounded(e->size);
	d->bytes += d->sizes[e->id];
}

static struct gp_failure judge(const struct gp_oom *oom, uint64_t dropped)
{
	struct gp_failure f = { .needed = oom->live + dropped +
					  rounded(oom->size),
				.available = available(oom) };

	f.is_too_small = f.needed > f.available;
	return f;
}

void failures_judge(struct gp_explain *explain)
{
	const struct gp_ooms *ooms = &explain->result.ooms;
	const struct gp_device_trace *device =
		&explain->trace->devices[explain->device];
	struct dropped d = { .sizes = gp_mem_alloc(device->block_ids, 8) };

	explain->failures =
		gp_mem_alloc(ooms->kept, sizeof(*explain->failures));
	explain->failure_count = ooms->kept;
	for (size_t i = 0; i < ooms->kept; i++) {
		const struct gp_oom *oom = &ooms->list[i];

		pass(&d, device->events, oom->event);
		explain->failures[i] = judge(oom, d.bytes);
		drop(&d, &device->events[oom->event]);
	}
	free(d.sizes);
}
