/* SPDX-License-Identifier: MIT */
/*
 * The requests of a profile.  Its events are in order of threads; here they
 * come in order of time.
 *
 * A profile begins in the middle: what is freed without an allocation was there
 * before, and so was what the first event's sum has more than that, whose parts
 * nobody knows: one block stands for them.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "formats/kineto_record.h"
#include "formats/ledger.h"

#define BEFORE "(before the profile began)"

/* Marks go to each device, of so many at most. */
#define MARKED_DEVICES 16

struct device {
	struct gp_ledger ledger;
	struct gp_map live; /* address -> 1, while looking for what was there */
	uint64_t before;    /* bytes there before the first event */
	uint64_t known;	    /* of these, freed later */
	uint64_t unknown_at; /* an address of no block */
	bool has_first;
	struct gp_recorded told;
	struct gp_guesses guesses;
};

struct requests {
	struct gp_build *build;
	const struct kineto_profile *profile;
	struct gp_diag *diag;
	struct gp_map of_ordinal; /* -> index */
	struct device *devices;
	size_t count, room;
};

static int by_time(const void *a, const void *b)
{
	const struct kineto_record *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static uint64_t time_of(const struct requests *r,
			const struct kineto_record *record)
{
	/* Beyond, nothing is a time, nor an integer. */
	if (!(record->ts > 0 && record->ts < 1e18))
		return r->profile->base_us;
	return r->profile->base_us + (uint64_t)record->ts;
}

static void tell_memory(struct requests *r, uint32_t ordinal, uint32_t device)
{
	const struct kineto_profile *p = r->profile;

	for (size_t i = 0; i < p->memory_count; i++)
		if (p->memory[i].ordinal == ordinal)
			gp_build_total_memory(r->build, device,
					      p->memory[i].bytes);
}

static enum gp_status find_device(struct requests *r, uint32_t ordinal,
				  struct device **device)
{
	uint32_t index = gp_map_get(&r->of_ordinal, ordinal);
	enum gp_status status = GP_OK;
	struct device *made;

	if (index == GP_MAP_NONE) {
		index = (uint32_t)r->count;
		r->devices = gp_mem_grow(r->devices, &r->room, r->count + 1,
					 sizeof(*r->devices));
		made = &r->devices[r->count++];
		*made = (struct device){ .ledger.build = r->build };
		gp_map_put(&r->of_ordinal, ordinal, index);
		status = gp_build_device(r->build, ordinal,
					 &made->ledger.device, r->diag);
		if (status == GP_OK)
			tell_memory(r, ordinal, made->ledger.device);
	}
	*device = &r->devices[index];
	return status;
}

/* ---- what was there before ---- */

static struct gp_event event_of(const struct requests *r,
				const struct kineto_record *record)
{
	return (struct gp_event){
		.addr = record->addr,
		.size = record->size,
		.time_us = time_of(r, record),
		.site = record->site,
	};
}

static void add_before(struct requests *r, struct device *d, uint64_t addr,
		       uint64_t size)
{
	uint32_t text = gp_build_text(r->build, BEFORE, sizeof(BEFORE) - 1);
	struct gp_event event = {
		.addr = addr,
		.size = size,
		.time_us = time_of(r, r->profile->records),
		.site = gp_build_call(r->build, text, GP_NO_SITE),
		.flags = GP_INFERRED,
	};

	gp_ledger_alloc(&d->ledger, &event);
}

static void note_first(struct device *d, const struct kineto_record *record)
{
	if (d->has_first)
		return;
	d->has_first = true;
	if (record->total == UINT64_MAX)
		return;
	if (record->is_free)
		d->before = record->total + record->size;
	else if (record->total > record->size)
		d->before = record->total - record->size;
}

static void raise(bool *has, uint64_t *most, uint64_t value)
{
	if (value == UINT64_MAX)
		return;
	*has = true;
	if (value > *most)
		*most = value;
}

/* What the profile itself counts, behind each event. */
static void note_told(struct gp_recorded *told,
		      const struct kineto_record *record, bool is_first)
{
	raise(&told->has_reserved, &told->reserved, record->reserved);
	raise(&told->has_allocated, &told->allocated, record->total);
	if (!is_first || record->reserved == UINT64_MAX ||
	    record->total == UINT64_MAX)
		return;
	told->has_first = true;
	told->first_reserved = record->reserved;
	told->first_allocated = record->total;
}

static void tell(const struct requests *r, uint32_t device,
		 const struct gp_recorded *told)
{
	const struct {
		const char *name;
		bool is_there;
		uint64_t value;
	} counters[] = {
		{ GP_RECORDED_RESERVED_PEAK, told->has_reserved,
		  told->reserved },
		{ GP_RECORDED_ALLOCATED_PEAK, told->has_allocated,
		  told->allocated },
		{ GP_RECORDED_RESERVED_FIRST, told->has_first,
		  told->first_reserved },
		{ GP_RECORDED_ALLOCATED_FIRST, told->has_first,
		  told->first_allocated },
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		if (counters[i].is_there && counters[i].value <= INT64_MAX)
			gp_build_counter(r->build, device, counters[i].name,
					 (int64_t)counters[i].value);
}

static enum gp_status look_back(struct requests *r,
				const struct kineto_record *record)
{
	struct device *d;
	enum gp_status status = find_device(r, record->device, &d);

	if (status != GP_OK)
		return status;
	note_told(&d->told, record, !d->has_first);
	note_first(d, record);
	if (!record->is_free) {
		gp_map_put(&d->live, record->addr, 1);
	} else if (gp_map_take(&d->live, record->addr) == GP_MAP_NONE) {
		add_before(r, d, record->addr, record->size);
		d->known += record->size;
	}
	if (record->addr >= d->unknown_at)
		d->unknown_at = record->addr + 1;
	return GP_OK;
}

static void finish_before(struct requests *r, struct device *d)
{
	if (d->before > d->known && d->unknown_at)
		add_before(r, d, d->unknown_at, d->before - d->known);
	d->guesses.start_blocks = d->ledger.names;
}

/* ---- all of it ---- */

static void push_mark(struct requests *r, const struct kineto_record *record)
{
	struct gp_event event = {
		.kind = GP_MARK,
		.mark = record->kind == KINETO_STEP ? GP_MARK_START
						    : GP_MARK_END,
		.text = record->text,
		.time_us = time_of(r, record),
		.site = GP_NO_SITE,
	};

	for (size_t i = 0; i < r->count && r->count <= MARKED_DEVICES; i++)
		gp_build_event(r->build, r->devices[i].ledger.device, &event,
			       0);
}

static void push_memory(struct requests *r, const struct kineto_record *record)
{
	uint32_t index = gp_map_get(&r->of_ordinal, record->device);
	struct gp_ledger *ledger = &r->devices[index].ledger;
	struct gp_event event = event_of(r, record);

	if (record->is_free)
		gp_ledger_free(ledger, &event);
	else
		gp_ledger_alloc(ledger, &event);
}

static enum gp_status request(struct requests *r)
{
	const struct kineto_record *records = r->profile->records;
	size_t count = r->profile->count;
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < count && status == GP_OK; i++)
		if (records[i].kind == KINETO_MEMORY)
			status = look_back(r, &records[i]);
	if (status != GP_OK)
		return status;
	for (size_t i = 0; i < r->count; i++)
		finish_before(r, &r->devices[i]);
	for (size_t i = 0; i < count; i++) {
		if (records[i].kind == KINETO_MEMORY)
			push_memory(r, &records[i]);
		else
			push_mark(r, &records[i]);
	}
	for (size_t i = 0; i < r->count; i++) {
		struct device *d = &r->devices[i];

		d->guesses.lost_entries = d->ledger.lost;
		gp_build_guesses(r->build, d->ledger.device, &d->guesses);
		tell(r, d->ledger.device, &d->told);
	}
	return GP_OK;
}

enum gp_status kineto_request(struct gp_build *build,
			      const struct kineto_profile *profile,
			      struct gp_diag *diag)
{
	struct requests r = { .build = build,
			      .profile = profile,
			      .diag = diag };
	enum gp_status status;

	if (profile->count)
		qsort(profile->records, profile->count,
		      sizeof(*profile->records), by_time);
	status = request(&r);
	for (size_t i = 0; i < r.count; i++) {
		gp_ledger_release(&r.devices[i].ledger);
		gp_map_release(&r.devices[i].live);
	}
	free(r.devices);
	gp_map_release(&r.of_ordinal);
	return status;
}
