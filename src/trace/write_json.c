/* SPDX-License-Identifier: MIT */
/* gpupool-trace as JSON and as JSON Lines: gpupool-trace(5). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace/write.h"

struct writer {
	struct gp_sink *sink;
	const struct gp_trace *trace;
	const char *line; /* between items: a line break, or nothing */
	bool is_lines;
	bool frees_are_at_once;
};

/* Whichever most frees are, said once, spares it most of them. */
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

static void write_provenance(const struct writer *w)
{
	const struct gp_release_range *release = &w->trace->release;

	gp_sink_put(w->sink, "\"source\":{\"kind\":");
	gp_sink_string(w->sink, w->trace->source);
	if (release->first == release->last) {
		gp_sink_put(w->sink, ",\"torch\":\"2.");
		gp_sink_number(w->sink, release->first);
		gp_sink_put(w->sink, "\"");
	}
	gp_sink_put(w->sink, w->trace->is_complete ? ",\"complete\":true}"
						   : ",\"complete\":false}");
	gp_sink_put(w->sink, ",");
	gp_sink_put(w->sink, w->line);
	gp_sink_put(w->sink, "\"release\":{\"first\":");
	gp_sink_number(w->sink, release->first);
	gp_sink_field(w->sink, "last", release->last);
	gp_sink_put(w->sink, ",\"why\":");
	gp_sink_string(w->sink, release->why);
	gp_sink_put(w->sink, "},");
	gp_sink_put(w->sink, w->line);
	if (w->trace->settings) {
		gp_sink_put(w->sink, "\"settings\":");
		gp_sink_string(w->sink, w->trace->settings);
		gp_sink_put(w->sink, ",");
		gp_sink_put(w->sink, w->line);
	}
	if (w->trace->values) {
		gp_sink_put(w->sink, "\"values\":");
		gp_sink_string(w->sink, w->trace->values);
		gp_sink_put(w->sink, ",");
		gp_sink_put(w->sink, w->line);
	}
	if (w->frees_are_at_once) {
		gp_sink_put(w->sink, "\"frees\":\"at_once\",");
		gp_sink_put(w->sink, w->line);
	}
}

static void write_callers(const struct writer *w)
{
	size_t i;

	gp_sink_put(w->sink, "\"callers\":[");
	for (i = 0; i < w->trace->site_count; i++) {
		if (i)
			gp_sink_put(w->sink, ",");
		if (w->trace->sites[i].caller == GP_NO_SITE)
			gp_sink_put(w->sink, "-1");
		else
			gp_sink_number(w->sink, w->trace->sites[i].caller);
	}
	gp_sink_put(w->sink, "],");
	gp_sink_put(w->sink, w->line);
}

static void write_sites(const struct writer *w)
{
	bool have_callers = false;
	size_t i;

	if (!w->trace->site_count)
		return;
	gp_sink_put(w->sink, "\"sites\":[");
	for (i = 0; i < w->trace->site_count; i++) {
		const struct gp_site *site = &w->trace->sites[i];

		gp_sink_put(w->sink, i ? "," : "");
		gp_sink_put(w->sink, w->line);
		gp_sink_string(w->sink, w->trace->texts[site->text]);
		have_callers |= site->caller != GP_NO_SITE;
	}
	gp_sink_put(w->sink, "],");
	gp_sink_put(w->sink, w->line);
	if (have_callers)
		write_callers(w);
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

	gp_sink_put(w->sink, "{\"address\":");
	gp_sink_number(w->sink, block->addr);
	gp_sink_field(w->sink, "size", block->size);
	gp_sink_field(w->sink, "requested_size", block->requested);
	gp_sink_put(w->sink, ",\"state\":");
	gp_sink_string(w->sink, states[block->state]);
	if (block->id != GP_NO_ID)
		gp_sink_field(w->sink, "id",
			      device->names ? device->names[block->id]
					    : block->id);
	if (block->site != GP_NO_SITE)
		gp_sink_field(w->sink, "site", block->site);
	gp_sink_put(w->sink, "}");
}

static void write_segment(const struct writer *w,
			  const struct gp_device_trace *device,
			  const struct gp_segment *segment,
			  const struct gp_block *blocks)
{
	uint32_t i;

	gp_sink_put(w->sink, "{\"address\":");
	gp_sink_number(w->sink, segment->addr);
	gp_sink_field(w->sink, "total_size", segment->size);
	gp_sink_field(w->sink, "stream", w->trace->streams[segment->stream]);
	gp_sink_put(w->sink, segment->is_small ? ",\"segment_type\":\"small\""
					       : ",\"segment_type\":\"large\"");
	gp_write_pool(w->sink, "segment_pool_id",
		      w->trace->pools[segment->pool]);
	gp_sink_put(w->sink, segment->is_expandable
				     ? ",\"is_expandable\":true"
				     : ",\"is_expandable\":false");
	if (segment->site != GP_NO_SITE)
		gp_sink_field(w->sink, "site", segment->site);
	gp_sink_put(w->sink, ",\"blocks\":[");
	for (i = 0; i < segment->blocks; i++) {
		if (i)
			gp_sink_put(w->sink, ",");
		write_block(w, device, &blocks[segment->first_block + i]);
	}
	gp_sink_put(w->sink, "]}");
}

static void write_state(const struct writer *w, const char *key,
			const struct gp_device_trace *device,
			const struct gp_state *state)
{
	size_t i;

	if (!state->segment_count)
		return;
	gp_sink_put(w->sink, ",");
	gp_sink_put(w->sink, w->line);
	gp_sink_string(w->sink, key);
	gp_sink_put(w->sink, ":{\"segments\":[");
	for (i = 0; i < state->segment_count; i++) {
		gp_sink_put(w->sink, i ? "," : "");
		gp_sink_put(w->sink, w->line);
		write_segment(w, device, &state->segments[i], state->blocks);
	}
	gp_sink_put(w->sink, "]}");
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
		gp_sink_put(w->sink, written++ ? "," : ",\"guesses\":{");
		gp_sink_string(w->sink, rows[i].name);
		gp_sink_put(w->sink, ":");
		gp_sink_number(w->sink, value);
	}
	if (written)
		gp_sink_put(w->sink, "}");
}

static void write_counters(const struct writer *w,
			   const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->counter_count; i++) {
		const struct gp_counter *counter = &device->counters[i];
		char number[24];

		gp_sink_put(w->sink, ",");
		gp_sink_put(w->sink, w->line);
		gp_sink_put(w->sink, i ? "" : "\"memory_stats\":{");
		gp_sink_string(w->sink, w->trace->texts[counter->text]);
		snprintf(number, sizeof(number), ":%" PRId64, counter->value);
		gp_sink_put(w->sink, number);
	}
	if (device->counter_count)
		gp_sink_put(w->sink, "}");
}

static void write_device(const struct writer *w,
			 const struct gp_device_trace *device)
{
	const struct gp_event_style style = {
		.separator = ",\n",
		.frees_are_at_once = w->frees_are_at_once,
	};

	gp_sink_put(w->sink, "{\"device\":");
	gp_sink_number(w->sink, device->device);
	if (device->total_memory)
		gp_sink_field(w->sink, "total_memory", device->total_memory);
	write_guesses(w, &device->guesses);
	write_state(w, "start", device, &device->start);
	write_state(w, "end", device, &device->end);
	write_counters(w, device);
	if (!w->is_lines) {
		gp_sink_put(w->sink, ",\n\"events\":[");
		gp_sink_put(w->sink, device->event_count ? "\n" : "");
		gp_write_events(w->sink, w->trace, device, &style);
		gp_sink_put(w->sink, "]");
	}
	gp_sink_put(w->sink, "}");
}

/* JSON Lines: events of all but the first device say which they are of. */
static void write_lines(const struct writer *w)
{
	size_t i;

	for (i = 0; i < w->trace->device_count; i++) {
		const struct gp_event_style style = {
			.separator = "\n",
			.names_device = i > 0,
			.frees_are_at_once = w->frees_are_at_once,
		};

		gp_write_events(w->sink, w->trace, &w->trace->devices[i],
				&style);
		if (w->trace->devices[i].event_count)
			gp_sink_put(w->sink, "\n");
	}
}

void gp_write_json(const struct gp_trace *trace, bool is_lines, FILE *out)
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
	gp_sink_put(w.sink, "{\"format\":\"gpupool-trace\",\"version\":1,");
	gp_sink_put(w.sink, w.line);
	write_provenance(&w);
	write_sites(&w);
	gp_sink_put(w.sink, "\"devices\":[");
	for (i = 0; i < trace->device_count; i++) {
		gp_sink_put(w.sink, i ? "," : "");
		gp_sink_put(w.sink, w.line);
		write_device(&w, &trace->devices[i]);
	}
	gp_sink_put(w.sink, "]}\n");
	if (is_lines)
		write_lines(&w);
	gp_sink_flush(w.sink);
	free(w.sink);
}
