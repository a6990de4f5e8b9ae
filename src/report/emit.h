/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON to a stream, one key per line, or a whole container on one line.
 *
 * Integers are written in full (up to 2^64 - 1) and ratios with six digits, so
 * that the same numbers give the same bytes everywhere. key NULL: an item of an
 * array.
 */
#ifndef REPORT_EMIT_H
#define REPORT_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "gpupool/replay.h"
#include "gpupool/trace.h"
#include "report/report.h"
#include "report/schema.h"
#include "study/what_if/what_if.h"

struct gp_emit {
	FILE *out;
	unsigned depth;
	unsigned flat_depth; /* containers from here on share a line; 0: none */
	bool has_items;	     /* of the container being written */
};

enum gp_emit_shape { GP_EMIT_LINES, GP_EMIT_FLAT };

/* Opens the outermost object and writes its schema. */
struct gp_emit gp_emit_begin(const char *schema, FILE *out);

void gp_emit_open(struct gp_emit *json, const char *key, char bracket,
		  enum gp_emit_shape shape);
void gp_emit_close(struct gp_emit *json, char bracket);

void gp_emit_uint(struct gp_emit *json, const char *key, uint64_t value);
void gp_emit_int(struct gp_emit *json, const char *key, int64_t value);
void gp_emit_ratio(struct gp_emit *json, const char *key, double value);
/* As few digits as identify the value: for settings, which people typed. */
void gp_emit_real(struct gp_emit *json, const char *key, double value);
void gp_emit_bool(struct gp_emit *json, const char *key, bool value);
/* Bytes that are not UTF-8 become U+FFFD; NULL is null. */
void gp_emit_text(struct gp_emit *json, const char *key, const char *text);
void gp_emit_null(struct gp_emit *json, const char *key);

/* ---- objects that several reports have in common ---- */

/* A number under its measure's key. */
void gp_emit_count(struct gp_emit *json, enum gp_measure_id id, uint64_t count);
/* A measure of a subject; nothing if it is unknown there. */
void gp_emit_measure(struct gp_emit *json, enum gp_measure_id id,
		     const struct gp_subject *subject);
/* All measures of a scope that are known. */
void gp_emit_measures(struct gp_emit *json, enum gp_measure_scope scope,
		      const struct gp_subject *subject);
/* "event", and all measures of that moment. */
void gp_emit_moment(struct gp_emit *json, const char *key,
		    const struct gp_moment *moment);
/* The result of a run, in a list of runs. */
void gp_emit_outcome(struct gp_emit *json, uint64_t peak_reserved,
		     uint64_t retries, uint64_t ooms);
/* "device_calls" */
void gp_emit_calls(struct gp_emit *json, const struct gp_device_calls *calls);

/* "fidelity", in two numbers. */
void gp_emit_matched(struct gp_emit *json, uint64_t checked, uint64_t matched);

/* What the recording says about its own reliability, if anything. */
void gp_emit_told(struct gp_emit *json, const struct gp_trace *trace);
/* "trace": its path and how reliable it is; trace NULL: only the path. */
void gp_emit_trace_path(struct gp_emit *json, const char *path,
			const struct gp_trace *trace);
/* Settings by PyTorch's names: those that are not the release's default. */
void gp_emit_settings(struct gp_emit *json, const char *key,
		      const struct gp_settings *settings);
/* "2.15" */
void gp_emit_release(struct gp_emit *json, const char *key, uint8_t release);
void gp_emit_choice(struct gp_emit *json, const char *key,
		    const struct gp_release_choice *choice);
void gp_emit_pool(struct gp_emit *json, const char *key,
		  struct gp_pool_id pool);
/* "site_name", and "site": the frames, innermost first; null without a site. */
void gp_emit_site(struct gp_emit *json, const struct gp_trace *trace,
		  uint32_t site);
/* The same for all sites of one name: the frames from the one that gives the
 * name outwards. */
void gp_emit_sites(struct gp_emit *json, const struct gp_trace *trace,
		   uint32_t site);
void gp_emit_guesses(struct gp_emit *json, const char *key,
		     const struct gp_guesses *guesses);
/* Totals, and the same by size class, stream and pool. */
void gp_emit_state(struct gp_emit *json, const char *key,
		   const struct gp_trace *trace, const struct gp_state *state);
/* GP_UNLIMITED is null. */
void gp_emit_limit(struct gp_emit *json, const char *key, uint64_t bytes);

/* What-ifs, and what each changed. */
void gp_emit_what_ifs(struct gp_emit *json, const char *key,
		      const struct gp_what_ifs *what_ifs);

/* ---- objects that replay's report and a sweep's share ---- */

/* "trace": what is replayed. */
void gp_json_trace(struct gp_emit *json, const struct gp_report *report);
/* One run, in an array. */
void gp_json_run(struct gp_emit *json, const struct gp_report *report,
		 const struct gp_run *run, enum gp_emit_shape shape);

#endif
