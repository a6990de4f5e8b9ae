/* SPDX-License-Identifier: MIT */
/* Who holds the memory at the moment that an explanation looks at. */
#include "report/holders.h"

#include <stdio.h>

#include "base/bytes.h"
#include "report/explain_words.h"

#define INDENT 22 /* of what stands behind the bytes and their share */

/* "since step 3"; "" where no step is known. */
#define SINCE 48
static const char *since(const struct gp_explain *e, const struct gp_culprit *c,
			 char text[SINCE])
{
	char step[GP_STEP_TEXT];

	*text = '\0';
	if (c->from_start)
		snprintf(text, SINCE, ", since before the trace");
	else if (*gp_event_step(e->trace, e->device, &e->steps,
				e->event - c->events, step))
		snprintf(text, SINCE, ", %s %s",
			 c->blocks == 1 ? "of" : "since", step);
	return text;
}

static void print_amount(const struct gp_page *page, const struct gp_explain *e,
			 uint64_t bytes, const char *words)
{
	char amount[GP_BYTES_TEXT], percent[GP_PERCENT_TEXT];

	gp_page_line(page, GP_TONE_PLAIN, INDENT, "%11s %7s  %s",
		     gp_bytes_text(bytes, amount),
		     gp_percent_text((double)bytes / (double)e->gap.allocated,
				     percent),
		     words);
}

void gp_report_holders(const struct gp_page *page, const struct gp_explain *e,
		       size_t most)
{
	char bytes[GP_BYTES_TEXT], words[EXPLAIN_WHO + SINCE], who[EXPLAIN_WHO];
	char text[SINCE], blocks[GP_PLURAL_TEXT];
	uint64_t rest = 0, rest_blocks = 0;

	if (!e->live.count || !e->gap.allocated)
		return;
	gp_page_line(page, GP_TONE_TITLE, 2, "Who holds the %s in use %s",
		     gp_bytes_text(e->gap.allocated, bytes),
		     e->result.first_oom.is_there ? "when memory ran out"
		     : !e->has_requests		  ? "at that moment"
						  : "at the peak");
	for (size_t i = 0; i < e->live.count; i++) {
		const struct gp_culprit *c = &e->live.list[i];

		if (i >= most) {
			rest += c->bytes;
			rest_blocks += c->blocks;
			continue;
		}
		snprintf(words, sizeof(words), "%s%s",
			 explain_who(e->trace, c, who), since(e, c, text));
		print_amount(page, e, c->bytes, words);
	}
	if (!rest)
		return;
	snprintf(words, sizeof(words), "%s of %zu other %s",
		 gp_plural_text(rest_blocks, "block", blocks),
		 e->live.count - most,
		 e->trace->site_count ? "sites or sizes" : "sizes");
	print_amount(page, e, rest, words);
}
