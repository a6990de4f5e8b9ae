/* SPDX-License-Identifier: MIT */
/* Where two programs part, in sentences. */
#include "report/change_parting.h"

#include <inttypes.h>

#include "base/bytes.h"

#define DEED 96

static const char *deed(const struct gp_request *r, char text[DEED])
{
	char bytes[GP_BYTES_TEXT];

	gp_bytes_text(r->size, bytes);
	if (!r->is_there)
		snprintf(text, DEED, "is over");
	else if (r->kind == GP_ALLOC && r->stream)
		snprintf(text, DEED, "allocates %s on stream %" PRIu64, bytes,
			 r->stream);
	else if (r->kind == GP_ALLOC)
		snprintf(text, DEED, "allocates %s", bytes);
	else if (r->kind == GP_FREE)
		snprintf(text, DEED, "frees %s", bytes);
	else
		snprintf(text, DEED, "does %s", gp_event_kind_name(r->kind));
	return text;
}

static void print_request(const struct gp_page *page, const char *name,
			  const struct gp_request *r)
{
	char event[GP_COUNT_TEXT], text[DEED];
	const char *step = r->step ? r->step : "";
	bool is_known = *step || *r->site;

	gp_page_line(page, GP_TONE_PLAIN, 5, "  %s  %s%s%s%sevent %s%s: %s",
		     name, step, *step && *r->site ? ", " : "", r->site,
		     is_known ? " (" : "", gp_count_text(r->event, event),
		     is_known ? ")" : "", deed(r, text));
}

static void print_steps(const struct gp_page *page,
			const struct gp_parting_steps *steps)
{
	char a[GP_COUNT_TEXT], b[GP_COUNT_TEXT], both[GP_PLURAL_TEXT];
	char alike[GP_COUNT_TEXT];

	if (!steps->a && !steps->b)
		return;
	if (!steps->both) {
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "No step of A has the name of one of B (%s and "
			     "%s marks).",
			     gp_count_text(steps->a, a),
			     gp_count_text(steps->b, b));
		return;
	}
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "%s in both (A has %s, B has %s): %s with the same "
		     "requests.",
		     gp_plural_text(steps->both, "step", both),
		     gp_count_text(steps->a, a), gp_count_text(steps->b, b),
		     gp_count_text(steps->alike, alike));
	if (steps->first)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The first that is not: %.200s, number %" PRIu64
			     " of that name, with %s requests in A and %s in "
			     "B.",
			     steps->first, steps->first_ordinal,
			     gp_count_text(steps->a_requests, a),
			     gp_count_text(steps->b_requests, b));
}

void gp_change_print_parting(const struct gp_page *page,
			     const struct gp_change *change)
{
	const struct gp_parting *parting = change->parting;
	char common[GP_PLURAL_TEXT];

	if (!parting)
		return;
	gp_page_blank(page);
	gp_plural_text(parting->common, "request", common);
	if (parting->starts_differ)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The traces begin with other memory live.");
	if (!parting->is_there) {
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The requests are the same throughout: %s.",
			     common);
		return;
	}
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "The programs diverge after %s in common:", common);
	print_request(page, "A", &parting->a);
	print_request(page, "B", &parting->b);
	print_steps(page, &parting->steps);
}
