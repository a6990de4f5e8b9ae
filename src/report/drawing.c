/* SPDX-License-Identifier: MIT */
/*
 * A drawing of memory over a run: two areas, allocated in front of reserved,
 * in eighths of a character cell.
 */
#include "report/drawing.h"

#include <string.h>

#include "base/bytes.h"

#define LABEL	    10 /* columns left of the axis */
#define MIN_WIDTH   16 /* of the area */
#define MAX_WIDTH   GP_BINS
#define TOP_COLUMNS 80

/* The characters with which cells and edges are drawn. */
struct ink {
	const char *full[8]; /* by filled eighths; [0]: the full cell */
	const char *gap;     /* reserved, not allocated */
	const char *axis, *corner, *line, *peak;
};

static const struct ink unicode = {
	{ "█", "▁", "▂", "▃", "▄", "▅", "▆", "▇" }, "░", "┤", "└", "─", "▲",
};

static const struct ink ascii = {
	{ "#", " ", " ", "#", "#", "#", "#", "#" }, ".", "|", "+", "-", "^",
};

#define BLUE   "\033[34m"
#define YELLOW "\033[33m"
#define PLAIN  "\033[0m"

/* One column of cells: heights in eighths of a cell. */
struct column {
	unsigned allocated, reserved;
};

struct canvas {
	struct column columns[MAX_WIDTH];
	unsigned width, rows;
	unsigned peak; /* column */
	uint64_t top;
	const struct ink *ink;
	bool color;
};

static uint64_t largest_of(const uint64_t *values, uint32_t first,
			   uint32_t last)
{
	uint64_t largest = values[first];

	for (uint32_t i = first + 1; i <= last; i++)
		if (values[i] > largest)
			largest = values[i];
	return largest;
}

/* The height in eighths; at least one for a value above 0. */
static unsigned eighths(const struct canvas *canvas, uint64_t value)
{
	double part = (double)value / (double)canvas->top;
	unsigned height = (unsigned)(part * canvas->rows * 8 + 0.5);

	if (height > canvas->rows * 8)
		height = canvas->rows * 8;
	return value && !height ? 1 : height;
}

static void fill_columns(struct canvas *canvas,
			 const struct gp_timeline *timeline)
{
	uint32_t bins = timeline->bins;

	for (unsigned x = 0; x < canvas->width; x++) {
		uint32_t first = (uint32_t)((uint64_t)x * bins / canvas->width);
		uint32_t next =
			(uint32_t)((uint64_t)(x + 1) * bins / canvas->width);
		uint32_t last = next > first ? next - 1 : first;

		canvas->columns[x] = (struct column){
			eighths(canvas,
				largest_of(timeline->allocated, first, last)),
			eighths(canvas,
				largest_of(timeline->reserved, first, last)),
		};
	}
}

/* The character of a cell; NULL: it is empty. */
static const char *cell(const struct canvas *canvas, unsigned x, unsigned row,
			const char **color)
{
	const struct column *column = &canvas->columns[x];
	unsigned floor = (canvas->rows - 1 - row) * 8;

	*color = BLUE;
	if (column->allocated >= floor + 8)
		return canvas->ink->full[0];
	if (column->allocated > floor &&
	    *canvas->ink->full[column->allocated - floor] != ' ')
		return canvas->ink->full[column->allocated - floor];
	*color = YELLOW;
	/* At least half of the cell is gap, or the column has no other cell. */
	if (column->reserved >= floor + 4 || (column->reserved && !floor))
		return canvas->ink->gap;
	return NULL;
}

static void print_cells(const struct canvas *canvas, unsigned row, FILE *out)
{
	const char *color_now = NULL;
	unsigned blanks = 0;

	for (unsigned x = 0; x < canvas->width; x++) {
		const char *color, *mark = cell(canvas, x, row, &color);

		if (!mark) {
			blanks++;
			continue;
		}
		fprintf(out, "%*s", (int)blanks, "");
		blanks = 0;
		if (canvas->color && color != color_now)
			fputs(color, out);
		color_now = color;
		fputs(mark, out);
	}
	if (canvas->color && color_now)
		fputs(PLAIN, out);
	putc('\n', out);
}

static void print_row(const struct canvas *canvas, unsigned row, FILE *out)
{
	char label[GP_BYTES_TEXT] = "";

	/* Label the upper edge, and the middle if it lies between two rows. */
	if (!row)
		gp_bytes_text(canvas->top, label);
	else if (row * 2 == canvas->rows)
		gp_bytes_text(canvas->top / 2, label);
	fprintf(out, "%*s %s", LABEL, label, canvas->ink->axis);
	print_cells(canvas, row, out);
}

static void print_base(const struct canvas *canvas, FILE *out)
{
	fprintf(out, "%*s %s", LABEL, "0 B", canvas->ink->corner);
	for (unsigned x = 0; x < canvas->width; x++)
		fputs(x == canvas->peak ? canvas->ink->peak : canvas->ink->line,
		      out);
	putc('\n', out);
}

static void place(char *line, unsigned at, const char *text)
{
	memcpy(line + at, text, strlen(text));
}

/* The first and the last event, and the peak's below its mark if there is room
 * between them. */
static void print_events(const struct canvas *canvas,
			 const struct gp_drawing *drawing, FILE *out)
{
	char line[MAX_WIDTH + 1], peak[64], last[64];
	unsigned length, end, start;

	snprintf(peak, sizeof(peak), "peak: %s", drawing->peak);
	snprintf(last, sizeof(last), "%s", GP_COUNT(drawing->events));
	memset(line, ' ', sizeof(line));
	line[canvas->width] = 0;
	line[0] = '0';
	length = (unsigned)strlen(peak);
	end = canvas->width;
	if (strlen(last) + 2 < end) {
		end -= (unsigned)strlen(last);
		place(line, end, last);
	}
	start = canvas->peak > length / 2 + 2 ? canvas->peak - length / 2 : 2;
	if (start + length + 1 > end)
		start = end > length + 3 ? end - length - 1 : 0;
	if (start)
		place(line, start, peak);
	fprintf(out, "%*s  %s\n", LABEL, "", line);
}

static void print_legend(const struct canvas *canvas, FILE *out)
{
	const char *blue = canvas->color ? BLUE : "";
	const char *yellow = canvas->color ? YELLOW : "";
	const char *plain = canvas->color ? PLAIN : "";

	fprintf(out, "%*s  %s%s%s allocated  %s%s%s reserved, not allocated\n",
		LABEL, "", blue, canvas->ink->full[0], plain, yellow,
		canvas->ink->gap, plain);
}

uint64_t gp_drawing_top(const struct gp_timeline *timeline)
{
	uint64_t top = 0;

	for (uint32_t i = 0; i < timeline->bins; i++)
		if (timeline->reserved[i] > top)
			top = timeline->reserved[i];
	return top;
}

static unsigned width_for(const struct gp_report_style *style)
{
	unsigned columns = style->columns ? style->columns : TOP_COLUMNS;
	unsigned width = columns > LABEL + 2 ? columns - LABEL - 2 : 0;

	if (width < MIN_WIDTH)
		return MIN_WIDTH;
	return width > MAX_WIDTH ? MAX_WIDTH : width;
}

void gp_drawing_print(const struct gp_drawing *drawing,
		      const struct gp_report_style *style, FILE *out)
{
	uint64_t top =
		drawing->top ? drawing->top : gp_drawing_top(drawing->timeline);
	struct canvas canvas = {
		.width = width_for(style),
		.rows = drawing->rows ? drawing->rows : 8,
		.top = top,
		.ink = style->ascii ? &ascii : &unicode,
		.color = style->color,
	};
	double part;

	if (!drawing->timeline->bins || !top || !drawing->events)
		return;
	part = (double)drawing->peak_event / (double)drawing->events;
	canvas.peak = (unsigned)(part * canvas.width);
	if (canvas.peak >= canvas.width)
		canvas.peak = canvas.width - 1;
	fill_columns(&canvas, drawing->timeline);
	for (unsigned row = 0; row < canvas.rows; row++)
		print_row(&canvas, row, out);
	print_base(&canvas, out);
	print_events(&canvas, drawing, out);
	print_legend(&canvas, out);
}
