/* SPDX-License-Identifier: MIT */
/* Traces in JSON: which it is, by the keys of the outer object. */
#include "formats/json.h"

#include <string.h>

#include "formats/json_scan.h"
#include "formats/json_snapshot.h"
#include "formats/json_trace.h"
#include "formats/kineto.h"

static void skip_byte_order_mark(struct gp_source *source)
{
	if (source->end - source->at >= 3 &&
	    !memcmp(source->at, "\xef\xbb\xbf", 3))
		source->at += 3;
}

static enum gp_status fail_unknown(struct gp_json_scan *scan)
{
	if (scan->status)
		return scan->status;
	gp_diag_hint(scan->diag,
		     "a gpupool-trace has \"format\" in its header, "
		     "a PyTorch snapshot has \"device_traces\", a profile "
		     "\"traceEvents\"");
	return gp_diag_foreign(scan->diag, "it is JSON, but not a trace");
}

static enum gp_status read_trace(struct gp_json_scan *scan,
				 struct gp_json_walk *walk, char *key,
				 struct gp_trace **trace)
{
	struct gp_json_trace reader;
	enum gp_status status;

	gp_json_trace_init(&reader, scan, scan->diag);
	do
		gp_json_trace_key(&reader, key);
	while (gp_json_next_key(scan, walk, key));
	gp_json_trace_lines(&reader);
	status = gp_json_trace_finish(&reader, trace);
	gp_json_trace_release(&reader);
	return status;
}

static void expect_end(struct gp_json_scan *scan)
{
	if (gp_json_peek(scan) >= 0)
		gp_json_fail(scan, "there is more behind its end");
}

static enum gp_status read_snapshot(struct gp_json_scan *scan,
				    struct gp_json_walk *walk, char *key,
				    struct gp_trace **trace)
{
	struct gp_json_snapshot *reader =
		gp_json_snapshot_create(scan, scan->diag);
	enum gp_status status;

	do
		gp_json_snapshot_key(reader, key);
	while (gp_json_next_key(scan, walk, key));
	expect_end(scan);
	status = gp_json_snapshot_finish(reader, trace);
	gp_json_snapshot_destroy(reader);
	return status;
}

static enum gp_status read_profile(struct gp_json_scan *scan,
				   struct gp_json_walk *walk, char *key,
				   struct gp_trace **trace)
{
	struct gp_kineto *reader = gp_kineto_create(scan, scan->diag);
	enum gp_status status;

	do
		gp_kineto_key(reader, key);
	while (gp_json_next_key(scan, walk, key));
	expect_end(scan);
	status = gp_kineto_finish(reader, trace);
	gp_kineto_destroy(reader);
	return status;
}

static enum gp_status read_object(struct gp_json_scan *scan,
				  struct gp_trace **trace)
{
	char key[GP_JSON_KEY_ROOM];
	struct gp_json_walk walk;

	if (!gp_json_enter(scan, '{', &walk))
		return scan->status;
	while (gp_json_next_key(scan, &walk, key)) {
		if (gp_json_trace_knows(key))
			return read_trace(scan, &walk, key, trace);
		if (gp_json_snapshot_knows(key))
			return read_snapshot(scan, &walk, key, trace);
		if (gp_kineto_knows(key))
			return read_profile(scan, &walk, key, trace);
		gp_json_skip(scan);
	}
	return fail_unknown(scan);
}

static enum gp_status read_list(struct gp_json_scan *scan,
				struct gp_trace **trace)
{
	struct gp_json_snapshot *reader =
		gp_json_snapshot_create(scan, scan->diag);
	enum gp_status status;

	gp_json_snapshot_list(reader);
	expect_end(scan);
	status = gp_json_snapshot_finish(reader, trace);
	gp_json_snapshot_destroy(reader);
	return status;
}

enum gp_status gp_json_read(struct gp_source *source, struct gp_trace **trace,
			    struct gp_diag *diag)
{
	struct gp_json_scan scan;
	enum gp_status status;

	gp_json_scan_init(&scan, source, diag);
	skip_byte_order_mark(source);
	status = gp_json_peek(&scan) == '[' ? read_list(&scan, trace)
					    : read_object(&scan, trace);
	gp_json_scan_release(&scan);
	return status;
}
