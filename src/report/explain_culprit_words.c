/* SPDX-License-Identifier: MIT */
/* What gpupool explain says of memory and of blocks, in words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "report/explain_words.h"
#include "report/page.h"

#define WORTH 20 /* a line of its own: a twentieth of the first */

const struct gp_explain_reason_row explain_reasons[GP_GAP_REASONS] = {
	[GP_GAP_HELD] = { "held", "free, inside segments that are partly used",
			  "only their stream and pool can use it" },
	[GP_GAP_CACHED] = { "cached", "free, whole segments",
			    "given back when memory runs out" },
	[GP_GAP_POOL] = { "private_pools",
			  "free, whole segments of private pools",
			  "for their pool only" },
	[GP_GAP_WAITING] = { "pending_free", "pending free",
			     "freed; another stream may still use it" },
};

struct explain_words explain_reason(const struct gp_gap *gap,
				    enum gp_gap_reason reason)
{
	const struct gp_gap_part *part = &gap->by_reason[reason];
	struct explain_words words;
	char largest[GP_BYTES_TEXT], pieces[GP_PLURAL_TEXT];

	snprintf(words.text, EXPLAIN_WORDS, "%s, largest %s; %s",
		 gp_plural_text(part->blocks, "piece", pieces),
		 gp_bytes_text(part->largest, largest),
		 explain_reasons[reason].note);
	return words;
}

/* The only stream that pending blocks wait for; GP_NO_STREAM: none, several, or
 * not known. */
static uint16_t awaited_stream(const struct gp_explain *e)
{
	const struct gp_device_trace *device = &e->trace->devices[e->device];
	bool *is_pending = gp_mem_alloc((size_t)device->block_ids + 1,
					sizeof(*is_pending));
	uint16_t stream = GP_NO_STREAM;
	bool is_one = true;

	for (size_t i = 0; i < e->state.block_count; i++) {
		const struct gp_block *b = &e->state.blocks[i];

		if (b->state == GP_PENDING_FREE && b->id < device->block_ids)
			is_pending[b->id] = true;
	}
	for (size_t i = 0; i < device->event_count && i <= e->event; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind != GP_RECORD_STREAM || !is_pending[event->id])
			continue;
		is_one &= stream == GP_NO_STREAM || stream == event->stream;
		stream = event->stream;
	}
	free(is_pending);
	return is_one && stream < e->trace->stream_count ? stream
							 : GP_NO_STREAM;
}

const char *explain_reason_label(const struct gp_explain *e,
				 enum gp_gap_reason reason,
				 char text[EXPLAIN_REASON])
{
	uint16_t stream =
		reason == GP_GAP_WAITING ? awaited_stream(e) : GP_NO_STREAM;

	if (stream == GP_NO_STREAM)
		snprintf(text, EXPLAIN_REASON, "%s",
			 explain_reasons[reason].label);
	else
		snprintf(text, EXPLAIN_REASON,
			 "%s (waits for stream %" PRIu64 ")",
			 explain_reasons[reason].label,
			 e->trace->streams[stream]);
	return text;
}

struct explain_words explain_within(const struct gp_gap *gap)
{
	struct explain_words words = { 0 };
	char rounding[GP_BYTES_TEXT], unsplit[GP_BYTES_TEXT];

	if (gap->rounding + gap->unsplit)
		snprintf(words.text, EXPLAIN_WORDS,
			 "and within what is allocated: %s by rounding up, %s "
			 "by blocks not cut",
			 gp_bytes_text(gap->rounding, rounding),
			 gp_bytes_text(gap->unsplit, unsplit));
	return words;
}

const char *explain_who(const struct gp_trace *trace,
			const struct gp_culprit *c, char text[EXPLAIN_WHO])
{
	char blocks[GP_PLURAL_TEXT], least[GP_BYTES_TEXT], most[GP_BYTES_TEXT];
	char site[EXPLAIN_SITE];
	bool is_range;

	gp_bytes_text(c->least, least);
	gp_bytes_text(c->most, most);
	is_range = strcmp(least, most) != 0;
	snprintf(text, EXPLAIN_WHO, "%s of %s%s%s%s",
		 gp_plural_text(c->blocks, "block", blocks), least,
		 is_range ? " to " : "", is_range ? most : "",
		 explain_site(trace, c->site, site));
	return text;
}

struct explain_words explain_culprit_now(const struct gp_trace *trace,
					 const struct gp_culprit *c)
{
	struct explain_words words;
	char text[EXPLAIN_WHO], bytes[GP_BYTES_TEXT], units[GP_PLURAL_TEXT];
	char events[GP_PLURAL_TEXT];

	gp_plural_text(c->events, "event", events);
	snprintf(words.text, EXPLAIN_WORDS, "%s %s %s in %s%s%s",
		 explain_who(trace, c, text), c->blocks == 1 ? "pins" : "pin",
		 gp_bytes_text(c->bytes, bytes),
		 gp_plural_text(c->units, "segment", units),
		 c->from_start ? ", some since before the trace"
		 : c->events   ? "; the oldest is there for "
			       : "",
		 c->from_start || !c->events ? "" : events);
	return words;
}

struct explain_words explain_culprit_over_time(const struct gp_trace *trace,
					       const struct gp_culprit *c)
{
	struct explain_words words;
	char text[EXPLAIN_WHO], bytes[GP_BYTES_TEXT], events[GP_PLURAL_TEXT];

	snprintf(words.text, EXPLAIN_WORDS, "%s %s %s on average, for %s",
		 explain_who(trace, c, text), c->blocks == 1 ? "pins" : "pin",
		 gp_bytes_text(c->bytes, bytes),
		 gp_plural_text(c->events, "event", events));
	return words;
}

static double weight(const struct gp_culprit *c)
{
	return c->byte_events > 0 ? c->byte_events : (double)c->bytes;
}

size_t explain_worth_telling(const struct gp_culprits *culprits, size_t most)
{
	size_t n = 0;

	while (n < culprits->count && n < most &&
	       weight(&culprits->list[n]) * WORTH > weight(&culprits->list[0]))
		n++;
	return n;
}
