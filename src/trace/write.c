/* SPDX-License-Identifier: MIT */
/* Writing traces: gpupool-trace as JSON and as JSON Lines, gpupool-trace(5). */
#include "gpupool/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/binary.h"

/*
 * ---- output ----
 *
 * JSON's numbers and strings are written to a buffer, which is written to a
 * stream. Errors remain in the stream's error indicator, which is checked at
 * the end.
 */

#define SINK_BYTES 65536

struct sink {
	FILE *out;
	size_t used;
	char buffer[SINK_BYTES];
};

static void sink_flush(struct sink *sink)
{
	fwrite(sink->buffer, 1, sink->used, sink->out);
	sink->used = 0;
}

static void sink_bytes(struct sink *sink, const char *bytes, size_t length)
{
	if (length > SINK_BYTES - sink->used)
		sink_flush(sink);
	if (length > SINK_BYTES) {
		fwrite(bytes, 1, length, sink->out);
		return;
	}
	memcpy(sink->buffer + sink->used, bytes, length);
	sink->used += length;
}

static void sink_put(struct sink *sink, const char *text)
{
	sink_bytes(sink, text, strlen(text));
}

static void sink_number(struct sink *sink, uint64_t number)
{
	char text[20]; /* digits of 2^64 - 1 */
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	sink_bytes(sink, text + at, sizeof(text) - at);
}

static void sink_ratio(struct sink *sink, double ratio)
{
	char text[40];
	int length = snprintf(text, sizeof(text), "%.17g", ratio);

	sink_bytes(sink, text, (size_t)length);
}

static void sink_string(struct sink *sink, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	char escape[] = "\\u0000";
	const char *from = text;

	sink_bytes(sink, "\"", 1);
	for (; *text; text++) {
		if ((unsigned char)*text >= ' ' && *text != '"' &&
		    *text != '\\')
			continue;
		sink_bytes(sink, from, (size_t)(text - from));
		from = text + 1;
		escape[4] = hex[(unsigned char)*text >> 4];
		escape[5] = hex[(unsigned char)*text & 15];
		sink_bytes(sink, escape, 6);
	}
	sink_bytes(sink, from, (size_t)(text - from));
	sink_bytes(sink, "\"", 1);
}

/* ,"key":number */
static void sink_field(struct sink *sink, const char *key, uint64_t number)
{
	sink_bytes(sink, ",\"", 2);
	sink_put(sink, key);
	sink_bytes(sink, "\":", 2);
	sink_number(sink, number);
}

/* ---- the events of a device, one JSON object each ---- */

/* How the events of a device are written. */
struct event_style {
	const char *separator;	/* between two events */
	bool names_device;	/* each event has its device */
	bool frees_are_at_once; /* unless an event says otherwise */
};

/* The address and size of a block's allocation: frees with the same values omit
 * them. */
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

/* Writes "key":[first,second] for a pool, after a comma. */
static void write_pool(struct sink *sink, const char *key,
		       struct gp_pool_id pool)
{
	sink_bytes(sink, ",\"", 2);
	sink_put(sink, key);
	sink_bytes(sink, "\":[", 3);
	sink_number(sink, pool.first);
	sink_bytes(sink, ",", 1);
	sink_number(sink, pool.second);
	sink_bytes(sink, "]", 1);
}

static void write_addr_size(struct sink *sink, const struct gp_event *event,
			    const struct place *places)
{
	const struct place *place = NULL;
	uint8_t has = gp_event_fields(event->kind);

	if ((event->kind == GP_FREE || event->kind == GP_FREE_COMPLETED) &&
	    event->id != GP_NO_ID)
		place = &places[event->id];
	if (event->kind == GP_OTHER_MEMORY)
		sink_field(sink, "bytes", event->size);
	else if (has & GP_HAS_SIZE && !(place && place->size == event->size))
		sink_field(sink, "size", event->size);
	if (event->kind == GP_OOM)
		sink_field(sink, "device_free", event->addr);
	else if (has & GP_HAS_ADDR &&
		 (event->addr || event->kind >= GP_FIRST_OUTCOME) &&
		 !(place && place->addr == event->addr))
		sink_field(sink, "addr", event->addr);
}

/* Stream 0 and pool [0, 0] are omitted, unless their absence has another
 * meaning. */
static void write_stream_pool(struct sink *sink, const struct gp_trace *trace,
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
		sink_field(sink, "stream", trace->streams[event->stream]);
	if (event->flags & GP_STREAM_WAITS)
		sink_field(sink, "by", trace->streams[event->by]);
	if (has & GP_HAS_POOL && (is_about_pool || event->pool))
		write_pool(sink, "pool", trace->pools[event->pool]);
}

static void write_rest(struct sink *sink, const struct gp_trace *trace,
		       const struct gp_event *event)
{
	uint8_t has = gp_event_fields(event->kind);

	if (has & GP_HAS_FRACTION) {
		sink_put(sink, ",\"fraction\":");
		sink_ratio(sink, event->fraction);
	}
	if (has & GP_HAS_TEXT) {
		sink_put(sink,
			 event->kind == GP_MARK ? ",\"name\":" : ",\"conf\":");
		sink_string(sink, trace->texts[event->text]);
	}
	if (event->kind == GP_MARK && event->mark)
		sink_put(sink, event->mark == GP_MARK_START
				       ? ",\"stage\":\"start\""
				       : ",\"stage\":\"end\"");
	if (event->time_us)
		sink_field(sink, "time", event->time_us);
	if (event->site != GP_NO_SITE)
		sink_field(sink, "site", event->site);
}

/* Writes the owner of a block, if it is known. */
static void write_owner(struct sink *sink, const struct gp_device_trace *device,
			uint32_t id)
{
	if (device->owners && id != GP_NO_ID &&
	    device->owners[id] != GP_NO_OWNER)
		sink_field(sink, "owner", device->owners[id]);
}

static void write_flags(struct sink *sink, const struct gp_event *event,
			const struct event_style *style)
{
	bool is_at_once = event->flags & GP_AT_ONCE;

	if (event->flags & GP_INFERRED)
		sink_put(sink, ",\"inferred\":true");
	if (event->flags & GP_REFUSED)
		sink_put(sink, ",\"refused\":true");
	if (event->flags & GP_RESTORED)
		sink_put(sink, ",\"restored\":true");
	if (event->kind == GP_FREE && is_at_once != style->frees_are_at_once)
		sink_put(sink, is_at_once ? ",\"at_once\":true"
					  : ",\"at_once\":false");
}

static void write_events(struct sink *sink, const struct gp_trace *trace,
			 const struct gp_device_trace *device,
			 const struct event_style *style)
{
	struct place *places = start_places(device);
	size_t i;

	for (i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];
		bool has_id = gp_event_fields(event->kind) & GP_HAS_ID &&
			      event->id != GP_NO_ID;

		if (i)
			sink_put(sink, style->separator);
		sink_put(sink, "{\"op\":\"");
		sink_put(sink, gp_event_kind_name(event->kind));
		sink_put(sink, "\"");
		if (style->names_device)
			sink_field(sink, "device", device->device);
		if (has_id)
			sink_field(sink, "id",
				   device->names ? device->names[event->id]
						 : event->id);
		write_addr_size(sink, event, places);
		write_stream_pool(sink, trace, event);
		write_rest(sink, trace, event);
		if (event->kind == GP_ALLOC)
			write_owner(sink, device, event->id);
		write_flags(sink, event, style);
		sink_put(sink, "}");
		if (event->kind == GP_ALLOC)
			places[event->id] =
				(struct place){ event->addr, event->size };
	}
	free(places);
}

/* ---- a whole trace ---- */

struct writer {
	struct sink *sink;
	const struct gp_trace *trace;
	const char *line; /* separates items: a line break, or empty */
	bool is_lines;
	bool frees_are_at_once;
};

/* Whether most frees are at once: then that is stated once for the trace. */
static bool most_frees_are_at_once(const struct gp_trace *trace)
{
	size_t at_once = 0, late = 0, i, k;

	for (i = 0; i < trace->device_count; i++)
		for (k = 0; k < trace->devices[i].event_count; k++) {
			const struct gp_event *event =
				&trace->devices[i].events[k];

			if (event->kind != GP_FREE)
				continue;
			if (event->flags & GP_AT_ONCE)
				at_once++;
			else
				late++;
		}
	return at_once > late;
}

/* Writes nothing if text is NULL. */
static void write_told(const struct writer *w, const char *key,
		       const char *text)
{
	if (!text)
		return;
	sink_put(w->sink, key);
	sink_string(w->sink, text);
	sink_put(w->sink, ",");
	sink_put(w->sink, w->line);
}

static void write_provenance(const struct writer *w)
{
	const struct gp_release_range *release = &w->trace->release;

	sink_put(w->sink, "\"source\":{\"kind\":");
	sink_string(w->sink, w->trace->source);
	if (release->first == release->last) {
		sink_put(w->sink, ",\"torch\":\"2.");
		sink_number(w->sink, release->first);
		sink_put(w->sink, "\"");
	}
	sink_put(w->sink, w->trace->is_complete ? ",\"complete\":true}"
						: ",\"complete\":false}");
	sink_put(w->sink, ",");
	sink_put(w->sink, w->line);
	sink_put(w->sink, "\"release\":{\"first\":");
	sink_number(w->sink, release->first);
	sink_field(w->sink, "last", release->last);
	sink_put(w->sink, ",\"why\":");
	sink_string(w->sink, release->why);
	sink_put(w->sink, "},");
	sink_put(w->sink, w->line);
	write_told(w, "\"settings\":", w->trace->settings);
	write_told(w, "\"values\":", w->trace->values);
	write_told(w, "\"not_told\":", w->trace->not_told);
	if (w->frees_are_at_once) {
		sink_put(w->sink, "\"frees\":\"at_once\",");
		sink_put(w->sink, w->line);
	}
}

static void write_callers(const struct writer *w)
{
	size_t i;

	sink_put(w->sink, "\"callers\":[");
	for (i = 0; i < w->trace->site_count; i++) {
		if (i)
			sink_put(w->sink, ",");
		if (w->trace->sites[i].caller == GP_NO_SITE)
			sink_put(w->sink, "-1");
		else
			sink_number(w->sink, w->trace->sites[i].caller);
	}
	sink_put(w->sink, "],");
	sink_put(w->sink, w->line);
}

static void write_sites(const struct writer *w)
{
	bool have_callers = false;
	size_t i;

	if (!w->trace->site_count)
		return;
	sink_put(w->sink, "\"sites\":[");
	for (i = 0; i < w->trace->site_count; i++) {
		const struct gp_site *site = &w->trace->sites[i];

		sink_put(w->sink, i ? "," : "");
		sink_put(w->sink, w->line);
		sink_string(w->sink, w->trace->texts[site->text]);
		have_callers |= site->caller != GP_NO_SITE;
	}
	sink_put(w->sink, "],");
	sink_put(w->sink, w->line);
	if (have_callers)
		write_callers(w);
}

static void write_text(const struct writer *w, const char *key, uint32_t text)
{
	if (text == GP_NO_ID)
		return;
	sink_put(w->sink, key);
	sink_string(w->sink, w->trace->texts[text]);
}

static void write_owners(const struct writer *w)
{
	if (!w->trace->owner_count)
		return;
	sink_put(w->sink, "\"owners\":[");
	for (size_t i = 0; i < w->trace->owner_count; i++) {
		const struct gp_owner *owner = &w->trace->owners[i];

		sink_put(w->sink, i ? "," : "");
		sink_put(w->sink, w->line);
		sink_put(w->sink, "{\"category\":");
		sink_string(w->sink, gp_category_name(owner->category));
		write_text(w, ",\"module\":", owner->module);
		write_text(w, ",\"class\":", owner->type);
		sink_put(w->sink, "}");
	}
	sink_put(w->sink, "],");
	sink_put(w->sink, w->line);
}

static void write_block(const struct writer *w,
			const struct gp_device_trace *device,
			const struct gp_block *block)
{
	static const char *const states[] = {
		[GP_INACTIVE] = "inactive",
		[GP_ACTIVE] = "active_allocated",
		[GP_PENDING_FREE] = "active_pending_free",
	};

	sink_put(w->sink, "{\"address\":");
	sink_number(w->sink, block->addr);
	sink_field(w->sink, "size", block->size);
	sink_field(w->sink, "requested_size", block->requested);
	sink_put(w->sink, ",\"state\":");
	sink_string(w->sink, states[block->state]);
	if (block->id != GP_NO_ID)
		sink_field(w->sink, "id",
			   device->names ? device->names[block->id]
					 : block->id);
	if (block->site != GP_NO_SITE)
		sink_field(w->sink, "site", block->site);
	write_owner(w->sink, device, block->id);
	sink_put(w->sink, "}");
}

static void write_segment(const struct writer *w,
			  const struct gp_device_trace *device,
			  const struct gp_segment *segment,
			  const struct gp_block *blocks)
{
	uint32_t i;

	sink_put(w->sink, "{\"address\":");
	sink_number(w->sink, segment->addr);
	sink_field(w->sink, "total_size", segment->size);
	sink_field(w->sink, "stream", w->trace->streams[segment->stream]);
	sink_put(w->sink, segment->is_small ? ",\"segment_type\":\"small\""
					    : ",\"segment_type\":\"large\"");
	write_pool(w->sink, "segment_pool_id", w->trace->pools[segment->pool]);
	sink_put(w->sink, segment->is_expandable ? ",\"is_expandable\":true"
						 : ",\"is_expandable\":false");
	if (segment->offset)
		sink_field(w->sink, "reservation_offset", segment->offset);
	if (segment->site != GP_NO_SITE)
		sink_field(w->sink, "site", segment->site);
	sink_put(w->sink, ",\"blocks\":[");
	for (i = 0; i < segment->blocks; i++) {
		if (i)
			sink_put(w->sink, ",");
		write_block(w, device, &blocks[segment->first_block + i]);
	}
	sink_put(w->sink, "]}");
}

static void write_state(const struct writer *w, const char *key,
			const struct gp_device_trace *device,
			const struct gp_state *state)
{
	size_t i;

	if (!state->segment_count)
		return;
	sink_put(w->sink, ",");
	sink_put(w->sink, w->line);
	sink_string(w->sink, key);
	sink_put(w->sink, ":{\"segments\":[");
	for (i = 0; i < state->segment_count; i++) {
		sink_put(w->sink, i ? "," : "");
		sink_put(w->sink, w->line);
		write_segment(w, device, &state->segments[i], state->blocks);
	}
	sink_put(w->sink, "]}");
}

static void write_guesses(const struct writer *w,
			  const struct gp_guesses *guesses)
{
	size_t count, i, written = 0;
	const struct gp_guess_row *rows = gp_guess_table(&count);

	for (i = 0; i < count; i++) {
		uint64_t value = *(const uint64_t *)((const char *)guesses +
						     rows[i].offset);

		if (!value)
			continue;
		sink_put(w->sink, written++ ? "," : ",\"guesses\":{");
		sink_string(w->sink, rows[i].name);
		sink_put(w->sink, ":");
		sink_number(w->sink, value);
	}
	if (written)
		sink_put(w->sink, "}");
}

static void write_counters(const struct writer *w,
			   const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->counter_count; i++) {
		const struct gp_counter *counter = &device->counters[i];
		char number[24];

		sink_put(w->sink, ",");
		sink_put(w->sink, w->line);
		sink_put(w->sink, i ? "" : "\"memory_stats\":{");
		sink_string(w->sink, w->trace->texts[counter->text]);
		snprintf(number, sizeof(number), ":%" PRId64, counter->value);
		sink_put(w->sink, number);
	}
	if (device->counter_count)
		sink_put(w->sink, "}");
}

static void write_device(const struct writer *w,
			 const struct gp_device_trace *device)
{
	const struct event_style style = {
		.separator = ",\n",
		.frees_are_at_once = w->frees_are_at_once,
	};

	sink_put(w->sink, "{\"device\":");
	sink_number(w->sink, device->device);
	if (device->total_memory)
		sink_field(w->sink, "total_memory", device->total_memory);
	write_guesses(w, &device->guesses);
	write_state(w, "start", device, &device->start);
	write_state(w, "end", device, &device->end);
	write_counters(w, device);
	if (!w->is_lines) {
		sink_put(w->sink, ",\n\"events\":[");
		sink_put(w->sink, device->event_count ? "\n" : "");
		write_events(w->sink, w->trace, device, &style);
		sink_put(w->sink, "]");
	}
	sink_put(w->sink, "}");
}

/* JSON Lines: events of devices other than the first include their device. */
static void write_lines(const struct writer *w)
{
	size_t i;

	for (i = 0; i < w->trace->device_count; i++) {
		const struct event_style style = {
			.separator = "\n",
			.names_device = i > 0,
			.frees_are_at_once = w->frees_are_at_once,
		};

		write_events(w->sink, w->trace, &w->trace->devices[i], &style);
		if (w->trace->devices[i].event_count)
			sink_put(w->sink, "\n");
	}
}

static void write_json(const struct gp_trace *trace, bool is_lines, FILE *out)
{
	struct writer w = {
		.sink = gp_mem_alloc(1, sizeof(*w.sink)),
		.trace = trace,
		.line = is_lines ? "" : "\n",
		.is_lines = is_lines,
		.frees_are_at_once = most_frees_are_at_once(trace),
	};
	size_t i;

	w.sink->out = out;
	sink_put(w.sink, "{\"format\":\"gpupool-trace\",\"version\":1,");
	sink_put(w.sink, w.line);
	write_provenance(&w);
	write_sites(&w);
	write_owners(&w);
	sink_put(w.sink, "\"devices\":[");
	for (i = 0; i < trace->device_count; i++) {
		sink_put(w.sink, i ? "," : "");
		sink_put(w.sink, w.line);
		write_device(&w, &trace->devices[i]);
	}
	sink_put(w.sink, "]}\n");
	if (is_lines)
		write_lines(&w);
	sink_flush(w.sink);
	free(w.sink);
}

/* ---- the formats ---- */

enum gp_status gp_trace_write(const struct gp_trace *trace,
			      enum gp_trace_format format, FILE *out,
			      struct gp_diag *diag)
{
	errno = 0;
	if (format == GP_TRACE_BINARY)
		gp_write_binary(trace, out);
	else
		write_json(trace, format == GP_TRACE_JSONL, out);
	if (fflush(out) == 0 && !ferror(out))
		return GP_OK;
	return gp_diag_set(diag, GP_SYSTEM, "cannot write: %s",
			   errno ? strerror(errno) : "the stream failed");
}
