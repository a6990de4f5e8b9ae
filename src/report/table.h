/* SPDX-License-Identifier: MIT */
/*
 * Tables in text, Markdown, CSV and HTML. Columns are data, a row has a cell
 * for each, and a value is passed once: the format decides whether it is
 * written for people or as a plain number.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum gp_table_format {
	GP_TABLE_TEXT,
	GP_TABLE_MARKDOWN,
	GP_TABLE_CSV,
	GP_TABLE_HTML,
	GP_TABLE_FORMATS
};

enum gp_cell_kind {
	GP_CELL_NONE,
	GP_CELL_TEXT,
	GP_CELL_WORD, /* a text that needs no quotes */
	GP_CELL_BYTES,
	GP_CELL_MORE, /* bytes, with a sign */
	GP_CELL_COUNT,
	GP_CELL_TIME, /* microseconds */
	GP_CELL_FLAG,
};

struct gp_cell {
	enum gp_cell_kind kind;
	uint64_t number;
	const char *text;
};

struct gp_column {
	/* By format; NULL: it is not in that format. */
	const char *title[GP_TABLE_FORMATS];
	int width;	 /* of text; 0: the rest of the line */
	const char *key; /* name of its numbers on a page; NULL: a text */
};

struct gp_table {
	enum gp_table_format format;
	const struct gp_column *columns;
	size_t count;
	FILE *out;
};

/* Writes the titles; id: by which scripts and tests find the table on a
 * page. */
void gp_table_begin(const struct gp_table *table, const char *id);
/* One cell for each column, including columns that the format lacks. */
void gp_table_row(const struct gp_table *table, const struct gp_cell *cells);
void gp_table_end(const struct gp_table *table);

/* Escapes a text for Markdown. */
void gp_table_markdown(const char *text, FILE *out);

#endif
