/* SPDX-License-Identifier: MIT */
/* The events of a device as gpupool-trace JSON, one object each. */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/write.h"

/* What each block was allocated with: frees that say the same say nothing. */
struct place {
	uint64_t addr, size;
};

static struct place *start_places(const struct gp_device_trace *device)
{
	struct place *places = gp_mem_alloc(device->block_ids, sizeof(*places));
	size_t i;

	for (i = 0; i < device->start.block_count; i++) {
		const struct gp_block *block = &device->start.blocks[i];

		if (block->id != GP_NO_ID)
			places[block->id] =
				(struct place){ block->addr, block->requested };
	}
	return places;
}

void gp_write_pool(struct gp_sink *sink, const char *key,
		   struct gp_pool_id pool)
{
	gp_sink_bytes(sink, ",\"", 2);
	gp_sink_put(sink, key);
	gp_sink_bytes(sink, "\":[", 3);
	gp_sink_number(sink, pool.first);
	gp_sink_bytes(sink, ",", 1);
	gp_sink_number(sink, pool.second);
	gp_sink_bytes(sink, "]", 1);
}

static void write_addr_size(struct gp_sink *sink, const struct gp_event *event,
			    const struct place *places)
{
	const struct place *place = NULL;
	uint8_t has = gp_event_fields(event->kind);

	if ((event->kind == GP_FREE || event->kind == GP_FREE_COMPLETED) &&
	    event->id != GP_NO_ID)
		place = &places[event->id];
	if (event->kind == GP_OTHER_MEMORY)
		gp_sink_field(sink, "bytes", event->size);
	else if (has & GP_HAS_SIZE && !(place && place->size == event->size))
		gp_sink_field(sink, "size", event->size);
	if (event->kind == GP_OOM)
		gp_sink_field(sink, "device_free", event->addr);
	else if (has & GP_HAS_ADDR && event->addr &&
		 !(place && place->addr == event->addr))
		gp_sink_field(sink, "addr", event->addr);
}

/* Stream 0 and pool [0, 0] go without saying, except where none would mean
 * another thing. */
static void write_stream_pool(struct gp_sink *sink,
			      const struct gp_trace *trace,
			      const struct gp_event *event)
{
	uint8_t has = gp_event_fields(event->kind);
	bool is_plain = event->kind != GP_SYNCHRONIZE &&
			event->kind != GP_RECORD_STREAM &&
			!(event->flags & GP_NAMES_STREAM);
	bool is_about_pool =
		event->kind >= GP_POOL_BEGIN && event->kind <= GP_POOL_NO_SPLIT;

	if (has & GP_HAS_STREAM && event->stream < GP_NO_STREAM &&
	    (!is_plain || trace->streams[event->stream]))
		gp_sink_field(sink, "stream", trace->streams[event->stream]);
	if (event->flags & GP_STREAM_WAITS)
		gp_sink_field(sink, "by", trace->streams[event->by]);
	if (has & GP_HAS_POOL && (is_about_pool || event->pool))
		gp_write_pool(sink, "pool", trace->pools[event->pool]);
}

static void write_rest(struct gp_sink *sink, const struct gp_trace *trace,
		       const struct gp_event *event)
{
	uint8_t has = gp_event_fields(event->kind);

	if (has & GP_HAS_FRACTION) {
		gp_sink_put(sink, ",\"fraction\":");
		gp_sink_ratio(sink, event->fraction);
	}
	if (has & GP_HAS_TEXT) {
		gp_sink_put(sink, event->kind == GP_MARK ? ",\"name\":"
							 : ",\"conf\":");
		gp_sink_string(sink, trace->texts[event->text]);
	}
	if (event->kind == GP_MARK && event->mark)
		gp_sink_put(sink, event->mark == GP_MARK_START
					  ? ",\"stage\":\"start\""
					  : ",\"stage\":\"end\"");
	if (event->time_us)
		gp_sink_field(sink, "time", event->time_us);
	if (event->site != GP_NO_SITE)
		gp_sink_field(sink, "site", event->site);
}

static void write_flags(struct gp_sink *sink, const struct gp_event *event,
			const struct gp_event_style *style)
{
	bool is_at_once = event->flags & GP_AT_ONCE;

	if (event->flags & GP_INFERRED)
		gp_sink_put(sink, ",\"inferred\":true");
	if (event->flags & GP_REFUSED)
		gp_sink_put(sink, ",\"refused\":true");
	if (event->flags & GP_RESTORED)
		gp_sink_put(sink, ",\"restored\":true");
	if (event->kind == GP_FREE && is_at_once != style->frees_are_at_once)
		gp_sink_put(sink, is_at_once ? ",\"at_once\":true"
					     : ",\"at_once\":false");
}

void gp_write_events(struct gp_sink *sink, const struct gp_trace *trace,
		     const struct gp_device_trace *device,
		     const struct gp_event_style *style)
{
	struct place *places = start_places(device);
	size_t i;

	for (i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];
		bool has_id = gp_event_fields(event->kind) & GP_HAS_ID &&
			      event->id != GP_NO_ID;

		if (i)
			gp_sink_put(sink, style->separator);
		gp_sink_put(sink, "{\"op\":\"");
		gp_sink_put(sink, gp_event_kind_name(event->kind));
		gp_sink_put(sink, "\"");
		if (style->names_device)
			gp_sink_field(sink, "device", device->device);
		if (has_id)
			gp_sink_field(sink, "id",
				      device->names ? device->names[event->id]
						    : event->id);
		write_addr_size(sink, event, places);
		write_stream_pool(sink, trace, event);
		write_rest(sink, trace, event);
		write_flags(sink, event, style);
		gp_sink_put(sink, "}");
		if (event->kind == GP_ALLOC)
			places[event->id] =
				(struct place){ event->addr, event->size };
	}
	free(places);
}
