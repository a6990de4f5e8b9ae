/* SPDX-License-Identifier: MIT */
/*
 * Reading gpupool-trace: what the files json_trace*.c share.
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
 * Failures are those of the scan, which ends all walks. Properties that a file
 * states once for all events (sites, "frees", the release) are only evaluated
 * at the end, because keys may come in any order.
 */
struct gp_json_trace {
	struct gp_json_scan *scan; /* borrowed */
	struct gp_diag *diag;
	struct gp_build *build;
	struct gp_json_device *devices; /* by index in the build */
	size_t device_count, device_room;
	uint32_t *site_texts, *callers; /* of "sites"; GP_NO_SITE: none */
	size_t site_count, site_room, caller_count, caller_room;
	int release_first, release_last; /* -1: unknown */
	char why[sizeof(((struct gp_release_range *)0)->why)];
	bool frees_are_at_once;
	uint32_t keys; /* those found in the header, a bit each */
};

/* Reads the next object of "devices". */
void gp_json_trace_read_device(struct gp_json_trace *trace, size_t number);
/* Reads one event. device: an index, unless the event names a device. */
void gp_json_trace_event(struct gp_json_trace *trace, uint32_t device,
			 const json_t *object);
/* The same for the next event, if it is all in the window and can be read
 * without jansson; else returns false, and nothing is read. */
bool gp_json_trace_plain_event(struct gp_json_trace *trace, uint32_t device);
/* The value of "memory_stats". */
void gp_json_trace_counters(struct gp_json_trace *trace, uint32_t device,
			    const json_t *object);
/* Fails because that key of owner occurs twice, which is ambiguous. */
void gp_json_trace_twice(struct gp_json_trace *trace, const char *owner,
			 const char *key);
/* The device with that ordinal, which is created if it is new. */
bool gp_json_trace_device(struct gp_json_trace *trace, uint64_t ordinal,
			  uint32_t *device);

/* Members of an object as whole numbers; if one is missing, *to is unchanged.
 * False for other values: the failure names the key and its owner, such as
 * "alloc". */
bool gp_json_trace_number(struct gp_json_trace *trace, const char *owner,
			  const char *key, const json_t *value, uint64_t *to);
bool gp_json_trace_pool(struct gp_json_trace *trace, const char *owner,
			const char *key, const json_t *value, uint16_t *to);
bool gp_json_trace_stream(struct gp_json_trace *trace, const char *owner,
			  const char *key, const json_t *value, uint16_t *to);
bool gp_json_trace_site(struct gp_json_trace *trace, const char *owner,
			const json_t *value, uint32_t *to);
/* An index into "owners"; GP_NO_OWNER if it is missing. */
bool gp_json_trace_owner(struct gp_json_trace *trace, const char *owner,
			 const json_t *value, uint32_t *to);
bool gp_json_trace_text(struct gp_json_trace *trace, const char *owner,
			const char *key, const json_t *value);
/* An optional flag: true or false; null: as if it were missing. */
bool gp_json_trace_flag(struct gp_json_trace *trace, const char *owner,
			const char *key, const json_t *value);
/* Whether there is a value, which then must be of that type. */
bool gp_json_trace_has(struct gp_json_trace *trace, const char *owner,
		       const char *key, const json_t *value, json_type type);
/* Fails because that key of owner is not as it must be. */
void gp_json_trace_wrong(struct gp_json_trace *trace, const char *owner,
			 const char *key, const json_t *value,
			 const char *must_be);

#endif
