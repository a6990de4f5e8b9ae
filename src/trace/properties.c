/* SPDX-License-Identifier: MIT */
/*
 * Properties of a trace: kinds of events, what was recorded and what was not,
 * whether two traces are equal; and its memory.
 */
#include "gpupool/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/store.h"

/* ---- kinds of events and of guesses: one row each ---- */

struct row {
	const char *name;
	uint8_t fields;
};

#define SEGMENT (GP_HAS_ADDR | GP_HAS_SIZE | GP_HAS_STREAM | GP_HAS_POOL)

static const struct row rows[GP_EVENT_KINDS] = {
	[GP_ALLOC] = { "alloc", GP_HAS_ID | SEGMENT },
	[GP_FREE] = { "free", GP_HAS_ID | GP_HAS_ADDR | GP_HAS_SIZE },
	[GP_RECORD_STREAM] = { "record_stream", GP_HAS_ID | GP_HAS_STREAM },
	[GP_SYNCHRONIZE] = { "synchronize", GP_HAS_ID | GP_HAS_STREAM },
	[GP_EMPTY_CACHE] = { "empty_cache", GP_HAS_POOL },
	[GP_SET_FRACTION] = { "set_memory_fraction", GP_HAS_FRACTION },
	[GP_OTHER_MEMORY] = { "other_memory", GP_HAS_SIZE },
	[GP_POOL_BEGIN] = { "pool_begin", GP_HAS_POOL },
	[GP_POOL_END] = { "pool_end", GP_HAS_POOL },
	[GP_POOL_RELEASE] = { "pool_release", GP_HAS_POOL },
	[GP_POOL_CREATE] = { "pool_create", GP_HAS_POOL },
	[GP_POOL_USE_ON_OOM] = { "pool_use_on_oom", GP_HAS_POOL },
	[GP_POOL_NO_USE_ON_OOM] = { "pool_no_use_on_oom", GP_HAS_POOL },
	[GP_POOL_NO_SPLIT] = { "pool_no_split", GP_HAS_POOL },
	[GP_CAPTURE_BEGIN] = { "capture_begin", GP_HAS_STREAM | GP_HAS_POOL },
	[GP_CAPTURE_END] = { "capture_end", GP_HAS_POOL },
	[GP_SET_SETTINGS] = { "set_allocator_settings", GP_HAS_TEXT },
	[GP_RESET_PEAK] = { "reset_peak_stats", 0 },
	[GP_RESET_ACCUMULATED] = { "reset_accumulated_stats", 0 },
	[GP_MARK] = { "mark", GP_HAS_TEXT | GP_HAS_MARK },
	[GP_SEGMENT_ALLOC] = { "segment_alloc", SEGMENT },
	[GP_SEGMENT_FREE] = { "segment_free", SEGMENT },
	[GP_SEGMENT_MAP] = { "segment_map", SEGMENT },
	[GP_SEGMENT_UNMAP] = { "segment_unmap", SEGMENT },
	[GP_FREE_COMPLETED] = { "free_completed",
				GP_HAS_ID | GP_HAS_ADDR | GP_HAS_SIZE },
	[GP_OOM] = { "oom", SEGMENT },
	[GP_SNAPSHOT] = { "snapshot", GP_HAS_SIZE },
};

const char *gp_event_kind_name(enum gp_event_kind kind)
{
	assert(kind < GP_EVENT_KINDS);
	return rows[kind].name;
}

uint8_t gp_event_fields(enum gp_event_kind kind)
{
	assert(kind < GP_EVENT_KINDS);
	return rows[kind].fields;
}

bool gp_event_is_of_pool(enum gp_event_kind kind)
{
	switch (kind) {
	case GP_POOL_BEGIN:
	case GP_POOL_END:
	case GP_POOL_RELEASE:
	case GP_CAPTURE_BEGIN:
	case GP_CAPTURE_END:
	case GP_POOL_CREATE:
	case GP_POOL_USE_ON_OOM:
	case GP_POOL_NO_USE_ON_OOM:
	case GP_POOL_NO_SPLIT: return true;
	default: return false;
	}
}

bool gp_event_is_growth(enum gp_event_kind kind)
{
	return kind == GP_SEGMENT_ALLOC || kind == GP_SEGMENT_MAP;
}

bool gp_event_is_release(enum gp_event_kind kind)
{
	return kind == GP_SEGMENT_FREE || kind == GP_SEGMENT_UNMAP;
}

#define GUESS(member)                                                          \
	{                                                                      \
#member, offsetof(struct gp_guesses, member)                   \
	}

static const struct gp_guess_row guesses[] = {
	GUESS(start_blocks), GUESS(block_slack), GUESS(segment_order),
	GUESS(empty_caches), GUESS(late_frees),	 GUESS(pool_of_segment),
	GUESS(lost_entries),
};
#define GUESSES (sizeof(guesses) / sizeof(*guesses))
_Static_assert(sizeof(struct gp_guesses) == GUESSES * sizeof(uint64_t),
	       "each guess has its row");

const struct gp_guess_row *gp_guess_table(size_t *count)
{
	*count = GUESSES;
	return guesses;
}

/* ---- what a trace contains ---- */

uint64_t gp_state_reserved(const struct gp_state *state)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < state->segment_count; i++)
		sum += state->segments[i].size;
	return sum;
}

bool gp_trace_has_allocs(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_ALLOC)
			return true;
	return false;
}

bool gp_trace_has_state(const struct gp_device_trace *device)
{
	return device->start.segment_count || device->end.segment_count;
}

bool gp_trace_has_addresses(const struct gp_trace *trace)
{
	for (size_t i = 0; i < trace->device_count; i++) {
		const struct gp_device_trace *t = &trace->devices[i];

		for (size_t k = 0; k < t->event_count; k++)
			if (t->events[k].kind == GP_ALLOC && t->events[k].addr)
				return true;
	}
	return false;
}

uint64_t gp_trace_others(const struct gp_device_trace *device)
{
	uint64_t most = 0;

	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_OTHER_MEMORY &&
		    device->events[i].size > most)
			most = device->events[i].size;
	return most;
}

bool gp_trace_has_start(const struct gp_trace *trace)
{
	for (size_t i = 0; i < trace->device_count; i++)
		if (trace->devices[i].start.segment_count)
			return true;
	return false;
}

const char *gp_trace_conf(const struct gp_trace *trace)
{
	return trace->settings ? trace->settings : "";
}

/* ---- recorded reserved and allocated memory ---- */

/* False: there is no such counter, or it is not a number of bytes. */
static bool find(const struct gp_trace *trace,
		 const struct gp_device_trace *device, const char *key,
		 uint64_t *bytes)
{
	for (size_t i = 0; i < device->counter_count; i++) {
		const struct gp_counter *counter = &device->counters[i];

		if (counter->value < 0 ||
		    strcmp(trace->texts[counter->text], key) != 0)
			continue;
		*bytes = (uint64_t)counter->value;
		return true;
	}
	return false;
}

static bool resets_peaks(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_RESET_PEAK)
			return true;
	return false;
}

struct gp_recorded gp_trace_recorded(const struct gp_trace *trace,
				     uint32_t device)
{
	const struct gp_device_trace *d = &trace->devices[device];
	struct gp_recorded recorded = { 0 };

	if (!d->counter_count)
		return recorded;
	recorded.has_reserved =
		find(trace, d, GP_RECORDED_RESERVED_PEAK, &recorded.reserved);
	recorded.has_allocated =
		find(trace, d, GP_RECORDED_ALLOCATED_PEAK, &recorded.allocated);
	recorded.has_first =
		find(trace, d, GP_RECORDED_RESERVED_FIRST,
		     &recorded.first_reserved) &&
		find(trace, d, GP_RECORDED_ALLOCATED_FIRST,
		     &recorded.first_allocated) &&
		recorded.first_allocated <= recorded.first_reserved;
	/* PyTorch's peaks are those since the program's last reset; those of a
	 * window include what happened before it. */
	if (!trace->is_complete || resets_peaks(d))
		return recorded;
	if (!recorded.has_reserved)
		recorded.has_reserved =
			find(trace, d, "reserved_bytes.all.peak",
			     &recorded.reserved);
	if (!recorded.has_allocated)
		recorded.has_allocated =
			find(trace, d, "allocated_bytes.all.peak",
			     &recorded.allocated);
	return recorded;
}

/* ---- what recordings do not contain, by source ---- */

static const struct {
	const char *source, *unknown;
} sources[] = {
	{ "rmm-log", "pools, blocks that other streams use, other devices, and "
		     "what else took memory; RMM's addresses are not "
		     "PyTorch's" },
	{ "torch-profiler", "streams, pools, segments, OOMs and requested "
			    "sizes: sizes are those of blocks" },
};

const char *gp_trace_unknown(const struct gp_trace *trace)
{
	if (trace->not_told)
		return trace->not_told;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (trace->source && !strcmp(trace->source, sources[i].source))
			return sources[i].unknown;
	return NULL;
}

const char *gp_category_name(enum gp_category category)
{
	static const char *const names[GP_CATEGORIES] = {
		"unknown",   "parameter",	 "buffer",
		"gradient",  "optimizer_state",	 "activation",
		"temporary", "cublas_workspace", "cudnn_workspace",
		"nccl",
	};

	return names[category < GP_CATEGORIES ? category : 0];
}

struct gp_owner gp_trace_owner(const struct gp_trace *trace,
			       const struct gp_device_trace *device,
			       uint32_t id)
{
	if (device->owners && device->owners[id] != GP_NO_OWNER)
		return trace->owners[device->owners[id]];
	return (struct gp_owner){ .module = GP_NO_ID, .type = GP_NO_ID };
}

bool gp_trace_doubts_path(const struct gp_trace *trace)
{
	return trace->values && strcmp(trace->values, GP_VALUES_KNOWN) != 0;
}

/* ---- whether two traces are equal, whatever the order of their tables ---- */

struct pair {
	const struct gp_trace *a, *b;
	const struct gp_device_trace *da, *db;
	uint32_t *twin; /* by site of a: the equal site of b, or none */
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

/* Blocks are the same if they have the same id in the file. */
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
	/* A free's address is that of its block, and may be missing. */
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
	       a->is_expandable == b->is_expandable && a->offset == b->offset &&
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

static bool same_name(const struct pair *p, uint32_t a, uint32_t b)
{
	return a == GP_NO_ID || b == GP_NO_ID
		       ? a == b
		       : !strcmp(p->a->texts[a], p->b->texts[b]);
}

static bool same_owners(const struct pair *p)
{
	if (!p->da->owners && !p->db->owners)
		return true;
	for (uint32_t id = 0; id < p->da->block_ids; id++) {
		struct gp_owner a = gp_trace_owner(p->a, p->da, id);
		struct gp_owner b = gp_trace_owner(p->b, p->db, id);

		if (a.category != b.category ||
		    !same_name(p, a.module, b.module) ||
		    !same_name(p, a.type, b.type))
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
	       same_state(p, &a->end, &b->end) && same_counters(p) &&
	       same_owners(p);
}

static bool same_head(const struct gp_trace *a, const struct gp_trace *b)
{
	return a->device_count == b->device_count &&
	       a->is_complete == b->is_complete &&
	       same_text(a->source, b->source) &&
	       same_text(a->settings, b->settings) &&
	       same_text(a->values, b->values) &&
	       same_text(a->not_told, b->not_told) &&
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

/* ---- memory (store.h) ---- */

struct gp_trace_store *gp_trace_store_create(void)
{
	struct gp_trace_store *store = gp_mem_alloc(1, sizeof(*store));

	store->trace.memory = store;
	return store;
}

struct gp_trace_store *gp_trace_store_derive(const struct gp_trace *trace,
					     struct gp_device_trace **devices)
{
	struct gp_trace_store *store = gp_trace_store_create();
	size_t count = trace->device_count;

	*devices = gp_arena_alloc(&store->arena, count, sizeof(**devices));
	for (size_t i = 0; i < count; i++)
		(*devices)[i] = trace->devices[i];
	store->trace = *trace;
	store->trace.memory = store;
	store->trace.devices = *devices;
	return store;
}

const uint32_t *gp_trace_store_owners(struct gp_arena *arena,
				      const struct gp_device_trace *from,
				      const uint32_t *numbers, uint32_t count)
{
	uint32_t *owners;

	if (!from->owners)
		return NULL;
	owners = gp_arena_alloc(arena, count, sizeof(*owners));
	for (uint32_t i = 0; i < count; i++)
		owners[i] = GP_NO_OWNER;
	for (uint32_t i = 0; i < from->block_ids; i++)
		if (numbers[i] != GP_NO_ID)
			owners[numbers[i]] = from->owners[i];
	return owners;
}

struct gp_trace *gp_trace_share(struct gp_trace *trace)
{
	struct gp_trace_store *store = trace->memory;

	atomic_fetch_add(&store->shares, 1);
	return trace;
}

void gp_trace_destroy(struct gp_trace *trace)
{
	struct gp_trace_store *store;

	if (!trace)
		return;
	store = trace->memory;
	if (atomic_fetch_sub(&store->shares, 1))
		return;
	gp_arena_release(&store->arena);
	gp_intern_release(&store->texts);
	free(store);
}
