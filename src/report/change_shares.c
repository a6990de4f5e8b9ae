/* SPDX-License-Identifier: MIT */
/* Who holds what changed of the live set, as tables. */
#include "report/change_shares.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/change_words.h"

#define MOST_ROWS 8
#define VALUE	  12
#define NAME	  (3 * VALUE + 2) /* column */
#define LEAST	  24		  /* columns for a name */

/* Of a C++ function without what it takes. */
static size_t length_of(const char *name)
{
	return strstr(name, ".py:") ? strlen(name) : strcspn(name, "(");
}

/* As much of the end of a name as fits: the line and the function are there. */
static void put_name(const struct gp_page *page, const char *name,
		     const char *note)
{
	size_t room =
		page->columns > NAME + LEAST ? page->columns - NAME : LEAST;
	size_t length = *name == '(' ? strlen(name) : length_of(name);
	size_t used = strlen(note);
	const char *end = name + length;

	room = room > used + 4 ? room - used : 4;
	if (length > room) {
		name += length - room + 3;
		while ((*name & 0xc0) == 0x80)
			name++;
		fputs("...", page->out);
	}
	for (; name < end; name++)
		putc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name,
		     page->out);
	fputs(note, page->out);
}

static const char *side_text(const struct gp_share *share,
			     char text[GP_BYTES_TEXT])
{
	return share->blocks ? gp_bytes_text(share->requested, text) : "-";
}

static void put_amounts(const struct gp_page *page,
			const struct gp_share_pair *pair)
{
	char a[GP_BYTES_TEXT], b[GP_BYTES_TEXT], by[GP_SIGNED_TEXT];

	fprintf(page->out, "%*s%*s%*s  ", VALUE, side_text(&pair->a, a), VALUE,
		side_text(&pair->b, b), VALUE,
		gp_signed_text(pair->a.requested, pair->b.requested, by));
}

/* The digits of "train.py:42 forward". */
static const char *line_of(const char *name)
{
	const char *line = name;

	for (const char *c = strchr(name, ':'); c; c = strchr(c + 1, ':'))
		if (c[1] >= '0' && c[1] <= '9') {
			line = c + 1;
			break;
		}
	return line;
}

static void print_site(const struct gp_page *page,
		       const struct gp_share_pair *pair)
{
	const char *name = pair->b.blocks ? pair->b.name : pair->a.name;
	const char *line;
	char note[48] = "";

	put_amounts(page, pair);
	if (pair->fate == GP_SHARE_MOVED) {
		line = line_of(pair->a.name);
		snprintf(note, sizeof(note), " (was line %.*s)",
			 (int)strspn(line, "0123456789"), line);
	} else if (pair->fate != GP_SHARE_STAYED) {
		snprintf(note, sizeof(note), " (%s)",
			 gp_fate_words[pair->fate]);
	}
	put_name(page, *name ? name : "(no stack recorded)", note);
	putc('\n', page->out);
}

static void print_size(const struct gp_page *page,
		       const struct gp_share_pair *pair)
{
	const struct gp_share *some = pair->b.blocks ? &pair->b : &pair->a;
	char class[GP_CLASS_TEXT], a[GP_COUNT_TEXT], b[GP_COUNT_TEXT];

	put_amounts(page, pair);
	fprintf(page->out, "%s", gp_class_text(some->floor, class));
	if (pair->a.blocks == pair->b.blocks)
		fprintf(page->out, " (blocks: %s)\n",
			gp_count_text(pair->a.blocks, a));
	else
		fprintf(page->out, " (blocks: %s, %s)\n",
			gp_count_text(pair->a.blocks, a),
			gp_count_text(pair->b.blocks, b));
}

/* What the rows after the first ones come to. */
static void print_rest(const struct gp_page *page,
		       const struct gp_share_pair *pairs, size_t count)
{
	struct gp_share_pair rest = { 0 };

	for (size_t i = 0; i < count; i++) {
		rest.a.requested += pairs[i].a.requested;
		rest.b.requested += pairs[i].b.requested;
		rest.a.blocks += pairs[i].a.blocks;
		rest.b.blocks += pairs[i].b.blocks;
	}
	if (!count)
		return;
	put_amounts(page, &rest);
	fprintf(page->out, "%zu more\n", count);
}

static void print_title(const struct gp_page *page, const char *title)
{
	gp_page_blank(page);
	fprintf(page->out, "%*s%*s%*s  %s\n", VALUE, "A", VALUE, "B", VALUE,
		"B - A", title);
}

static size_t changed(const struct gp_share_pair *pairs, size_t count)
{
	size_t n = 0;

	while (n < count && pairs[n].a.requested != pairs[n].b.requested)
		n++;
	return n;
}

static void print_pairs(const struct gp_page *page,
			const struct gp_share_pair *pairs, size_t count,
			void (*print)(const struct gp_page *,
				      const struct gp_share_pair *))
{
	size_t n = changed(pairs, count);

	if (n > MOST_ROWS)
		n = MOST_ROWS;
	for (size_t i = 0; i < n; i++)
		print(page, &pairs[i]);
	print_rest(page, pairs + n, count - n);
}

static bool has_names(const struct gp_change *change)
{
	for (size_t i = 0; i < change->site_count; i++)
		if (*change->sites[i].a.name || *change->sites[i].b.name)
			return true;
	return false;
}

void gp_change_print_sites(const struct gp_page *page,
			   const struct gp_change *change)
{
	if (!has_names(change) || !changed(change->sites, change->site_count))
		return;
	print_title(page, "live set by source line");
	print_pairs(page, change->sites, change->site_count, print_site);
}

void gp_change_print_sizes(const struct gp_page *page,
			   const struct gp_change *change)
{
	if (!changed(change->sizes, change->size_count))
		return;
	print_title(page, "live set by size of the request");
	print_pairs(page, change->sizes, change->size_count, print_size);
}
