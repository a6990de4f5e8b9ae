/* SPDX-License-Identifier: MIT */
/*
 * The allocator reports a free and its completion as two entries, but they are
 * one event if one directly follows the other. So a free is held back until the
 * next entry.
 */
#include "simcuda/program/entries.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "simcuda/simcuda.h"
#include "simcuda/kept.h"
#include "simcuda/process.h"
#include "simcuda/program/exchange.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/journal.h"
#include "simcuda/program/owners.h"
#include "simcuda/stream.h"

struct device {
	struct gp_map ids;	  /* address -> id, live and waiting */
	struct gp_map on_streams; /* id -> 1: used on other streams */
	uint32_t next_id;
	bool has_context;
	bool has_free; /* a free_requested is held back */
	uint64_t free_addr;
	uint32_t free_owner; /* its owner; NO_OWNER: known already */
	/* Blocks whose completion the request being served waits for. */
	uint32_t *awaited;
	size_t awaited_count, awaited_room;
};

static struct device devices[SIMCUDA_MOST_DEVICES];

void entries_put(const char *format, ...)
{
	char line[1024];
	va_list arguments;
	size_t length;
	int n;

	va_start(arguments, format);
	length = print_fast(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (!length) {
		va_start(arguments, format);
		n = vsnprintf(line, sizeof(line), format, arguments);
		va_end(arguments);
		length = n > 0 && (size_t)n < sizeof(line) ? (size_t)n : 0;
	}
	journal_put(line, length);
}

static bool has_times;

void entries_with_times(void)
{
	has_times = true;
}

/* In microseconds, starting at 1, as 0 means no time. */
static void put_time(void)
{
	uint64_t ns;

	process_lock();
	ns = streams_time_ns();
	process_unlock();
	entries_put(",\"time\":%" PRIu64, ns / 1000 + 1);
}

static void begin(const char *op, int device)
{
	entries_put("{\"op\":\"%s\"", op);
	if (device)
		entries_put(",\"device\":%d", device);
	if (has_times)
		put_time();
}

static void put_where(const struct entry *e)
{
	if (e->stream)
		entries_put(",\"stream\":%" PRIu64, e->stream);
	if (e->pool[0] || e->pool[1])
		entries_put(",\"pool\":[%" PRIu64 ",%" PRIu64 "]", e->pool[0],
			    e->pool[1]);
}

/* For a request inside a capture or a pool_begin, which decide its pool. */
static void put_request_where(const struct entry *e)
{
	struct entry named = *e;

	if (e->is_routed)
		named.pool[0] = named.pool[1] = 0;
	put_where(&named);
}

static void put_site(const struct entry *e)
{
	if (e->site != NO_SITE)
		entries_put(",\"site\":%" PRIu32, e->site - 1);
}

static void put_owner(uint32_t owner)
{
	if (owner != NO_OWNER)
		entries_put(",\"owner\":%u", owner);
}

/* A free that does not complete at once is of a block that other streams use,
 * even if that use was not seen. The free of such a block does not complete at
 * once even if its completion is the next entry. */
static void put_free(struct device *d, int device, bool is_at_once)
{
	uint32_t id = gp_map_get(&d->ids, d->free_addr);

	d->has_free = false;
	if (id == GP_MAP_NONE)
		return;
	if (!is_at_once && gp_map_get(&d->on_streams, id) == GP_MAP_NONE) {
		begin("record_stream", device);
		entries_put(",\"id\":%u,\"inferred\":true}\n", id);
	}
	begin("free", device);
	entries_put(",\"id\":%u%s", id, is_at_once ? "" : ",\"at_once\":false");
	put_owner(d->free_owner);
	entries_put("}\n");
	gp_map_take(&d->on_streams, id);
}

static void settle(struct device *d, int device)
{
	if (d->has_free)
		put_free(d, device, false);
}

static void put_complete(int device, uint32_t id)
{
	begin("synchronize", device);
	entries_put(",\"id\":%u}\n", id);
}

/* After a request: what it waited for is complete, even if a replay serves it
 * without waiting. */
static void put_awaited(struct device *d, int device)
{
	for (size_t i = 0; i < d->awaited_count; i++)
		put_complete(device, d->awaited[i]);
	d->awaited_count = 0;
}

static void completed(struct device *d, const struct entry *e)
{
	uint32_t id = gp_map_get(&d->ids, e->addr);
	bool is_at_once = d->has_free && d->free_addr == e->addr &&
			  gp_map_get(&d->on_streams, id) == GP_MAP_NONE;

	if (is_at_once)
		put_free(d, e->device, true);
	else
		settle(d, e->device);
	gp_map_take(&d->ids, e->addr);
	process_lock();
	kept_end_block(e->addr);
	process_unlock();
	if (is_at_once || id == GP_MAP_NONE)
		return;
	if (streams_have_waited()) {
		GP_GROW(d->awaited, d->awaited_count + 1, d->awaited_room);
		d->awaited[d->awaited_count++] = id;
	} else {
		put_complete(e->device, id);
	}
	begin("free_completed", e->device);
	entries_put(",\"id\":%u}\n", id);
}

/* Bytes that a block's previous owner left do not count as the next one's. */
static void forget_bytes(const struct entry *e)
{
	exchange_forget(e->addr, e->size);
	process_lock();
	kept_begin_block(e->addr, e->size);
	process_unlock();
}

static void allocated(struct device *d, const struct entry *e)
{
	uint32_t id = d->next_id++;
	uint32_t owner = owners_made(e->device, id, e->addr, e->size);

	forget_bytes(e);
	gp_map_put(&d->ids, e->addr, id);
	begin("alloc", e->device);
	entries_put(",\"id\":%u,\"size\":%" PRIu64 ",\"addr\":%" PRIu64, id,
		    e->size, e->addr);
	put_request_where(e);
	put_site(e);
	put_owner(owner);
	entries_put(e->is_restored ? ",\"restored\":true}\n" : "}\n");
}

/* The entry has the rounded size. */
static void refused(struct device *d, const struct entry *e)
{
	begin("oom", e->device);
	entries_put(",\"size\":%" PRIu64 ",\"device_free\":%" PRIu64, e->size,
		    e->addr);
	put_where(e);
	entries_put("}\n");
	begin("alloc", e->device);
	entries_put(",\"id\":%u,\"size\":%" PRIu64 ",\"refused\":true",
		    d->next_id++, e->asked ? e->asked : e->size);
	put_request_where(e);
	put_site(e);
	entries_put("}\n");
}

static void segment(const char *op, const struct entry *e)
{
	begin(op, e->device);
	entries_put(",\"addr\":%" PRIu64 ",\"size\":%" PRIu64, e->addr,
		    e->size);
	put_where(e);
	entries_put("}\n");
}

/* Memory that the context takes on the device, before the first request. */
static void put_context(struct device *d, int device)
{
	if (d->has_context || !process.context_bytes || process.is_boundless)
		return;
	d->has_context = true;
	begin("other_memory", device);
	entries_put(",\"bytes\":%" PRIu64 "}\n", process.context_bytes);
}

void entries_write(const struct entry *e)
{
	struct device *d = &devices[e->device];

	put_context(d, e->device);
	if (e->action == FREE_COMPLETED) {
		completed(d, e);
		return;
	}
	settle(d, e->device);
	switch ((enum action)e->action) {
	case ALLOC:
		allocated(d, e);
		put_awaited(d, e->device);
		break;
	case FREE_REQUESTED:
		put_awaited(d, e->device);
		d->has_free = true;
		d->free_addr = e->addr;
		d->free_owner = owners_freed(e->addr);
		break;
	case SEGMENT_ALLOC: segment("segment_alloc", e); break;
	case SEGMENT_FREE: segment("segment_free", e); break;
	case SEGMENT_MAP: segment("segment_map", e); break;
	case SEGMENT_UNMAP: segment("segment_unmap", e); break;
	case OOM:
		refused(d, e);
		put_awaited(d, e->device);
		break;
	case FREE_COMPLETED:
	case SNAPSHOT: break;
	}
}

bool entries_device_is_used(int device)
{
	return devices[device].next_id > 0;
}

void entries_begin(const char *op, int device)
{
	settle(&devices[device], device);
	put_awaited(&devices[device], device);
	begin(op, device);
}

void entries_settle(int device)
{
	settle(&devices[device], device);
}

static bool find_block(uint64_t addr, int *device, uint32_t *id)
{
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++) {
		*id = gp_map_get(&devices[i].ids, addr);
		*device = i;
		if (*id != GP_MAP_NONE)
			return true;
	}
	return false;
}

void entries_record_stream(uint64_t addr, uint64_t stream)
{
	uint32_t id;
	int device;

	if (!find_block(addr, &device, &id))
		return;
	settle(&devices[device], device);
	begin("record_stream", device);
	entries_put(",\"id\":%u,\"stream\":%" PRIu64 "}\n", id, stream);
	gp_map_put(&devices[device].on_streams, id, 1);
}
