/* SPDX-License-Identifier: MIT */
/* Tables in text, Markdown, CSV and HTML. */
#include "report/table.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "base/text.h"
#include "report/html.h"
#include "report/svg_parts.h"

#define VALUE_TEXT 64

/* ---- values, as people read them ---- */

static const char *time_text(uint64_t us, char text[VALUE_TEXT])
{
	if (us < 10000)
		snprintf(text, VALUE_TEXT, "%.2f ms", (double)us / 1e3);
	else if (us < 10000000)
		snprintf(text, VALUE_TEXT, "%.0f ms", (double)us / 1e3);
	else
		snprintf(text, VALUE_TEXT, "%.1f s", (double)us / 1e6);
	return text;
}

static const char *more_text(int64_t more, char text[VALUE_TEXT])
{
	return more > 0 ? gp_bytes_change(0, (uint64_t)more, text)
			: gp_bytes_change(-(uint64_t)more, 0, text);
}

static const char *text_of(const struct gp_table *table,
			   const struct gp_cell *cell, char text[VALUE_TEXT])
{
	switch (cell->kind) {
	case GP_CELL_NONE: break;
	case GP_CELL_TEXT:
	case GP_CELL_WORD: return cell->text;
	case GP_CELL_BYTES: return gp_bytes_text(cell->number, text);
	case GP_CELL_MORE: return more_text((int64_t)cell->number, text);
	case GP_CELL_COUNT: return gp_count_text(cell->number, text);
	case GP_CELL_TIME:
		if (table->format == GP_TABLE_TEXT)
			return time_text(cell->number, text);
		/* The column's title has the unit, and all values have the
		 * same. */
		snprintf(text, VALUE_TEXT, "%.1f", (double)cell->number / 1e3);
		return text;
	case GP_CELL_FLAG: return cell->number ? "yes" : "";
	}
	return "";
}

/* ---- the formats ---- */

static void put_text(const struct gp_table *table,
		     const struct gp_column *column, const char *text)
{
	bool is_first = column == table->columns;

	if (column->width)
		fprintf(table->out, "%s%*s", is_first ? "" : " ", column->width,
			text);
	else if (*text)
		fprintf(table->out, "  %s", text);
}

void gp_table_markdown(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '\\')
			putc('\\', out);
		putc(*text == '\n' ? ' ' : *text, out);
	}
}

static void put_markdown(const struct gp_table *table, const char *text)
{
	putc(' ', table->out);
	gp_table_markdown(text, table->out);
	fputs(*text ? " |" : "|", table->out);
}

static void put_csv(const struct gp_table *table, const struct gp_cell *cell)
{
	if (cell->kind == GP_CELL_TEXT)
		gp_quote_csv(cell->text, table->out);
	else if (cell->kind == GP_CELL_WORD)
		fputs(cell->text, table->out);
	else if (cell->kind == GP_CELL_MORE)
		fprintf(table->out, "%" PRId64, (int64_t)cell->number);
	else if (cell->kind != GP_CELL_NONE)
		fprintf(table->out, "%" PRIu64, cell->number);
}

/* Cells without a value sort after all others. */
static void put_html(const struct gp_table *table,
		     const struct gp_column *column, const struct gp_cell *cell,
		     const char *text)
{
	/* A text in the first column names the row. */
	bool is_name = column == table->columns && !column->key;

	fputs(is_name ? "<th scope=row" : "<td", table->out);
	if (column->key && *column->key)
		fprintf(table->out, " data-key=\"%s\"", column->key);
	if (column->key && cell->kind == GP_CELL_NONE)
		fputs(" data-value=\"1e9\"", table->out);
	else if (column->key)
		fprintf(table->out, " data-value=\"%" PRIu64 "\"",
			cell->number);
	putc('>', table->out);
	gp_xml_text(text, table->out);
	fputs(is_name ? "</th>" : "</td>", table->out);
}

/* ---- a table ---- */

static bool is_shown(const struct gp_table *table, size_t i)
{
	return table->columns[i].title[table->format] != NULL;
}

static void put_cell(const struct gp_table *table, size_t i,
		     const struct gp_cell *cell)
{
	const struct gp_column *column = &table->columns[i];
	char made[VALUE_TEXT];
	const char *text = text_of(table, cell, made);

	switch (table->format) {
	case GP_TABLE_TEXT: put_text(table, column, text); break;
	case GP_TABLE_MARKDOWN: put_markdown(table, text); break;
	case GP_TABLE_CSV: put_csv(table, cell); break;
	default: put_html(table, column, cell, text); break;
	}
}

void gp_table_row(const struct gp_table *table, const struct gp_cell *cells)
{
	bool is_csv = table->format == GP_TABLE_CSV, is_first = true;

	if (table->format == GP_TABLE_MARKDOWN)
		putc('|', table->out);
	if (table->format == GP_TABLE_HTML)
		fputs("<tr>", table->out);
	for (size_t i = 0; i < table->count; i++) {
		if (!is_shown(table, i))
			continue;
		if (is_csv && !is_first)
			putc(',', table->out);
		put_cell(table, i, &cells[i]);
		is_first = false;
	}
	fputs(table->format == GP_TABLE_HTML ? "</tr>\n" : "\n", table->out);
}

static void begin_html(const struct gp_table *table, const char *id)
{
	fprintf(table->out,
		"<div class=scroll><table class=sortable "
		"data-table=\"%s\"><thead><tr>",
		id);
	for (size_t i = 0; i < table->count; i++)
		if (is_shown(table, i))
			fprintf(table->out, "<th scope=col%s>%s</th>",
				table->columns[i].key ? " class=n" : "",
				table->columns[i].title[GP_TABLE_HTML]);
	fputs("</tr></thead><tbody>\n", table->out);
}

void gp_table_begin(const struct gp_table *table, const char *id)
{
	struct gp_cell title = { .kind = GP_CELL_WORD };
	const char *separator = "";

	if (table->format == GP_TABLE_HTML) {
		begin_html(table, id);
		return;
	}
	if (table->format == GP_TABLE_MARKDOWN)
		putc('|', table->out);
	for (size_t i = 0; i < table->count; i++) {
		if (!is_shown(table, i))
			continue;
		if (table->format == GP_TABLE_CSV)
			fputs(separator, table->out);
		separator = ",";
		title.text = table->columns[i].title[table->format];
		put_cell(table, i, &title);
	}
	putc('\n', table->out);
	if (table->format != GP_TABLE_MARKDOWN)
		return;
	putc('|', table->out);
	for (size_t i = 0; i < table->count; i++)
		if (is_shown(table, i))
			fputs(table->columns[i].key ? "--:|" : "---|",
			      table->out);
	putc('\n', table->out);
}

void gp_table_end(const struct gp_table *table)
{
	if (table->format == GP_TABLE_HTML)
		fputs("</tbody></table></div>\n", table->out);
}
