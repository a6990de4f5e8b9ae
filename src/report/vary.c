/* SPDX-License-Identifier: MIT */
/* What a program needs with several values of something, and the largest that
 * fits: as text, as bars against the device's memory, as JSON, and as a
 * page. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "report/emit.h"
#include "report/html.h"
#include "report/page.h"
#include "report/svg_parts.h"

const struct gp_vary_point *gp_vary_largest(const struct gp_vary_report *r)
{
	const struct gp_vary_point *largest = NULL;

	for (size_t i = 0; i < r->count && r->points[i].fits; i++)
		largest = &r->points[i];
	return largest;
}

const struct gp_vary_point *gp_vary_failed(const struct gp_vary_report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->points[i].failure)
			return &r->points[i];
	return NULL;
}

/* A tried value that needs less than a smaller one, or fits where a smaller one
 * does not; NULL: there is none. */
static const struct gp_vary_point *out_of_order(const struct gp_vary_report *r)
{
	for (size_t i = 1; i < r->count; i++) {
		const struct gp_vary_point *p = &r->points[i];

		if ((p->fits && !p[-1].fits && !p[-1].failure) ||
		    (p->need && p->need < p[-1].need))
			return p;
	}
	return NULL;
}

/* The path of the first point whose program read unknown values, else of the
 * first point. */
static const char *path_of(const struct gp_vary_report *r)
{
	const char *path = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const char *of = r->points[i].path;

		if (of && (!path || !strcmp(path, GP_VALUES_KNOWN)))
			path = of;
	}
	return path;
}

/* A program that uses no device needs 0. */
static bool is_need_known(const struct gp_vary_point *p)
{
	return p->need || p->fits;
}

static uint64_t most_of(const struct gp_vary_report *r)
{
	uint64_t most = r->gpu->capacity;

	for (size_t i = 0; i < r->count; i++)
		most = gp_larger(most, r->points[i].need);
	return most;
}

/* ---- in words ---- */

#define SENTENCE 640 /* what is longer is cut */

static const char *answer_of(const struct gp_vary_report *r, char *text)
{
	const struct gp_vary_point *largest = gp_vary_largest(r);
	char total[GP_BYTES_TEXT];

	gp_bytes_text(r->gpu->capacity, total);
	if (!largest && r->points[0].failure)
		snprintf(text, SENTENCE,
			 "Whether %s fits %s with %s=%" PRIu64 " is not known.",
			 r->program, r->gpu->name, r->name, r->first);
	else if (!largest)
		snprintf(text, SENTENCE,
			 "%s does not fit %s with %s=%" PRIu64 ".", r->program,
			 r->gpu->name, r->name, r->first);
	else
		snprintf(text, SENTENCE,
			 "%s fits %s up to %s=%" PRIu64
			 "%s: it needs %s of %s.",
			 r->program, r->gpu->name, r->name, largest->value,
			 largest->value == r->last
				 ? ", the last that was asked for"
				 : "",
			 GP_BYTES(largest->need), total);
	return text;
}

/* What can be concluded for values that were not tried: nothing, if a larger
 * value can need less. */
static const char *rest_of(const struct gp_vary_report *r)
{
	return r->points[r->count - 1].fits
		       ? "Those that were not tried may not fit."
		       : "Those that were not tried may fit, or not.";
}

/* NULL, here and below: there is nothing to say. */
static const char *order_of(const struct gp_vary_report *r, char *text)
{
	const struct gp_vary_point *odd = out_of_order(r);

	if (!odd)
		return NULL;
	snprintf(text, SENTENCE,
		 "A larger value does not always need more: %s=%" PRIu64
		 " needs less than %" PRIu64 ". %s",
		 r->name, odd->value, odd[-1].value, rest_of(r));
	return text;
}

static const char *failure_of(const struct gp_vary_report *r, char *text)
{
	const struct gp_vary_point *failed = gp_vary_failed(r);

	if (!failed)
		return NULL;
	snprintf(text, SENTENCE,
		 "With %s=%" PRIu64 " %s: what it would need "
		 "is not known.",
		 r->name, failed->value, failed->failure);
	return text;
}

/* ---- for a person ---- */

static void print_sentences(const struct gp_page *page,
			    const struct gp_vary_report *r)
{
	char text[SENTENCE];

	gp_page_line(page, gp_vary_largest(r) ? GP_TONE_GOOD : GP_TONE_BAD, 0,
		     "%s", answer_of(r, text));
	if (order_of(r, text))
		gp_page_line(page, GP_TONE_BAD, 0, "%s", text);
	if (failure_of(r, text))
		gp_page_line(page, GP_TONE_BAD, 0, "%s", text);
}

#define BAR_LEFT 28 /* columns before a bar */

/* "####....|": a bar for what it needs, with the device's limit. */
static void print_bar(const struct gp_page *page,
		      const struct gp_vary_report *r,
		      const struct gp_vary_point *p)
{
	unsigned room = page->columns - BAR_LEFT - 1;
	double most = (double)most_of(r);
	unsigned used = (unsigned)((double)p->need / most * room);
	unsigned end = (unsigned)((double)r->gpu->capacity / most * room);
	const char *full = page->style->ascii ? "#" : "\u2588";

	for (unsigned i = 0; i <= room && (i <= end || i < used); i++)
		fputs(i == end ? "|" : i < used ? full : " ", page->out);
}

static void print_point(const struct gp_page *page,
			const struct gp_vary_report *r,
			const struct gp_vary_point *p)
{
	if (p->failure) {
		fprintf(page->out, "%12" PRIu64 "      failed\n", p->value);
		return;
	}
	fprintf(page->out, "%12" PRIu64 "  %10s  ", p->value,
		is_need_known(p) ? GP_BYTES(p->need) : "more");
	print_bar(page, r, p);
	fputs("\n", page->out);
}

void gp_report_vary_text(const struct gp_vary_report *r,
			 const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	print_sentences(&page, r);
	gp_page_blank(&page);
	fprintf(out, "%12s  %10s  | is the end of %s, %s\n", r->name, "needs",
		r->gpu->name, GP_BYTES(r->gpu->capacity));
	for (size_t i = 0; i < r->count; i++)
		print_point(&page, r, &r->points[i]);
	if (!path_of(r))
		return;
	gp_page_blank(&page);
	gp_page_field(&page, "Path", "%s", path_of(r));
}

/* ---- for a program ---- */

void gp_report_vary_json(const struct gp_vary_report *r, FILE *out)
{
	const struct gp_vary_point *largest = gp_vary_largest(r);
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_text(&json, "program", r->program);
	gp_emit_text(&json, "name", r->name);
	gp_emit_uint(&json, "first", r->first);
	gp_emit_uint(&json, "last", r->last);
	if (largest)
		gp_emit_uint(&json, "largest", largest->value);
	else
		gp_emit_null(&json, "largest");
	gp_emit_bool(&json, "is_monotone", !out_of_order(r));
	gp_emit_text(&json, "gpu", r->gpu->name);
	gp_emit_uint(&json, "gpu_bytes", r->gpu->capacity);
	gp_emit_text(&json, "path", path_of(r));
	gp_emit_open(&json, "points", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < r->count; i++) {
		gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(&json, "value", r->points[i].value);
		gp_emit_bool(&json, "fits", r->points[i].fits);
		if (is_need_known(&r->points[i]))
			gp_emit_uint(&json, "bytes", r->points[i].need);
		else
			gp_emit_null(&json, "bytes");
		gp_emit_text(&json, "failure", r->points[i].failure);
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}

/* ---- drawn ---- */

#define WIDTH  720 /* in user units */
#define HEIGHT 300
#define LEFT   20
#define TOP    20
#define FLOOR  (HEIGHT - 40)

static double x_of(const struct gp_vary_report *r, uint64_t value)
{
	uint64_t least = r->points[0].value;
	uint64_t most = r->points[r->count - 1].value;
	double part = most > least
			      ? (double)(value - least) / (double)(most - least)
			      : 0;

	return LEFT + part * (WIDTH - 2 * LEFT);
}

static double y_of(const struct gp_vary_report *r, uint64_t bytes)
{
	return FLOOR - (double)bytes / (double)most_of(r) * (FLOOR - TOP);
}

static void draw_points(const struct gp_vary_report *r, FILE *out)
{
	fputs("<polyline fill=\"none\" stroke=\"currentColor\" points=\"", out);
	for (size_t i = 0; i < r->count; i++)
		if (r->points[i].need)
			fprintf(out, "%.1f,%.1f ", x_of(r, r->points[i].value),
				y_of(r, r->points[i].need));
	fputs("\"/>\n", out);
	for (size_t i = 0; i < r->count; i++) {
		const struct gp_vary_point *p = &r->points[i];

		if (!p->need)
			continue;
		fprintf(out,
			"<circle r=\"4\" cx=\"%.1f\" cy=\"%.1f\" "
			"fill=\"%s\"><title>",
			x_of(r, p->value), y_of(r, p->need),
			p->fits ? "#1a7f37" : "#cf222e");
		gp_xml_text(r->name, out);
		fprintf(out, "=%" PRIu64 ": %s</title></circle>\n", p->value,
			GP_BYTES(p->need));
	}
}

static void draw(const struct gp_vary_report *r, FILE *out)
{
	double end = y_of(r, r->gpu->capacity);

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"viewBox=\"0 0 %d %d\" aria-label=\"",
		WIDTH, HEIGHT);
	gp_xml_text(r->name, out);
	fprintf(out,
		" and the memory needed\">\n<line x1=\"%d\" x2=\"%d\" "
		"y1=\"%.1f\" y2=\"%.1f\" stroke=\"#cf222e\" "
		"stroke-dasharray=\"6 4\"/>\n<text x=\"%d\" y=\"%.1f\" "
		"fill=\"currentColor\">",
		LEFT, WIDTH - LEFT, end, end, LEFT, end - 6);
	gp_xml_text(r->gpu->name, out);
	fprintf(out, ", %s</text>\n", GP_BYTES(r->gpu->capacity));
	draw_points(r, out);
	fprintf(out,
		"<text x=\"%d\" y=\"%d\" fill=\"currentColor\">%" PRIu64
		"</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\" "
		"fill=\"currentColor\">%" PRIu64 "</text>\n</svg>\n",
		LEFT, HEIGHT - 12, r->points[0].value, WIDTH - LEFT,
		HEIGHT - 12, r->points[r->count - 1].value);
}

static void put_sentence(const char *text, FILE *out)
{
	if (!text)
		return;
	fputs("<p>", out);
	gp_xml_text(text, out);
	fputs("</p>\n", out);
}

void gp_report_vary_html(const struct gp_vary_report *r, FILE *out)
{
	char text[SENTENCE];

	gp_html_begin(out, r->program);
	put_sentence(answer_of(r, text), out);
	put_sentence(order_of(r, text), out);
	put_sentence(failure_of(r, text), out);
	fputs("</header>\n", out);
	draw(r, out);
	gp_html_table(out, "vary", "value|#needs|fits");
	for (size_t i = 0; i < r->count; i++) {
		const struct gp_vary_point *p = &r->points[i];
		char value[24];

		snprintf(value, sizeof(value), "%" PRIu64, p->value);
		gp_html_name(out, value);
		if (is_need_known(p))
			gp_html_bytes(out, "bytes", p->need);
		else
			gp_html_cell(out, p->failure ? "" : "more");
		gp_html_cell(out, p->failure ? "failed"
				  : p->fits  ? "yes"
					     : "no");
		gp_html_row_end(out);
	}
	gp_html_table_end(out);
	if (path_of(r)) {
		snprintf(text, sizeof(text), "Path: %s", path_of(r));
		put_sentence(text, out);
	}
	fputs("</main>\n", out);
	gp_html_end(out);
}
