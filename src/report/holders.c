/* SPDX-License-Identifier: MIT */
/* Who holds the memory at the moment that an explanation looks at. */
#include "report/holders.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "trace/site.h"
#include "report/emit_parts.h"
#include "report/explain_words.h"
#include "report/object.h"

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

/* What is told of one behind its bytes, in so many columns at most where
 * that is asked. */
#define WORDS (EXPLAIN_WHO + SINCE)
static void tell_all(const struct gp_explain *e, const struct gp_culprit *c,
		     unsigned columns, char words[WORDS])
{
	char who[EXPLAIN_WHO], text[SINCE];

	(void)columns;
	snprintf(words, WORDS, "%s%s", explain_who(e->trace, c, who),
		 since(e, c, text));
}

/* A name is cut in front of its characters, not within one. */
static size_t cut(const char *name, size_t room)
{
	size_t length = strlen(name);

	if (length <= room)
		return length;
	for (length = room; length && (name[length] & 0xc0) == 0x80;)
		length--;
	return length;
}

/* As much of a site's name as so many columns hold: its line is more than what
 * runs there, and its file more than its folder. */
static void put_site(const struct gp_trace *trace, uint32_t site, size_t room,
		     char name[GP_SITE_TEXT])
{
	const char *folder;
	size_t length;

	if (strlen(gp_site_text(trace, site, name)) <= room)
		return;
	gp_site_place(trace, site, name);
	folder = strrchr(name, '/');
	if (strlen(name) > room && folder)
		memmove(name, folder + 1, strlen(folder));
	if (strlen(name) <= room)
		return;
	length = cut(name, room - 3);
	snprintf(name + length, GP_SITE_TEXT - length, "...");
}

static void tell_briefly(const struct gp_explain *e, const struct gp_culprit *c,
			 unsigned columns, char words[WORDS])
{
	char name[GP_SITE_TEXT], tail[SINCE + GP_PLURAL_TEXT + 4];
	char text[SINCE], blocks[GP_PLURAL_TEXT];

	if (c->site == GP_NO_SITE) {
		tell_all(e, c, columns, words);
		return;
	}
	snprintf(tail, sizeof(tail), ": %s%s",
		 gp_plural_text(c->blocks, "block", blocks),
		 c->from_start ? ", before the trace" : since(e, c, text));
	put_site(e->trace, c->site,
		 columns > strlen(tail) + 3 ? columns - strlen(tail) : 3, name);
	snprintf(words, WORDS, "%s%s", name, tail);
}

static void print_rest(const struct gp_page *page, const struct gp_explain *e,
		       size_t shown)
{
	uint64_t bytes = 0, blocks = 0;
	char words[2 * GP_PLURAL_TEXT], text[GP_PLURAL_TEXT];

	for (size_t i = shown; i < e->live.count; i++) {
		bytes += e->live.list[i].bytes;
		blocks += e->live.list[i].blocks;
	}
	if (!bytes)
		return;
	snprintf(words, sizeof(words), "%s of %zu other %s",
		 gp_plural_text(blocks, "block", text), e->live.count - shown,
		 e->trace->site_count ? "sites or sizes" : "sizes");
	print_amount(page, e, bytes, words);
}

static void print_holders(const struct gp_page *page,
			  const struct gp_explain *e, size_t most,
			  void (*tell)(const struct gp_explain *,
				       const struct gp_culprit *, unsigned,
				       char[WORDS]))
{
	char bytes[GP_BYTES_TEXT], words[WORDS];

	if (!e->live.count || !e->gap.allocated)
		return;
	gp_page_line(page, GP_TONE_TITLE, 2, "Who holds the %s in use %s",
		     gp_bytes_text(e->gap.allocated, bytes),
		     e->result.first_oom.is_there ? "when memory ran out"
		     : !e->has_requests		  ? "at that moment"
						  : "at the peak");
	for (size_t i = 0; i < e->live.count && i < most; i++) {
		tell(e, &e->live.list[i], page->columns - INDENT + 1, words);
		print_amount(page, e, e->live.list[i].bytes, words);
	}
	print_rest(page, e, most);
}

void gp_report_holders(const struct gp_page *page, const struct gp_explain *e,
		       size_t most)
{
	print_holders(page, e, most, tell_all);
}

void gp_report_holders_brief(const struct gp_page *page,
			     const struct gp_explain *e, size_t most)
{
	print_holders(page, e, most, tell_briefly);
}

/* ---- for a program ---- */

void gp_emit_holders(struct gp_emit *json, const char *key,
		     const struct gp_trace *trace,
		     const struct gp_culprits *culprits, size_t most)
{
	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < culprits->count && i < most; i++) {
		const struct gp_culprit *c = &culprits->list[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_keys(json, "holder", c);
		gp_emit_sites(json, trace, c->site);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}
