/* SPDX-License-Identifier: MIT */
/*
 * Views of a run: each block as a band over time, who holds the memory at a
 * moment, the list of events, segments and blocks at a moment, and one block.
 * Each as text, CSV or JSON, for gpupool view and for the page.
 */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "study/metrics/bands.h"
#include "study/metrics/event_search.h"
#include "report/report.h"
#include "report/table.h"
#include "trace/site.h"
#include "trace/steps.h"

#define GP_VIEW_SCHEMA "gpupool-view/1"

/* A run of one device, with what queries need. */
struct gp_view {
	const char *path;
	const struct gp_trace *trace;
	uint32_t device; /* index */
	const struct gp_settings *settings;
	const char *conf;
	const struct gp_replay_result *result;
	const struct gp_film *film;
	const struct gp_lifetimes *lifetimes;
	const struct askers *askers;
	const uint32_t *ranks; /* gp_bands_ranks */
	const struct gp_steps *steps;
	const uint32_t *sites;		   /* gp_alloc_sites */
	const struct gp_site_known *known; /* gp_sites_known */
};

/* A moment: after an event, or before it. */
struct gp_view_moment {
	uint64_t event;
	const char *what; /* "the peak of reserved" */
	bool is_before;
	bool is_start; /* the state before event 0 */
};

enum gp_view_format {
	GP_VIEW_TEXT,
	GP_VIEW_CSV,
	GP_VIEW_JSON,
};

struct gp_view_style {
	enum gp_view_format format;
	const struct gp_report_style *report;
	FILE *out;
};

void gp_view_bands(const struct gp_view *view,
		   const struct gp_bands_window *window,
		   const struct gp_view_style *style);
/* At most `most` holders; the others share one row. */
void gp_view_holders(const struct gp_view *view,
		     const struct gp_view_moment *moment, size_t most,
		     const struct gp_view_style *style);
void gp_view_events(const struct gp_view *view,
		    const struct gp_event_search *search,
		    const struct gp_view_style *style);
void gp_view_state(const struct gp_view *view,
		   const struct gp_view_moment *moment,
		   const struct gp_view_style *style);
void gp_view_block(const struct gp_view *view,
		   const struct gp_lifetime *lifetime,
		   const struct gp_view_style *style);

/* ---- what the parts share ---- */

/* Memory at that moment; the caller releases it with gp_state_release. */
void gp_view_state_at(const struct gp_view *view,
		      const struct gp_view_moment *moment,
		      struct gp_state *state);

/* Whether the event is an alloc that found no memory. */
bool gp_view_is_refused(const struct gp_view *view, uint64_t event);

/* "train.py:42 forward", "2.00 MiB to 4.00 MiB", "stream 7", a pool,
 * "activations", "model.layers.3.mlp (LlamaMLP)". */
const char *gp_view_holder(const struct gp_view *view,
			   const struct gp_culprit *culprit,
			   char text[GP_SITE_TEXT]);

/* The block's id in the trace file. */
uint64_t gp_view_id(const struct gp_view *view, uint32_t id);

extern const char *const gp_hold_by_names[GP_HOLD_BYS];

/* JSON, src/report/view_json.c */
void gp_view_bands_json(const struct gp_view *view,
			const struct gp_bands *bands, FILE *out);
void gp_view_holders_json(const struct gp_view *view,
			  const struct gp_view_moment *moment,
			  const struct gp_state *state,
			  const struct gp_culprits *live, FILE *out);
void gp_view_events_json(const struct gp_view *view,
			 const struct gp_event_search *search,
			 const struct gp_event_rows *rows, FILE *out);
void gp_view_state_json(const struct gp_view *view,
			const struct gp_view_moment *moment,
			const struct gp_state *state, FILE *out);
void gp_view_block_json(const struct gp_view *view,
			const struct gp_lifetime *lifetime, FILE *out);

#endif
