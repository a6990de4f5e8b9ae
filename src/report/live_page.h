/* SPDX-License-Identifier: MIT */
/*
 * The page that replays, as one file: gpupool itself as WebAssembly, traces,
 * and what can be read without scripts.
 */
#ifndef REPORT_LIVE_PAGE_H
#define REPORT_LIVE_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* Bytes that the page unpacks: gzip. */
struct gp_live_part {
	const char *name;
	const void *bytes;
	size_t size;
};

struct gp_live_page {
	const char *title;
	const char *still; /* HTML of ours, in <main>; NULL: none */
	struct gp_live_part wasm;
	const struct gp_live_part *traces;
	size_t trace_count;
	/* What its controls begin with; NULL: as recorded. */
	const char *conf, *torch, *capacity;
};

void gp_live_page_write(const struct gp_live_page *page, FILE *out);

#endif
