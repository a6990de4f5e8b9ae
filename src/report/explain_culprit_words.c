/* What gpupool explain says of memory and of blocks, in words. */
#include <string.h>

#include "base/bytes.h"
#include "report/explain_words.h"
#include "report/page.h"

#define WORTH 20 /* a line of its own: a twentieth of the first */

const struct gp_explain_reason_row explain_reasons[GP_GAP_REASONS] = {
	[GP_GAP_HELD] = { "held", "beside blocks",
			  "only their stream and pool can use it" },
	[GP_GAP_CACHED] = { "cached", "whole segments",
			    "given back when memory runs out" },
	[GP_GAP_POOL] = { "private_pools", "private pools",
			  "whole and free, but for their pool only" },
	[GP_GAP_WAITING] = { "waiting", "waiting",
			     "freed; another stream may still use it" },
};

struct explain_words explain_reason(const struct gp_gap *gap,
				    enum gp_gap_reason reason)
{
	const struct gp_gap_part *part = &gap->by_reason[reason];
	struct explain_words words;
	char largest[GP_BYTES_TEXT], pieces[GP_PLURAL_TEXT];

	snprintf(words.text, EXPLAIN_WORDS, "%s, largest %s: %s",
		 gp_plural_text(part->blocks, "piece", pieces),
		 gp_bytes_text(part->largest, largest),
		 explain_reasons[reason].note);
	return words;
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

/* "3 blocks of 2.00 KiB from optimizer.py:88" */
#define WHO 320
static const char *who(const struct gp_trace *trace, const struct gp_culprit *c,
		       char text[WHO])
{
	char blocks[GP_PLURAL_TEXT], least[GP_BYTES_TEXT], most[GP_BYTES_TEXT];
	char site[EXPLAIN_SITE];
	bool is_range;

	gp_bytes_text(c->least, least);
	gp_bytes_text(c->most, most);
	is_range = strcmp(least, most) != 0;
	snprintf(text, WHO, "%s of %s%s%s%s",
		 gp_plural_text(c->blocks, "block", blocks), least,
		 is_range ? " to " : "", is_range ? most : "",
		 explain_site(trace, c->site, site));
	return text;
}

struct explain_words explain_culprit_now(const struct gp_trace *trace,
					 const struct gp_culprit *c)
{
	struct explain_words words;
	char text[WHO], bytes[GP_BYTES_TEXT], units[GP_PLURAL_TEXT];
	char events[GP_PLURAL_TEXT];

	gp_plural_text(c->events, "event", events);
	snprintf(words.text, EXPLAIN_WORDS, "%s %s %s in %s%s%s",
		 who(trace, c, text), c->blocks == 1 ? "strands" : "strand",
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
	char text[WHO], bytes[GP_BYTES_TEXT], events[GP_PLURAL_TEXT];

	snprintf(words.text, EXPLAIN_WORDS, "%s %s %s on average, for %s",
		 who(trace, c, text), c->blocks == 1 ? "strands" : "strand",
		 gp_bytes_text(c->bytes, bytes),
		 gp_plural_text(c->events, "event", events));
	return words;
}

struct explain_words explain_culprit_live(const struct gp_trace *trace,
					  const struct gp_culprit *c)
{
	struct explain_words words;
	char text[WHO], bytes[GP_BYTES_TEXT];

	snprintf(words.text, EXPLAIN_WORDS, "%s: %s",
		 gp_bytes_text(c->bytes, bytes), who(trace, c, text));
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
