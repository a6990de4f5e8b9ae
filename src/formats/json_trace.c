/* SPDX-License-Identifier: MIT */
/* gpupool-trace: its header and devices, as one document or as JSON Lines. */
#include "formats/json_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/readers.h"

#define VERSION 1

/* ---- the values of its keys: checked, and named in messages ---- */

#define WHOLE "a whole number from 0 to 2^64 - 1"

void gp_json_trace_wrong(struct gp_json_trace *t, const char *owner,
			 const char *key, const json_t *value,
			 const char *must_be)
{
	char shown[GP_JSON_SHOWN];

	if (t->scan->status)
		return;
	if (value)
		t->scan->status = gp_diag_set(
			t->diag, GP_INPUT, "\"%s\" of %s is %s; it must be %s",
			key, owner, gp_json_show(value, shown), must_be);
	else
		t->scan->status = gp_diag_set(t->diag, GP_INPUT,
					      "%s has no \"%s\"", owner, key);
	gp_diag_hint(t->diag, "man 5 gpupool-trace lists the keys of each");
}

void gp_json_trace_twice(struct gp_json_trace *t, const char *owner,
			 const char *key)
{
	if (t->scan->status)
		return;
	gp_diag_hint(t->diag, "a key may occur only once in an object");
	t->scan->status = gp_diag_set(t->diag, GP_INPUT, "%s has \"%s\" twice",
				      owner, key);
}

bool gp_json_trace_number(struct gp_json_trace *t, const char *owner,
			  const char *key, const json_t *value, uint64_t *to)
{
	if (!value || gp_json_number(value, to))
		return true;
	gp_json_trace_wrong(t, owner, key, value, WHOLE);
	return false;
}

bool gp_json_trace_pool(struct gp_json_trace *t, const char *owner,
			const char *key, const json_t *value, uint16_t *to)
{
	struct gp_pool_id pool;

	if (!value)
		return true;
	if (!gp_json_pool(value, &pool)) {
		gp_json_trace_wrong(t, owner, key, value,
				    "two whole numbers, as [0, 1]");
		return false;
	}
	t->scan->status = gp_build_pool(t->build, pool, to, t->diag);
	return t->scan->status == GP_OK;
}

bool gp_json_trace_stream(struct gp_json_trace *t, const char *owner,
			  const char *key, const json_t *value, uint16_t *to)
{
	uint64_t handle;

	if (!value)
		return true;
	if (!gp_json_number(value, &handle)) {
		gp_json_trace_wrong(t, owner, key, value, WHOLE);
		return false;
	}
	t->scan->status = gp_build_stream(t->build, handle, to, t->diag);
	return t->scan->status == GP_OK;
}

static bool read_index(struct gp_json_trace *t, const char *owner,
		       const char *key, const char *wanted, const json_t *value,
		       uint32_t *to)
{
	uint64_t index;

	*to = UINT32_MAX;
	if (!value)
		return true;
	if (!gp_json_number(value, &index) || index >= UINT32_MAX) {
		gp_json_trace_wrong(t, owner, key, value, wanted);
		return false;
	}
	*to = (uint32_t)index;
	return true;
}

bool gp_json_trace_site(struct gp_json_trace *t, const char *owner,
			const json_t *value, uint32_t *to)
{
	return read_index(t, owner, "site", "an index into \"sites\"", value,
			  to);
}

bool gp_json_trace_owner(struct gp_json_trace *t, const char *owner,
			 const json_t *value, uint32_t *to)
{
	return read_index(t, owner, "owner", "an index into \"owners\"", value,
			  to);
}

bool gp_json_trace_text(struct gp_json_trace *t, const char *owner,
			const char *key, const json_t *value)
{
	if (json_is_string(value))
		return true;
	gp_json_trace_wrong(t, owner, key, value, "a text");
	return false;
}

bool gp_json_trace_flag(struct gp_json_trace *t, const char *owner,
			const char *key, const json_t *value)
{
	if (value && !json_is_null(value) && !json_is_boolean(value))
		gp_json_trace_wrong(t, owner, key, value, "true or false");
	return json_is_true(value);
}

bool gp_json_trace_has(struct gp_json_trace *t, const char *owner,
		       const char *key, const json_t *value, json_type type)
{
	if (!value || json_is_null(value))
		return false;
	if (json_typeof(value) == type)
		return true;
	gp_json_trace_wrong(t, owner, key, value,
			    type == JSON_ARRAY ? "a list" : "an object");
	return false;
}

/* ---- the header ---- */

static void read_devices(struct gp_json_trace *t)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!gp_json_enter(t->scan, '[', &walk))
		return;
	while (gp_json_next(t->scan, &walk))
		gp_json_trace_read_device(t, number++);
}

static void add_site(struct gp_json_trace *t, const json_t *value)
{
	if (!gp_json_trace_text(t, "the list", "sites", value))
		return;
	GP_GROW(t->site_texts, t->site_count + 1, t->site_room);
	t->site_texts[t->site_count++] = gp_build_text(
		t->build, json_string_value(value), json_string_length(value));
}

static void add_caller(struct gp_json_trace *t, const json_t *value)
{
	uint64_t caller = GP_NO_SITE;

	if (!json_is_integer(value) || json_integer_value(value) != -1)
		gp_json_trace_number(t, "the list", "callers", value, &caller);
	if (caller > GP_NO_SITE)
		caller = GP_NO_SITE - 1; /* also out of range */
	GP_GROW(t->callers, t->caller_count + 1, t->caller_room);
	t->callers[t->caller_count++] = (uint32_t)caller;
}

static uint32_t owner_text(struct gp_json_trace *t, const json_t *value)
{
	return json_is_string(value)
		       ? gp_build_text(t->build, json_string_value(value),
				       json_string_length(value))
		       : GP_NO_ID;
}

/* Categories of newer versions of gpupool are unknown here. */
static void add_owner(struct gp_json_trace *t, const json_t *value)
{
	const json_t *category = json_object_get(value, "category");
	struct gp_owner owner = { .category = GP_CATEGORIES };

	/* Read in this order, because the texts are numbered as they come. */
	owner.module = owner_text(t, json_object_get(value, "module"));
	owner.type = owner_text(t, json_object_get(value, "class"));
	if (!gp_json_trace_text(t, "an owner", "category", category))
		return;
	while (--owner.category > GP_CATEGORY_UNKNOWN)
		if (!strcmp(json_string_value(category),
			    gp_category_name(owner.category)))
			break;
	gp_build_owner(t->build, &owner);
}

static void read_list(struct gp_json_trace *t,
		      void (*add)(struct gp_json_trace *t, const json_t *value))
{
	struct gp_json_walk walk;
	json_t *value;

	if (!gp_json_enter(t->scan, '[', &walk))
		return;
	while (gp_json_next(t->scan, &walk) &&
	       (value = gp_json_value(t->scan))) {
		add(t, value);
		json_decref(value);
	}
}

static void read_sites(struct gp_json_trace *t)
{
	read_list(t, add_site);
}

static void read_callers(struct gp_json_trace *t)
{
	read_list(t, add_caller);
}

static void read_owners(struct gp_json_trace *t)
{
	read_list(t, add_owner);
}

/* Accepts "2.9" and "2.9.1+cu128"; other texts are ignored. */
static void read_torch(struct gp_json_trace *t, const char *torch)
{
	unsigned minor;

	if (!torch || sscanf(torch, "2.%3u", &minor) != 1 ||
	    minor > UINT8_MAX || t->release_first >= 0)
		return;
	t->release_first = t->release_last = (int)minor;
	snprintf(t->why, sizeof(t->why), "its source says torch 2.%u", minor);
}

static void read_source(struct gp_json_trace *t, const json_t *source)
{
	const char *kind = json_string_value(json_object_get(source, "kind"));

	if (!gp_json_trace_has(t, "the trace", "source", source, JSON_OBJECT))
		return;
	if (kind)
		gp_build_source(t->build, kind);
	if (gp_json_trace_flag(t, "source", "complete",
			       json_object_get(source, "complete")))
		gp_build_complete(t->build, true);
	read_torch(t, json_string_value(json_object_get(source, "torch")));
}

/* More precise than the source's "torch", over which it takes precedence. */
static void read_release(struct gp_json_trace *t, const json_t *release)
{
	const char *why = json_string_value(json_object_get(release, "why"));
	uint64_t first = 0, last = UINT8_MAX;

	if (!gp_json_trace_has(t, "the trace", "release", release,
			       JSON_OBJECT) ||
	    !gp_json_trace_number(t, "release", "first",
				  json_object_get(release, "first"), &first) ||
	    !gp_json_trace_number(t, "release", "last",
				  json_object_get(release, "last"), &last))
		return;
	t->release_first = first > UINT8_MAX ? UINT8_MAX : (int)first;
	t->release_last = last > UINT8_MAX ? UINT8_MAX : (int)last;
	snprintf(t->why, sizeof(t->why), "%s", why ? why : "the trace says so");
}

static void check_version(struct gp_json_trace *t, const json_t *version)
{
	char shown[GP_JSON_SHOWN];

	if (json_is_integer(version) && json_integer_value(version) == VERSION)
		return;
	gp_diag_hint(t->diag,
		     "this gpupool reads version %d; a newer one may "
		     "read it",
		     VERSION);
	t->scan->status =
		gp_diag_set(t->diag, GP_INPUT, "gpupool-trace version %s",
			    gp_json_show(version, shown));
}

static void check_format(struct gp_json_trace *t, const json_t *format)
{
	char shown[GP_JSON_SHOWN];

	if (json_is_string(format) &&
	    !strcmp(json_string_value(format), "gpupool-trace"))
		return;
	gp_diag_hint(t->diag, "\"format\": \"gpupool-trace\" or a PyTorch "
			      "snapshot is understood");
	t->scan->status = gp_diag_set(t->diag, GP_INPUT,
				      "the format %s is not "
				      "known",
				      gp_json_show(format, shown));
}

/* A text; null: unknown. */
static void read_told(struct gp_json_trace *t, const char *key,
		      const json_t *text,
		      void (*tell)(struct gp_build *build, const char *text))
{
	if (!json_is_null(text) &&
	    gp_json_trace_text(t, "the trace", key, text))
		tell(t->build, json_string_value(text));
}

static void read_settings(struct gp_json_trace *t, const json_t *settings)
{
	read_told(t, "settings", settings, gp_build_settings);
}

static void read_values(struct gp_json_trace *t, const json_t *values)
{
	read_told(t, "values", values, gp_build_values);
}

static void read_not_told(struct gp_json_trace *t, const json_t *text)
{
	read_told(t, "not_told", text, gp_build_not_told);
}

static void read_frees(struct gp_json_trace *t, const json_t *frees)
{
	const char *text = json_string_value(frees);

	t->frees_are_at_once = text && !strcmp(text, "at_once");
	if (!t->frees_are_at_once)
		gp_json_trace_wrong(t, "the trace", "frees", frees,
				    "at_once, or absent");
}

/* A key of the header: its value is walked over, or is small and parsed as a
 * whole. */
static const struct header_key {
	const char *key;
	void (*walk)(struct gp_json_trace *t);
	void (*read)(struct gp_json_trace *t, const json_t *value);
} header_keys[] = {
	{ "format", NULL, check_format },
	{ "version", NULL, check_version },
	{ "devices", read_devices, NULL },
	{ "sites", read_sites, NULL },
	{ "callers", read_callers, NULL },
	{ "source", NULL, read_source },
	{ "settings", NULL, read_settings },
	{ "release", NULL, read_release },
	{ "frees", NULL, read_frees },
	{ "values", NULL, read_values },
	{ "owners", read_owners, NULL },
	{ "not_told", NULL, read_not_told },
};

static const struct header_key *find_key(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(header_keys) / sizeof(*header_keys); i++)
		if (!strcmp(key, header_keys[i].key))
			return &header_keys[i];
	return NULL;
}

bool gp_json_trace_knows(const char *key)
{
	return find_key(key) != NULL;
}

/* The key's bit in gp_json_trace.keys. */
static uint32_t bit_of(const struct header_key *row)
{
	return UINT32_C(1) << (row - header_keys);
}

static bool has_key(const struct gp_json_trace *t, const char *key)
{
	return t->keys & bit_of(find_key(key));
}

static void read_key(struct gp_json_trace *t, const char *key)
{
	const struct header_key *row = find_key(key);
	json_t *value;

	if (!row) {
		gp_json_skip(t->scan);
		return;
	}
	if (t->keys & bit_of(row)) {
		gp_json_trace_twice(t, "the trace", key);
	} else if (row->walk) {
		row->walk(t);
	} else if ((value = gp_json_value(t->scan))) {
		row->read(t, value);
		json_decref(value);
	}
	t->keys |= bit_of(row);
}

/* ---- the end ---- */

/* A line that is not an event continues the header: sites with their callers,
 * owners, and what is known of devices only after the events: counters, and the
 * owners of blocks. A recorder does not know these earlier. */
static bool adds_to_header(const json_t *line)
{
	return !json_object_get(line, "op") &&
	       (json_object_get(line, "sites") ||
		json_object_get(line, "devices") ||
		json_object_get(line, "owners") ||
		json_object_get(line, "values") ||
		json_object_get(line, "not_told"));
}

static void add_sites(struct gp_json_trace *t, const json_t *sites,
		      const json_t *callers)
{
	if (!gp_json_trace_has(t, "the line", "sites", sites, JSON_ARRAY))
		return;
	while (t->caller_count < t->site_count) {
		json_t *none = json_integer(-1);

		add_caller(t, none);
		json_decref(none);
	}
	for (size_t i = 0; i < json_array_size(sites) && !t->scan->status; i++)
		add_site(t, json_array_get(sites, i));
	for (size_t i = 0; i < json_array_size(callers) && !t->scan->status;
	     i++)
		add_caller(t, json_array_get(callers, i));
}

static void add_owners(struct gp_json_trace *t, const json_t *owners)
{
	gp_json_trace_has(t, "the line", "owners", owners, JSON_ARRAY);
	for (size_t i = 0; i < json_array_size(owners) && !t->scan->status; i++)
		add_owner(t, json_array_get(owners, i));
}

/* Pairs of an id and an owner. */
static void add_owned(struct gp_json_trace *t, uint32_t device,
		      const json_t *owned)
{
	gp_json_trace_has(t, "the device", "owned", owned, JSON_ARRAY);
	for (size_t i = 0; i < json_array_size(owned); i++) {
		const json_t *pair = json_array_get(owned, i);
		uint64_t name = 0;
		uint32_t owner;

		if (json_array_size(pair) != 2) {
			gp_json_trace_wrong(t, "the device", "owned", pair,
					    "pairs of an id and an owner");
			return;
		}
		if (!gp_json_trace_number(t, "the device", "owned",
					  json_array_get(pair, 0), &name) ||
		    !gp_json_trace_owner(t, "the device",
					 json_array_get(pair, 1), &owner))
			return;
		gp_build_claim(t->build, device, name, owner, false);
	}
}

static void add_devices(struct gp_json_trace *t, const json_t *devices)
{
	gp_json_trace_has(t, "the line", "devices", devices, JSON_ARRAY);
	for (size_t i = 0; i < json_array_size(devices) && !t->scan->status;
	     i++) {
		const json_t *d = json_array_get(devices, i);
		const json_t *number = json_object_get(d, "device");
		const json_t *stats = json_object_get(d, "memory_stats");
		uint64_t ordinal;
		uint32_t device;

		if (!number)
			gp_json_trace_wrong(t, "the device", "device", NULL,
					    "");
		if (!number ||
		    !gp_json_trace_number(t, "the device", "device", number,
					  &ordinal) ||
		    !gp_json_trace_device(t, ordinal, &device))
			return;
		if (stats && !json_is_null(stats))
			gp_json_trace_counters(t, device, stats);
		add_owned(t, device, json_object_get(d, "owned"));
	}
}

/* Concatenated files would be read as one program. */
static void refuse_second(struct gp_json_trace *t)
{
	gp_diag_hint(t->diag, "a file holds one trace; a folder of traces is a "
			      "job of several ranks");
	t->scan->status = gp_diag_set(t->diag, GP_INPUT,
				      "another trace begins after its events");
}

/* Events belong to the header's first device, unless they name another. */
static void read_lines(struct gp_json_trace *t)
{
	uint32_t device = 0;
	json_t *value;

	if (gp_json_peek(t->scan) < 0)
		return;
	if (!t->device_count && !gp_json_trace_device(t, 0, &device))
		return;
	while (gp_json_peek(t->scan) >= 0) {
		if (gp_json_trace_plain_event(t, 0))
			continue;
		value = gp_json_value(t->scan);
		if (!value)
			return;
		if (json_object_get(value, "format")) {
			refuse_second(t);
		} else if (adds_to_header(value)) {
			add_sites(t, json_object_get(value, "sites"),
				  json_object_get(value, "callers"));
			add_owners(t, json_object_get(value, "owners"));
			add_devices(t, json_object_get(value, "devices"));
			if (json_object_get(value, "values"))
				read_values(t,
					    json_object_get(value, "values"));
			if (json_object_get(value, "not_told"))
				read_not_told(
					t, json_object_get(value, "not_told"));
		} else {
			gp_json_trace_event(t, 0, value);
		}
		json_decref(value);
	}
}

/* Makes sites of texts and callers; the callers of a site precede it. */
static enum gp_status resolve_sites(struct gp_json_trace *t)
{
	uint32_t *sites = gp_mem_alloc(t->site_count, sizeof(*sites));
	enum gp_status status = GP_OK;
	size_t i;

	if (t->caller_count > t->site_count) {
		gp_diag_hint(t->diag, "each is of the site with its index");
		status = gp_diag_set(t->diag, GP_INPUT,
				     "\"callers\" has %zu elements, and "
				     "\"sites\" %zu",
				     t->caller_count, t->site_count);
	}
	for (i = 0; i < t->site_count && !status; i++) {
		uint32_t caller =
			i < t->caller_count ? t->callers[i] : GP_NO_SITE;

		if (caller != GP_NO_SITE && caller >= i) {
			gp_diag_record(t->diag, "callers, element %zu", i);
			gp_diag_hint(
				t->diag,
				"a site's caller comes before it; -1 is none");
			status = gp_diag_set(t->diag, GP_INPUT,
					     "site %u cannot call site %zu",
					     caller, i);
			break;
		}
		if (caller != GP_NO_SITE)
			caller = sites[caller];
		sites[i] = gp_build_call(t->build, t->site_texts[i], caller);
	}
	if (!status)
		status =
			gp_build_sites(t->build, sites, t->site_count, t->diag);
	free(sites);
	return status;
}

static enum gp_status check_header(struct gp_json_trace *t)
{
	const char *missing = !has_key(t, "format") ? "format" : "version";

	if (has_key(t, "format") && has_key(t, "version"))
		return GP_OK;
	gp_diag_hint(t->diag,
		     "a gpupool-trace begins {\"format\": "
		     "\"gpupool-trace\", \"version\": %d",
		     VERSION);
	return gp_diag_set(t->diag, GP_INPUT, "the header has no \"%s\"",
			   missing);
}

/* Finishes the build; also ends it if the scan has failed. */
static enum gp_status finish(struct gp_json_trace *t, struct gp_trace **trace)
{
	enum gp_status status = t->scan->status;
	struct gp_build *build = t->build;

	if (!status)
		status = check_header(t);
	if (!status)
		status = resolve_sites(t);
	if (status)
		return status;
	if (t->frees_are_at_once)
		gp_build_frees_at_once(build);
	if (t->release_first >= 0) {
		gp_build_release_from(build, (uint8_t)t->release_first, t->why);
		gp_build_release_to(build, (uint8_t)t->release_last, t->why);
	}
	t->build = NULL;
	return gp_build_finish(build, trace, t->diag);
}

enum gp_status gp_json_trace_read(struct gp_json_scan *scan,
				  struct gp_json_walk *walk, char *key,
				  struct gp_trace **trace)
{
	struct gp_json_trace t = {
		.scan = scan,
		.diag = scan->diag,
		.build = gp_build_create(GP_BUILD_REQUESTS),
		.release_first = -1,
		.release_last = -1,
	};
	enum gp_status status;

	gp_build_source(t.build, "gpupool-trace");
	scan->is_strict = true;
	do
		read_key(&t, key);
	while (gp_json_next_key(scan, walk, key));
	read_lines(&t);
	status = finish(&t, trace);
	gp_build_destroy(t.build);
	free(t.devices);
	free(t.site_texts);
	free(t.callers);
	return status;
}
