/* SPDX-License-Identifier: MIT */
/* A page of text for a person. */
#include "report/page.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/safe.h"

#define LABEL 18 /* columns of a row's label, with the following space */
#define VALUE 12 /* columns of its value */
#define FIELD 12 /* columns of a field's label */
#define TEXT  1024

static const char *const tones[] = {
	[GP_TONE_PLAIN] = "",
	[GP_TONE_TITLE] = "\033[1m",
	[GP_TONE_GOOD] = "\033[32m",
	[GP_TONE_BAD] = "\033[1;31m",
};

struct gp_page gp_page_make(const struct gp_report_style *style, FILE *out)
{
	unsigned columns = style->columns ? style->columns : 80;

	return (struct gp_page){ out, style, columns < 40 ? 40 : columns };
}

void gp_page_blank(const struct gp_page *page)
{
	putc('\n', page->out);
}

static const char *tone_on(const struct gp_page *page, enum gp_tone tone)
{
	return page->style->color ? tones[tone] : "";
}

static const char *tone_off(const struct gp_page *page, enum gp_tone tone)
{
	return page->style->color && tone ? "\033[0m" : "";
}

/* The columns that a text takes: the number of its characters. */
static unsigned width_of(const char *text, size_t length)
{
	unsigned width = 0;

	for (size_t i = 0; i < length; i++)
		width += (text[i] & 0xc0) != 0x80;
	return width;
}

/* Whether the text begins with a unit of measure. */
static bool is_unit(const char *text)
{
	static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB", "%",
					     "us",  "ms",  "s" };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t n = strlen(units[i]);

		if (!strncmp(text, units[i], n) &&
		    !isalnum((unsigned char)text[n]))
			return true;
	}
	return false;
}

/* Length of what must stay on one line: a word, or a number with its unit. */
static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " ");

	if (length && isdigit((unsigned char)text[length - 1]) &&
	    text[length] && is_unit(text + length + 1))
		length += 1 + strcspn(text + length + 1, " ");
	return length;
}

/* Wraps text that begins at column `at`; further lines are indented; writes no
 * newline at the end. */
static void wrap(const struct gp_page *page, unsigned at, unsigned indent,
		 const char *unsafe)
{
	char safe[TEXT];
	const char *text = gp_safe_text(unsafe, safe, sizeof(safe));
	bool at_start = true, has_word = false; /* of the current line */

	while (*text) {
		size_t length = word_length(text);
		unsigned width = width_of(text, length);

		/* A line that has only blanks so far is not ended. */
		if (has_word && at + 1 + width > page->columns) {
			fprintf(page->out, "\n%*s", (int)indent, "");
			at = indent;
			at_start = true;
			has_word = false;
		}
		if (!at_start) {
			putc(' ', page->out);
			at++;
		}
		fwrite(text, 1, length, page->out);
		at += width;
		at_start = false;
		has_word |= length > 0;
		text += length;
		text += *text == ' ';
	}
}

void gp_page_line(const struct gp_page *page, enum gp_tone tone,
		  unsigned indent, const char *format, ...)
{
	char text[TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs(tone_on(page, tone), page->out);
	wrap(page, 0, indent, text);
	fprintf(page->out, "%s\n", tone_off(page, tone));
}

void gp_page_cell(const struct gp_page *page, unsigned columns,
		  const char *unsafe)
{
	char safe[TEXT];
	const char *text = gp_safe_text(unsafe, safe, sizeof(safe));

	if (strlen(text) < columns)
		fprintf(page->out, "%-*s", (int)columns, text);
	else
		fprintf(page->out, "%s\n%*s", text, (int)columns, "");
}

void gp_page_field(const struct gp_page *page, const char *label,
		   const char *format, ...)
{
	char text[TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(page->out, "%-*s", FIELD, label);
	wrap(page, FIELD, FIELD, text);
	putc('\n', page->out);
}

void gp_page_command(const struct gp_page *page, const char *before,
		     const char *command)
{
	fputs(before, page->out);
	gp_safe_put(command, page->out);
	putc('\n', page->out);
}

void gp_page_row(const struct gp_page *page, const struct gp_page_row *row)
{
	unsigned indent = LABEL + VALUE + 2;

	fprintf(page->out, "%-*s%s%*s%s", LABEL, row->label,
		tone_on(page, row->tone), VALUE, row->value,
		tone_off(page, row->tone));
	if (row->note && *row->note) {
		fputs("  ", page->out);
		wrap(page, indent, indent, row->note);
	}
	putc('\n', page->out);
}

void gp_say(struct gp_words *words, const char *format, ...)
{
	size_t n = strlen(words->text);
	va_list args;

	va_start(args, format);
	vsnprintf(words->text + n, sizeof(words->text) - n, format, args);
	va_end(args);
}

const char *gp_percent_text(double ratio, char text[GP_PERCENT_TEXT])
{
	double percent = ratio * 100;

	/* 99.96 % is not shown as 100 %, nor 0.04 % as 0 %. */
	if (ratio < 1 && percent >= 99.95)
		snprintf(text, GP_PERCENT_TEXT, "99.9 %%");
	else if (ratio > 0 && percent < 0.05)
		snprintf(text, GP_PERCENT_TEXT, "<0.1 %%");
	else if (ratio == 0 || ratio == 1)
		snprintf(text, GP_PERCENT_TEXT, "%.0f %%", percent);
	else
		snprintf(text, GP_PERCENT_TEXT, "%.1f %%", percent);
	return text;
}

const char *gp_percent_change(double from, double to,
			      char text[GP_PERCENT_CHANGE])
{
	double percent = (to - from) / from * 100;

	if (from <= 0 || from == to)
		*text = '\0';
	else if (fabs(percent) < 0.05)
		snprintf(text, GP_PERCENT_CHANGE, "<0.1 %%");
	else
		snprintf(text, GP_PERCENT_CHANGE, "%+.1f %%", percent);
	return text;
}

const char *gp_percent_aside(double from, double to,
			     char text[GP_PERCENT_CHANGE])
{
	char percent[GP_PERCENT_CHANGE - 3];

	if (*gp_percent_change(from, to, text)) {
		snprintf(percent, sizeof(percent), "%s", text);
		snprintf(text, GP_PERCENT_CHANGE, " (%s)", percent);
	}
	return text;
}

const char *gp_measure_text(const struct gp_measure *measure,
			    const struct gp_subject *subject,
			    char text[GP_COUNT_TEXT])
{
	switch (measure->unit) {
	case GP_UNIT_RATIO:
		return gp_percent_text(measure->ratio(subject), text);
	case GP_UNIT_BYTES: return gp_bytes_text(measure->count(subject), text);
	default: return gp_count_text(measure->count(subject), text);
	}
}

const char *gp_plural_text(uint64_t count, const char *noun,
			   char text[GP_PLURAL_TEXT])
{
	size_t length = strlen(noun);
	const char *more = length && noun[length - 1] == 's' ? "es" : "s";

	snprintf(text, GP_PLURAL_TEXT, "%s %s%s", GP_COUNT(count), noun,
		 count == 1 ? "" : more);
	return text;
}

const char *gp_page_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!strcmp(path, "-"))
		return "standard input";
	return slash && slash[1] ? slash + 1 : path;
}
