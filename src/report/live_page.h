/* SPDX-License-Identifier: MIT */
/*
 * What replays in a page: gpupool itself as WebAssembly, traces, and the
 * controls that ask it.  Without scripts none of it is seen.
 */
#ifndef REPORT_LIVE_PAGE_H
#define REPORT_LIVE_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* Bytes that the page unpacks: gzip. */
struct gp_live_part {
	const char *name;
	const void *bytes; /* NULL: none */
	size_t size;
};

/* "--engine async"; argument NULL: the flag is all. */
struct gp_live_flag {
	const char *name, *argument;
};

struct gp_live_page {
	struct gp_live_part wasm;
	const char *why; /* there is no wasm: why the page stands still */
	const struct gp_live_part *traces;
	size_t trace_count;
	/* What its controls begin with; conf NULL: as recorded. */
	const char *conf, *torch, *capacity;
	/* What else stands in each of its questions. */
	const struct gp_live_flag *flags;
	size_t flag_count;
};

/* In <main>: the controls, or why there are none. */
void gp_live_page_controls(const struct gp_live_page *page, FILE *out);
/* Behind </main>: parts and scripts, to the end. */
void gp_live_page_end(const struct gp_live_page *page, FILE *out);
/* A page without a run, which waits for files. */
void gp_live_page_write(const struct gp_live_page *page, FILE *out);

#endif
