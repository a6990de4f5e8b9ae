/* SPDX-License-Identifier: MIT */
/* Who holds the memory at the moment explained: the peak, or the first request
 * that was not served. */
#ifndef REPORT_HOLDERS_H
#define REPORT_HOLDERS_H

#include <stddef.h>

#include "study/metrics/explain.h"
#include "report/emit.h"
#include "report/page.h"
#include "trace/site.h"

/* A title and up to `most` lines, largest first: bytes, share of what is in
 * use, blocks, site and operation, and the step of the oldest block; then a
 * line for all others, so that the sum is complete. Prints nothing if nothing
 * is in use. */
void gp_report_holders(const struct gp_page *page,
		       const struct gp_explain *explain, size_t most);

/* The same with one line for each, whatever the length of its name. */
void gp_report_holders_brief(const struct gp_page *page,
			     const struct gp_explain *explain, size_t most);

/* The moment in words: "when memory ran out". */
const char *gp_holders_moment(const struct gp_explain *explain);

/* What the memory is used for, if the trace says so: by category, then by
 * module. Modules whose names differ only in numbers share a line. */
void gp_report_owners(const struct gp_page *page,
		      const struct gp_explain *explain, size_t most);
/* The same as two lists in JSON. */
void gp_emit_owners(struct gp_emit *json, const struct gp_explain *explain);

/* "optimizer states" */
const char *gp_category_words(enum gp_category category);
/* "model.layers.3.mlp (LlamaMLP)" */
const char *gp_module_words(const struct gp_trace *trace,
			    const struct gp_owner *owner,
			    char text[GP_SITE_TEXT]);

/* The moment explained: its event, and whether it is before that event. */
void gp_emit_explained(struct gp_emit *json, const char *key,
		       const char *key_before, uint64_t event);

/* Who holds the memory in use: in_use_event, in_use_before, in_use_bytes, and
 * in_use with at most `most` holders. */
void gp_emit_in_use(struct gp_emit *json, const struct gp_explain *e,
		    size_t most);
/* The holders as a JSON list, at most `most` of them. */
void gp_emit_holders(struct gp_emit *json, const char *key,
		     const struct gp_trace *trace,
		     const struct gp_culprits *culprits, size_t most);

#endif
