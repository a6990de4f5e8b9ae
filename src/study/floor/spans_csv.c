/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing spans: minimalloc's CSV.
 *
 *	id,lower,upper,size[,alignment][,hint][,gaps][,offset]
 *
 * Columns may be in any order. start and begin are other names of lower, buffer
 * and buffer_id of id. end is the last time in use, whereas upper is the first
 * time after it; the same holds for gaps. A gap is LOWER-UPPER, or
 * LOWER-UPPER@FROM:TO; gaps are separated by a blank. Offsets and unknown
 * columns are ignored.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/mem.h"
#include "formats/source.h"
#include "study/floor/floor.h"

#define HEAD	256 /* most bytes of the header line */
#define COLUMNS 32
#define GAPS	4096 /* most gaps of one span */

/* More than any device has; keeps sums below 2^64. */
#define MOST_SIZE  (UINT64_C(1) << 44)
#define MOST_TOTAL (UINT64_C(1) << 62)
#define MOST_TIME  (UINT64_C(1) << 62)

enum column { ID, LOWER, UPPER, END, SIZE, ALIGN, HINT, GAP, OTHER, KINDS };

static const struct {
	const char *name;
	enum column column;
} column_names[] = {
	{ "id", ID },		{ "buffer", ID },   { "buffer_id", ID },
	{ "lower", LOWER },	{ "start", LOWER }, { "begin", LOWER },
	{ "upper", UPPER },	{ "end", END },	    { "size", SIZE },
	{ "alignment", ALIGN }, { "hint", HINT },   { "gaps", GAP },
};

struct text {
	const char *at;
	size_t length;
};

struct reader {
	struct gp_spans *spans;
	struct gp_diag *diag;
	const char *at, *stop;
	size_t line;
	enum column columns[COLUMNS];
	size_t column_count;
	bool has_end; /* false: upper */
	size_t room, names_room, hints_room, gaps_room;
	uint64_t total;
};

static enum gp_status fail(struct reader *r, const char *what,
			   const struct text *cell)
{
	gp_diag_record(r->diag, "line %zu", r->line);
	return gp_diag_set(r->diag, GP_INPUT, "%s: %.*s", what,
			   (int)(cell->length < 64 ? cell->length : 64),
			   cell->at);
}

/* ---- lines and cells ---- */

/* The next line without its line end; false: there is none. */
static bool next_line(struct reader *r, struct text *line)
{
	const char *end;

	if (r->at == r->stop)
		return false;
	end = memchr(r->at, '\n', (size_t)(r->stop - r->at));
	*line = (struct text){ r->at, (size_t)((end ? end : r->stop) - r->at) };
	r->at = end ? end + 1 : r->stop;
	r->line++;
	if (line->length && line->at[line->length - 1] == '\r')
		line->length--;
	return true;
}

/* Splits off the text before a separator; false: nothing is left. */
static bool next_cell(struct text *rest, char separator, struct text *cell)
{
	const char *end;

	if (!rest->at)
		return false;
	end = memchr(rest->at, separator, rest->length);
	*cell = *rest;
	if (!end) {
		*rest = (struct text){ 0 };
		return true;
	}
	cell->length = (size_t)(end - rest->at);
	rest->length -= cell->length + 1;
	rest->at = end + 1;
	return true;
}

static bool is_number(const struct text *cell, uint64_t most, uint64_t *value)
{
	uint64_t n = 0;

	for (size_t i = 0; i < cell->length; i++) {
		if (cell->at[i] < '0' || cell->at[i] > '9')
			return false;
		n = n * 10 + (uint64_t)(cell->at[i] - '0');
		if (n > most)
			return false;
	}
	*value = n;
	return cell->length > 0;
}

/* ---- columns ---- */

static enum column column_of(const struct text *cell)
{
	for (size_t i = 0; i < sizeof(column_names) / sizeof(*column_names);
	     i++)
		if (strlen(column_names[i].name) == cell->length &&
		    !memcmp(column_names[i].name, cell->at, cell->length))
			return column_names[i].column;
	return OTHER;
}

static enum gp_status check_columns(struct reader *r, const bool *has)
{
	static const char *const needed[] = {
		[ID] = "id", [LOWER] = "lower", [SIZE] = "size"
	};
	const char *missing = NULL;

	for (int i = ID; i <= SIZE; i++)
		if (needed[i] && !has[i])
			missing = needed[i];
	if (!has[UPPER] && !has[END])
		missing = "upper";
	if (!missing)
		return GP_OK;
	gp_diag_record(r->diag, "line 1");
	gp_diag_hint(r->diag, "the first line is id,lower,upper,size, and "
			      "optionally alignment, hint, gaps");
	return gp_diag_set(r->diag, GP_INPUT, "there is no column %s", missing);
}

static enum gp_status read_columns(struct reader *r)
{
	struct text line = { "", 0 }, cell;
	bool has[KINDS] = { false };

	if (!next_line(r, &line))
		r->line = 1;
	while (next_cell(&line, ',', &cell)) {
		enum column column = column_of(&cell);

		if (r->column_count == COLUMNS)
			return fail(r, "there are too many columns", &cell);
		if (column != OTHER && has[column])
			return fail(r, "the column appears twice", &cell);
		has[column] = true;
		r->columns[r->column_count++] = column;
	}
	if (has[UPPER] && has[END]) {
		gp_diag_record(r->diag, "line 1");
		return gp_diag_set(r->diag, GP_INPUT,
				   "the columns upper and end mean the same: "
				   "only one is allowed");
	}
	r->has_end = has[END];
	r->spans->has_align = has[ALIGN];
	r->spans->has_gaps = has[GAP];
	if (has[HINT])
		r->spans->hints = gp_mem_alloc(1, sizeof(*r->spans->hints));
	return check_columns(r, has);
}

/* ---- gaps ---- */

/* "7-9" or "12-14@2:13" */
static bool parse_gap(struct text text, bool is_inclusive,
		      struct gp_span_gap *gap)
{
	struct text lower, upper, from, to;

	*gap = (struct gp_span_gap){ 0 };
	if (!next_cell(&text, '-', &lower) || !next_cell(&text, '@', &upper) ||
	    !is_number(&lower, MOST_TIME, &gap->lower) ||
	    !is_number(&upper, MOST_TIME, &gap->upper))
		return false;
	gap->upper += is_inclusive;
	if (!text.at)
		return gap->lower < gap->upper;
	if (!next_cell(&text, ':', &from))
		return false;
	to = text;
	return is_number(&from, MOST_SIZE, &gap->from) &&
	       is_number(&to, MOST_SIZE, &gap->to) && gap->from < gap->to &&
	       gap->lower < gap->upper;
}

static enum gp_status read_gaps(struct reader *r, struct text cell,
				struct gp_span *span)
{
	struct gp_spans *spans = r->spans;
	struct text part;

	while (next_cell(&cell, ' ', &part)) {
		struct gp_span_gap gap;

		if (!part.length)
			continue;
		if (span->gaps == GAPS || !parse_gap(part, r->has_end, &gap))
			return fail(r, "that is not a gap such as 7-9", &part);
		GP_GROW(spans->gaps, spans->gap_count + 1, r->gaps_room);
		spans->gaps[spans->gap_count++] = gap;
		span->gaps++;
	}
	return GP_OK;
}

static enum gp_status check_gaps(struct reader *r, const struct gp_span *span)
{
	uint64_t time = span->lower;

	for (uint32_t i = 0; i < span->gaps; i++) {
		const struct gp_span_gap *gap =
			&r->spans->gaps[span->first_gap + i];

		if (gap->lower < time || gap->upper > span->upper ||
		    gap->to > span->size) {
			gp_diag_record(r->diag, "line %zu", r->line);
			gp_diag_hint(
				r->diag,
				"gaps must ascend, must not touch each other, "
				"and must lie between lower and upper");
			return gp_diag_set(r->diag, GP_INPUT,
					   "gap %u is not within its span",
					   i + 1);
		}
		time = gap->upper;
	}
	return GP_OK;
}

/* ---- spans ---- */

struct row {
	struct gp_span span;
	struct text name;
	int64_t hint;
};

static enum gp_status read_cell(struct reader *r, enum column column,
				const struct text *cell, struct row *row)
{
	struct gp_span *span = &row->span;
	uint64_t value = 0;
	bool is_good = true;

	switch (column) {
	case ID: row->name = *cell; break;
	case LOWER: is_good = is_number(cell, MOST_TIME, &span->lower); break;
	case UPPER:
	case END: is_good = is_number(cell, MOST_TIME, &span->upper); break;
	case SIZE:
		is_good = is_number(cell, MOST_SIZE, &span->size) && span->size;
		break;
	case ALIGN:
		is_good =
			is_number(cell, MOST_SIZE, &span->align) && span->align;
		break;
	case HINT:
		if (cell->length == 2 && !memcmp(cell->at, "-1", 2))
			break;
		is_good = is_number(cell, MOST_TIME, &value);
		row->hint = (int64_t)value;
		break;
	case GAP: return read_gaps(r, *cell, span);
	default: break;
	}
	return is_good ? GP_OK : fail(r, "this number is not valid here", cell);
}

static enum gp_status check_row(struct reader *r, struct row *row)
{
	struct gp_span *span = &row->span;

	span->upper += r->has_end;
	r->total += span->size;
	if (span->lower >= span->upper)
		return fail(r, "it ends before it begins", &row->name);
	if (r->total > MOST_TOTAL)
		return fail(r, "the sum of the sizes is too large", &row->name);
	return check_gaps(r, span);
}

static void add_row(struct reader *r, struct row *row)
{
	struct gp_spans *spans = r->spans;
	size_t i = spans->count++;

	GP_GROW(spans->items, i + 1, r->room);
	GP_GROW(spans->names, i + 1, r->names_room);
	spans->names[i] =
		gp_arena_text(spans->memory, row->name.at, row->name.length);
	row->span.id = (uint32_t)i;
	spans->items[i] = row->span;
	if (!spans->hints)
		return;
	GP_GROW(spans->hints, i + 1, r->hints_room);
	spans->hints[i] = row->hint;
}

static enum gp_status read_row(struct reader *r, struct text line)
{
	struct row row = {
		.span = { .align = 1,
			  .first_gap = (uint32_t)r->spans->gap_count },
		.hint = GP_NO_HINT,
	};
	struct text whole = line, cell;
	enum gp_status status = GP_OK;
	size_t i = 0;

	for (; status == GP_OK && next_cell(&line, ',', &cell); i++) {
		if (i == r->column_count)
			return fail(r, "there are more cells than columns",
				    &whole);
		status = read_cell(r, r->columns[i], &cell, &row);
	}
	if (status == GP_OK && i < r->column_count)
		status = fail(r, "there are fewer cells than columns", &whole);
	if (status == GP_OK)
		status = check_row(r, &row);
	if (status == GP_OK)
		add_row(r, &row);
	return status;
}

enum gp_status gp_spans_parse(const char *text, size_t length,
			      struct gp_spans *spans, struct gp_diag *diag)
{
	struct reader r = {
		.spans = spans, .diag = diag, .at = text, .stop = text + length
	};
	struct text line;
	enum gp_status status;

	*spans = (struct gp_spans){ 0 };
	spans->memory = gp_mem_alloc(1, sizeof(struct gp_arena));
	status = read_columns(&r);
	while (status == GP_OK && next_line(&r, &line))
		if (line.length)
			status = read_row(&r, line);
	if (status != GP_OK)
		gp_spans_release(spans);
	return status;
}

/* ---- files ---- */

enum gp_status gp_spans_read(const char *path, struct gp_spans *spans,
			     struct gp_diag *diag)
{
	const struct gp_input_config config = { .path = path };
	struct gp_source source;
	enum gp_status status = gp_source_open(&source, &config, diag);

	while (status == GP_OK && gp_source_more(&source))
		;
	if (status == GP_OK)
		status = source.status;
	if (status == GP_OK)
		status = gp_spans_parse((const char *)source.at,
					(size_t)(source.end - source.at), spans,
					diag);
	gp_source_close(&source);
	return status;
}

static bool has_csv_columns(struct text line)
{
	bool has_lower = false, has_size = false;
	struct text cell;

	while (next_cell(&line, ',', &cell)) {
		has_lower |= column_of(&cell) == LOWER;
		has_size |= column_of(&cell) == SIZE;
	}
	return has_lower && has_size;
}

bool gp_spans_is_csv(const char *path)
{
	const struct gp_input_config config = { .path = path };
	struct gp_diag ignored = { 0 };
	struct gp_source source;
	struct reader r = { 0 };
	struct text line = { 0 };
	struct stat file;
	bool is_csv;

	/* Only a regular file can be read twice. */
	if (!strcmp(path, "-") || stat(path, &file) || !S_ISREG(file.st_mode) ||
	    gp_source_open(&source, &config, &ignored) != GP_OK)
		return false;
	r.at = (const char *)source.at;
	r.stop = source.end - source.at > HEAD ? r.at + HEAD
					       : (const char *)source.end;
	is_csv = next_line(&r, &line) && has_csv_columns(line);
	gp_source_close(&source);
	return is_csv;
}

/* ---- writing ---- */

static void write_gaps(const struct gp_spans *spans, const struct gp_span *span,
		       FILE *out)
{
	for (uint32_t i = 0; i < span->gaps; i++) {
		const struct gp_span_gap *gap =
			&spans->gaps[span->first_gap + i];

		fprintf(out, "%s%" PRIu64 "-%" PRIu64, i ? " " : "", gap->lower,
			gap->upper);
		if (gap->to)
			fprintf(out, "@%" PRIu64 ":%" PRIu64, gap->from,
				gap->to);
	}
}

static void write_name(const struct gp_spans *spans, const uint64_t *names,
		       uint32_t id, FILE *out)
{
	if (spans->names)
		fputs(spans->names[id], out);
	else
		fprintf(out, "%" PRIu64, names ? names[id] : id);
}

void gp_spans_write(const struct gp_spans *spans, const uint64_t *offsets,
		    const uint64_t *names, FILE *out)
{
	fprintf(out, "id,lower,upper,size%s%s%s,offset\n",
		spans->has_align ? ",alignment" : "",
		spans->hints ? ",hint" : "", spans->has_gaps ? ",gaps" : "");
	for (size_t i = 0; i < spans->count; i++) {
		const struct gp_span *span = &spans->items[i];

		write_name(spans, names, span->id, out);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, span->lower,
			span->upper, span->size);
		if (spans->has_align)
			fprintf(out, ",%" PRIu64, span->align);
		if (spans->hints)
			fprintf(out, ",%" PRId64, spans->hints[i]);
		if (spans->has_gaps) {
			putc(',', out);
			write_gaps(spans, span, out);
		}
		fprintf(out, ",%" PRIu64 "\n", offsets[i]);
	}
}
