/* Lines that several pages of gpupool explain have. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "report/explain_text.h"

const struct gp_explain_reason_row explain_reasons[GP_GAP_REASONS] = {
	[GP_GAP_HELD] = { "held", "  beside blocks",
			  "only their stream and pool can use it" },
	[GP_GAP_CACHED] = { "cached", "  whole segments",
			    "given back when memory runs out" },
	[GP_GAP_POOL] = { "private_pools", "  private pools",
			  "whole and free, but for their pool only" },
	[GP_GAP_WAITING] = { "waiting", "  waiting",
			     "freed; another stream may still use it" },
};

const char *const explain_verdicts[] = {
	[GP_FITS] = "fits",
	[GP_TOO_SMALL] = "capacity",
	[GP_FRAGMENTED] = "fragmentation",
	[GP_FRAGMENTED_STILL] = "fragmentation",
};

const char *explain_site(const struct gp_trace *trace, uint32_t site,
			 char text[EXPLAIN_SITE])
{
	*text = '\0';
	if (site != GP_NO_SITE)
		snprintf(text, EXPLAIN_SITE, " from %.140s",
			 trace->texts[trace->sites[site].text]);
	return text;
}

/* "3 blocks of 2.00 KiB from optimizer.py:88" */
#define WHO 320
static const char *who(const struct explain_page *p, const struct gp_culprit *c,
		       char text[WHO])
{
	char blocks[GP_PLURAL_TEXT], least[GP_BYTES_TEXT], most[GP_BYTES_TEXT];
	char site[EXPLAIN_SITE];

	gp_plural_text(c->blocks, "block", blocks);
	gp_bytes_text(c->least, least);
	gp_bytes_text(c->most, most);
	snprintf(text, WHO, "%s of %s%s%s%s", blocks, least,
		 strcmp(least, most) != 0 ? " to " : "",
		 strcmp(least, most) != 0 ? most : "",
		 explain_site(p->explain->trace, c->site, site));
	return text;
}

void explain_culprit_now(const struct explain_page *p,
			 const struct gp_culprit *c)
{
	char text[WHO], bytes[GP_BYTES_TEXT], units[GP_PLURAL_TEXT];
	char events[GP_PLURAL_TEXT];

	gp_page_line(&p->page, GP_TONE_PLAIN, 4, "  %s %s %s in %s%s%s",
		     who(p, c, text), c->blocks == 1 ? "strands" : "strand",
		     gp_bytes_text(c->bytes, bytes),
		     gp_plural_text(c->units, "segment", units),
		     c->from_start ? ", some since before the trace"
				   : "; the oldest is there for ",
		     c->from_start
			     ? ""
			     : gp_plural_text(c->events, "event", events));
}

void explain_culprit_over_time(const struct explain_page *p,
			       const struct gp_culprit *c)
{
	char text[WHO], bytes[GP_BYTES_TEXT], events[GP_PLURAL_TEXT];

	gp_page_line(&p->page, GP_TONE_PLAIN, 4,
		     "  %s %s %s on average, for %s", who(p, c, text),
		     c->blocks == 1 ? "strands" : "strand",
		     gp_bytes_text(c->bytes, bytes),
		     gp_plural_text(c->events, "event", events));
}

/* "-1.20 GiB" beside the run as it is. */
static const char *change(uint64_t was, uint64_t is, char text[32])
{
	char bytes[GP_BYTES_TEXT];

	if (is == was) {
		*text = '\0';
		return text;
	}
	gp_bytes_text(is > was ? is - was : was - is, bytes);
	snprintf(text, 32, "%s%s", is > was ? "+" : "-", bytes);
	return text;
}

void explain_trial(const struct explain_page *p, const struct gp_attempt *trial)
{
	const struct gp_attempt *base = &p->explain->base;
	char peak[GP_BYTES_TEXT], event[GP_COUNT_TEXT], fate[64];

	if (trial->no_oom && base->no_oom)
		change(base->peak_reserved, trial->peak_reserved, fate);
	else if (trial->no_oom)
		snprintf(fate, sizeof(fate), "no OOM");
	else
		snprintf(fate, sizeof(fate), "OOM at %s",
			 gp_count_text(trial->oom_event, event));
	fprintf(p->page.out, *fate ? "  %-51s%11s  %s\n" : "  %-51s%11s\n",
		trial->name, gp_bytes_text(trial->peak_reserved, peak), fate);
}
