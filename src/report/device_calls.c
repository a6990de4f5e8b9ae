/* SPDX-License-Identifier: MIT */
/* What the calls of a real device took, and whether its memory held. */
#include "report/device_calls.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "report/report.h"

static void print_times(const struct gp_page *page,
			const struct gp_replay_result *result)
{
	double total = 0;

	gp_page_blank(page);
	fprintf(page->out, "  %-22s %9s %11s %9s %9s %9s\n", "Calls, measured",
		"count", "ms in all", "us: p10", "median", "p90");
	for (size_t i = 0; i < result->time_count; i++) {
		const struct gp_call_time *t = &result->times[i];

		total += t->total_us;
		fprintf(page->out, "  %-22s %9s %11.3f %9.2f %9.2f %9.2f\n",
			t->call, GP_COUNT(t->count), t->total_us / 1e3,
			t->p10_us, t->median_us, t->p90_us);
	}
	fprintf(page->out, "  %-22s %9s %11.3f\n", "all", "", total / 1e3);
}

static void print_memory(const struct gp_page *page,
			 const struct gp_trace *trace, uint32_t device,
			 const struct gp_memory_check *memory)
{
	char at[GP_EVENT_TEXT], seen[GP_EVENT_TEXT];

	gp_page_blank(page);
	if (!memory->changed) {
		gp_page_line(page, GP_TONE_GOOD, 2,
			     "Memory held: %s, %s in all, read as written.",
			     GP_PLURAL(memory->blocks, "block"),
			     GP_BYTES(memory->bytes));
		return;
	}
	gp_page_line(page, GP_TONE_BAD, 2,
		     "MEMORY DID NOT HOLD: of %s, %s did not read as written. "
		     "The first has %s; it was allocated at %s and read at %s.",
		     GP_PLURAL(memory->blocks, "block"),
		     GP_PLURAL(memory->changed, "block"),
		     GP_BYTES(memory->first_size),
		     gp_event_words(trace, device, memory->first_event, at),
		     gp_event_when(trace, device, memory->first_seen, seen));
}

void gp_device_calls_print(const struct gp_page *page,
			   const struct gp_trace *trace, uint32_t device,
			   const struct gp_replay_result *result)
{
	if (result->time_count)
		print_times(page, result);
	if (result->memory.blocks)
		print_memory(page, trace, device, &result->memory);
}

static void emit_time(struct gp_emit *json, const struct gp_call_time *time)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_text(json, "call", time->call);
	gp_emit_uint(json, "count", time->count);
	gp_emit_ratio(json, "total_us", time->total_us);
	gp_emit_ratio(json, "p10_us", time->p10_us);
	gp_emit_ratio(json, "median_us", time->median_us);
	gp_emit_ratio(json, "p90_us", time->p90_us);
	gp_emit_ratio(json, "most_us", time->most_us);
	gp_emit_close(json, '}');
}

static void emit_memory(struct gp_emit *json,
			const struct gp_memory_check *memory)
{
	gp_emit_open(json, "memory_check", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "blocks", memory->blocks);
	gp_emit_uint(json, "bytes", memory->bytes);
	gp_emit_uint(json, "changed", memory->changed);
	if (memory->changed) {
		gp_emit_uint(json, "first_event", memory->first_event);
		gp_emit_uint(json, "first_seen", memory->first_seen);
		gp_emit_uint(json, "first_size", memory->first_size);
	}
	gp_emit_close(json, '}');
}

void gp_device_calls_emit(struct gp_emit *json,
			  const struct gp_replay_result *result)
{
	if (result->time_count) {
		gp_emit_open(json, "device_times", '[', GP_EMIT_LINES);
		for (size_t i = 0; i < result->time_count; i++)
			emit_time(json, &result->times[i]);
		gp_emit_close(json, ']');
	}
	if (result->memory.blocks)
		emit_memory(json, &result->memory);
}
