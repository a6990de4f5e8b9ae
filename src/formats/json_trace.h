/* SPDX-License-Identifier: MIT */
/*
 * gpupool-trace being read: what the files json_trace*.c share.
 */
#ifndef FORMATS_JSON_TRACE_H
#define FORMATS_JSON_TRACE_H

#include "trace/build.h"
#include "formats/json_scan.h"

struct gp_json_device {
	uint64_t ordinal;
	size_t events; /* read so far */
};

/*
 * Failures are the scan's, so that all walks end.  What a file says once for
 * all its events (sites, "frees", the release) waits for the end, because keys
 * come in any order.
 */
struct gp_json_trace {
	struct gp_json_scan *scan; /* borrowed */
	struct gp_diag *diag;
	struct gp_build *build;
	struct gp_json_device *devices; /* by index in the build */
	size_t device_count, device_room;
	uint32_t *site_texts, *callers; /* of "sites"; GP_NO_SITE: none */
	size_t site_count, site_room, caller_count, caller_room;
	int release_first, release_last; /* -1: not told */
	char why[sizeof(((struct gp_release_range *)0)->why)];
	bool frees_are_at_once;
	uint32_t keys; /* of the header, that were there: a bit each */
};

/* The object that comes next in "devices". */
void gp_json_trace_read_device(struct gp_json_trace *trace, size_t number);
/* One event; device: an index, unless it names one itself. */
void gp_json_trace_event(struct gp_json_trace *trace, uint32_t device,
			 const json_t *object);
/* The same of the event that comes next, if it is all in the window and of the
 * form that is read without jansson; else false, and nothing is read. */
bool gp_json_trace_plain_event(struct gp_json_trace *trace, uint32_t device);
/* The value of "memory_stats". */
void gp_json_trace_counters(struct gp_json_trace *trace, uint32_t device,
			    const json_t *object);
/* That key of owner is there twice: which is meant nobody can tell. */
void gp_json_trace_twice(struct gp_json_trace *trace, const char *owner,
			 const char *key);
/* The device of that ordinal, made if new. */
bool gp_json_trace_device(struct gp_json_trace *trace, uint64_t ordinal,
			  uint32_t *device);

/* Members of object as whole numbers; missing ones keep what *to holds.  False
 * when what is there is none: the failure names key and owner ("alloc"). */
bool gp_json_trace_number(struct gp_json_trace *trace, const char *owner,
			  const char *key, const json_t *value, uint64_t *to);
bool gp_json_trace_pool(struct gp_json_trace *trace, const char *owner,
			const char *key, const json_t *value, uint16_t *to);
bool gp_json_trace_stream(struct gp_json_trace *trace, const char *owner,
			  const char *key, const json_t *value, uint16_t *to);
bool gp_json_trace_site(struct gp_json_trace *trace, const char *owner,
			const json_t *value, uint32_t *to);
/* An index into "owners"; missing: GP_NO_OWNER. */
bool gp_json_trace_owner(struct gp_json_trace *trace, const char *owner,
			 const json_t *value, uint32_t *to);
bool gp_json_trace_text(struct gp_json_trace *trace, const char *owner,
			const char *key, const json_t *value);
/* Fails: key of owner is so, and must be otherwise. */
void gp_json_trace_wrong(struct gp_json_trace *trace, const char *owner,
			 const char *key, const json_t *value,
			 const char *must_be);

#endif
