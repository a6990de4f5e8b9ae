/* SPDX-License-Identifier: MIT */
/*
 * A page of text for a person: rows of label, value and note, wrapped to the
 * width of the terminal.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "gpupool/metrics.h"
#include "report/report.h"

enum gp_tone { GP_TONE_PLAIN, GP_TONE_TITLE, GP_TONE_GOOD, GP_TONE_BAD };

struct gp_page {
	FILE *out;
	const struct gp_report_style *style;
	unsigned columns;
};

struct gp_page gp_page_make(const struct gp_report_style *style, FILE *out);

void gp_page_blank(const struct gp_page *page);

/* Prints text, wrapped; further lines are indented by that many columns. */
void gp_page_line(const struct gp_page *page, enum gp_tone tone,
		  unsigned indent, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line to paste into a shell; it is never wrapped. */
void gp_page_command(const struct gp_page *page, const char *before,
		     const char *command);

/* The first cell of a row, in its column; a text that is too long is put on a
 * line of its own above. */
void gp_page_cell(const struct gp_page *page, unsigned columns,
		  const char *text);

/* "label        text", the text wrapped in its column. */
void gp_page_field(const struct gp_page *page, const char *label,
		   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "label        value  note", the value right-aligned in its column. */
struct gp_page_row {
	const char *label, *value, *note;
	enum gp_tone tone; /* of the value */
};
void gp_page_row(const struct gp_page *page, const struct gp_page_row *row);

/* A text that is assembled piece by piece; what does not fit is cut off. */
#define GP_WORDS 1024
struct gp_words {
	char text[GP_WORDS];
};
/* Appends formatted text. */
void gp_say(struct gp_words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "37.4 %"; only 1 is "100 %", and only 0 is "0 %". */
#define GP_PERCENT_TEXT 16
const char *gp_percent_text(double ratio, char text[GP_PERCENT_TEXT]);

/* "+42.0 %"; "<0.1 %" for a change that small; "" if there is no change, or if
 * no ratio exists because the first value is 0. */
#define GP_PERCENT_CHANGE 32
const char *gp_percent_change(double from, double to,
			      char text[GP_PERCENT_CHANGE]);
/* The same in a sentence: " (+42.0 %)". */
const char *gp_percent_aside(double from, double to,
			     char text[GP_PERCENT_CHANGE]);

/* A measure's value, formatted by its unit. */
const char *gp_measure_text(const struct gp_measure *measure,
			    const struct gp_subject *subject,
			    char text[GP_COUNT_TEXT]);

/* "1 event", "3 events", "12,345 events". */
#define GP_PLURAL_TEXT 64
const char *gp_plural_text(uint64_t count, const char *noun,
			   char text[GP_PLURAL_TEXT]);
/* The same as an argument: the text lives until the enclosing block ends. */
#define GP_PLURAL(count, noun)                                                 \
	gp_plural_text((count), (noun), (char[GP_PLURAL_TEXT]){ 0 })

/* The name of a file without its folders. */
const char *gp_page_name(const char *path);

#endif
