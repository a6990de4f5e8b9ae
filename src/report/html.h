/* SPDX-License-Identifier: MIT */
/* Pages for a browser: their beginning, and tables whose cells carry their
 * values as attributes, for scripts and tests. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/report.h"

/* Writes up to the end of the headline, within <main><header>. */
void gp_html_begin(FILE *out, const char *title);
/* Writes from </main> to the end, with the script that sorts tables. */
void gp_html_end(FILE *out);

/* columns: names separated by '|'; '#' marks a column of numbers. id: for
 * scripts and tests. */
void gp_html_table(FILE *out, const char *id, const char *columns);
void gp_html_table_end(FILE *out);

/* The first cell of a row, which names it; then the others. */
void gp_html_name(FILE *out, const char *text);
void gp_html_cell(FILE *out, const char *text);
void gp_html_bytes(FILE *out, const char *key, uint64_t bytes);
void gp_html_count(FILE *out, const char *key, uint64_t count);
void gp_html_row_end(FILE *out);

/*
 * ---- replaying in a page: gpupool itself as WebAssembly, traces, and
 * controls. Without scripts none of it is shown. ----
 */

/* Bytes compressed with gzip; the page decompresses them. */
struct gp_live_part {
	const char *name;
	const void *bytes; /* NULL: none */
	size_t size;
};

/* A flag such as "--engine async"; argument NULL: it takes none. */
struct gp_live_flag {
	const char *name, *argument;
};

struct gp_live_page {
	struct gp_live_part wasm;
	const char *why; /* why there is no wasm, so that nothing can replay */
	const struct gp_live_part *traces;
	size_t trace_count;
	/* The initial values of its controls; conf NULL: as recorded. */
	const char *conf, *torch, *capacity;
	/* Further flags of each command line that the page runs. */
	const struct gp_live_flag *flags;
	size_t flag_count;
};

/* A page without a run, to which files can be dropped. */
void gp_live_page_write(const struct gp_live_page *page, FILE *out);

/* ---- what gpupool explain finds, on a page: words and tables ---- */

/* Fragmentation or capacity, and what to do. */
void gp_html_verdict(const struct gp_explanation *explanation, size_t device,
		     FILE *out);

/* What was tried, the parts of the gap and what holds it; name is a prefix for
 * titles: "", or "A: " if there are two runs. */
void gp_html_explain(const struct gp_explanation *explanation, size_t device,
		     const char *name, FILE *out);

/* ---- src/report/page, embedded by the build ---- */

extern const char gp_page_css[];
extern const char gp_app_html[];
extern const char gp_app_bundle_js[];
extern const char gp_worker_bundle_js[];
extern const char gp_tables_js[];

#endif
