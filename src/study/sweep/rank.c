/* SPDX-License-Identifier: MIT */
/* Ranking settings. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/sweep/rank.h"

#include "base/larger.h"

/* ---- rows ---- */

/* Whether every request failed with an error rather than for lack of memory. */
static bool serves_nothing(const struct gp_replay_result *result)
{
	return result->allocs && result->dropped == result->allocs &&
	       result->refused && !result->first_oom.is_there;
}

void gp_row_add(struct gp_sweep_row *row, const struct gp_replay_result *result,
		const struct gp_estimate *estimate,
		const struct gp_prices *prices)
{
	const struct gp_oom *oom = &result->first_oom;
	struct gp_sweep_row device = {
		.reserved = result->at_peak.reserved,
		.allocated = result->at_peak.allocated,
		.retries = (uint64_t)result->counts.retries,
		.ooms = result->ooms.count,
		.dropped = result->dropped,
		.first_oom_alloc = oom->is_there ? oom->alloc : 0,
		.first_oom_event = oom->is_there ? oom->event : 0,
		.first_oom_device = oom->is_there ? oom->device : 0,
		.device_allocs = (uint64_t)result->counts.device_allocs,
		.device_time_us = gp_price_whole_us(
			prices, &result->calls, result->counts.synchronizes),
		.devices = 1,
		.cut_events = result->cut_events,
	};

	if (serves_nothing(result))
		snprintf(device.failure, sizeof(device.failure),
			 "no request was served: %s", result->first_refusal);
	else if (result->others.missing && !oom->is_there)
		snprintf(device.failure, sizeof(device.failure),
			 "at event %" PRIu64
			 " others take more of the device than is left",
			 result->others.event);
	if (estimate && estimate->is_there) {
		device.estimated = estimate->reserved;
		device.estimated_low = estimate->low;
		device.estimated_high = estimate->high;
	}
	device.least_reserved = device.reserved;
	gp_row_join(row, &device, 0);
	row->worst = 0;
}

static uint64_t low_of(const struct gp_sweep_row *row)
{
	return row->estimated ? row->estimated_low : row->reserved;
}

static uint64_t high_of(const struct gp_sweep_row *row)
{
	return row->estimated ? row->estimated_high : row->reserved;
}

/* Joins the estimates. To be called before reserved is joined, because a row
 * without an estimate contributes its reserved bytes. */
static void join_estimates(struct gp_sweep_row *row,
			   const struct gp_sweep_row *other)
{
	uint64_t peak = gp_larger(gp_row_peak(row), gp_row_peak(other));
	uint64_t low = gp_larger(low_of(row), low_of(other));
	uint64_t high = gp_larger(high_of(row), high_of(other));

	if (!row->estimated && !other->estimated)
		return;
	row->estimated = peak;
	row->estimated_low = low;
	row->estimated_high = high;
}

void gp_row_join(struct gp_sweep_row *row, const struct gp_sweep_row *other,
		 uint32_t index)
{
	join_estimates(row, other);
	if (!row->devices)
		row->least_reserved = UINT64_MAX;
	if (!row->devices || other->reserved > row->reserved) {
		row->reserved = other->reserved;
		row->allocated = other->allocated;
		row->worst = index;
	}
	if (other->least_reserved < row->least_reserved)
		row->least_reserved = other->least_reserved;
	if (other->ooms && !row->ooms) {
		row->first_oom_alloc = other->first_oom_alloc;
		row->first_oom_event = other->first_oom_event;
		row->first_oom_device = other->first_oom_device;
		row->first_oom_run = index;
	}
	row->retries = gp_larger(row->retries, other->retries);
	row->ooms += other->ooms;
	row->dropped += other->dropped;
	row->device_allocs =
		gp_larger(row->device_allocs, other->device_allocs);
	row->device_time_us =
		gp_larger(row->device_time_us, other->device_time_us);
	row->devices += other->devices;
	if (!*row->failure)
		memcpy(row->failure, other->failure, sizeof(row->failure));
	row->cut_events = gp_larger(row->cut_events, other->cut_events);
}

/* ---- ranking ---- */

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_key(const struct gp_sweep_row *a, const struct gp_sweep_row *b,
		  enum gp_rank_by by)
{
	switch (by) {
	case GP_RANK_RESERVED: return order(gp_row_peak(a), gp_row_peak(b));
	case GP_RANK_GAP: return order(gp_row_gap(a), gp_row_gap(b));
	case GP_RANK_RETRIES: return order(a->retries, b->retries);
	case GP_RANK_TIME: return order(a->device_time_us, b->device_time_us);
	}
	return 0;
}

static int by_numbers(const struct gp_contender *a,
		      const struct gp_contender *b, enum gp_rank_by by)
{
	static const enum gp_rank_by rest[] = { GP_RANK_RESERVED,
						GP_RANK_RETRIES, GP_RANK_TIME };
	int sign = order(a->row->dropped, b->row->dropped);

	if (!sign)
		sign = by_key(a->row, b->row, by);
	for (size_t i = 0; !sign && i < sizeof(rest) / sizeof(*rest); i++)
		sign = by_key(a->row, b->row, rest[i]);
	return sign;
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct gp_contender *a = left, *b = right;
	int sign = by_numbers(a, b, *(const enum gp_rank_by *)arg);

	if (!sign)
		sign = order(gp_conf_length(a->conf), gp_conf_length(b->conf));
	return sign ? sign : order(a->index, b->index);
}

void gp_rank(struct gp_contender *contenders, size_t count, enum gp_rank_by by)
{
	qsort_r(contenders, count, sizeof(*contenders), compare, &by);
}

bool gp_rank_is_tie(const struct gp_contender *a, const struct gp_contender *b)
{
	return !by_numbers(a, b, GP_RANK_GAP) &&
	       a->row->device_allocs == b->row->device_allocs;
}

static bool is_beaten(const struct gp_sweep_row *a,
		      const struct gp_sweep_row *by)
{
	return by->dropped == a->dropped && gp_row_peak(by) <= gp_row_peak(a) &&
	       by->device_time_us <= a->device_time_us &&
	       (gp_row_peak(by) < gp_row_peak(a) ||
		by->device_time_us < a->device_time_us);
}

bool gp_rank_is_front(const struct gp_contender *contenders, size_t count,
		      size_t index)
{
	const struct gp_sweep_row *row = contenders[index].row;

	if (row->dropped != contenders[0].row->dropped)
		return false;
	for (size_t i = 0; i < count; i++)
		if (is_beaten(row, contenders[i].row))
			return false;
	/* Of equal ones, only the first. */
	for (size_t i = 0; i < index; i++)
		if (gp_row_peak(contenders[i].row) == gp_row_peak(row) &&
		    contenders[i].row->device_time_us == row->device_time_us &&
		    contenders[i].row->dropped == row->dropped)
			return false;
	return true;
}
