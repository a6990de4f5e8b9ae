/* SPDX-License-Identifier: MIT */
/* The tables of a build: texts, sites, streams, pools, and provenance. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "trace/build_internal.h"

/* GP_NO_STREAM and GP_ALL_STREAMS are not streams; every index of a pool is. */
#define STREAMS (GP_NO_STREAM - 1)
#define POOLS	UINT16_MAX

static char *scratch(struct gp_build *build, size_t bytes)
{
	build->scratch =
		gp_mem_grow(build->scratch, &build->scratch_room, bytes, 1);
	return build->scratch;
}

uint32_t gp_build_text(struct gp_build *build, const char *text, size_t length)
{
	char *clean;

	if (gp_utf8_is_clean(text, length))
		return gp_intern(&build->texts, text, length);
	clean = gp_mem_alloc(length, 3);
	length = gp_utf8_clean(text, length, clean);
	length = gp_intern(&build->texts, clean, length);
	free(clean);
	return (uint32_t)length;
}

uint32_t gp_build_frame(struct gp_build *build, const char *file, uint64_t line,
			const char *function)
{
	size_t room = strlen(file) + strlen(function) + 32;
	char *text = scratch(build, room);
	int length;

	if (!line || !strcmp(file, "??"))
		return gp_build_text(build, function, strlen(function));
	length =
		snprintf(text, room, "%s:%" PRIu64 " %s", file, line, function);
	return gp_build_text(build, text, (size_t)length);
}

uint32_t gp_build_call(struct gp_build *build, uint32_t text, uint32_t caller)
{
	uint64_t key = (uint64_t)caller << 32 | text;
	uint32_t site = gp_map_get(&build->site_of, key);

	assert(text < build->texts.count);
	assert(caller == GP_NO_SITE || caller < build->site_count);
	if (site != GP_MAP_NONE)
		return site;
	site = (uint32_t)build->site_count;
	build->sites = gp_mem_grow(build->sites, &build->site_room, site + 1,
				   sizeof(*build->sites));
	build->sites[build->site_count++] = (struct gp_site){ text, caller };
	gp_map_put(&build->site_of, key, site);
	return site;
}

uint32_t gp_build_site(struct gp_build *build, const uint32_t *frames,
		       size_t count)
{
	uint32_t site = GP_NO_SITE;

	while (count)
		site = gp_build_call(build, frames[--count], site);
	return site;
}

enum gp_status gp_build_stream(struct gp_build *build, uint64_t handle,
			       uint16_t *stream, struct gp_diag *diag)
{
	uint32_t found;

	if (build->stream_count &&
	    build->streams[build->last_stream] == handle) {
		*stream = build->last_stream;
		return GP_OK;
	}
	found = gp_map_get(&build->stream_of, handle);
	if (found == GP_MAP_NONE) {
		if (build->stream_count == STREAMS)
			return gp_diag_set(diag, GP_INPUT,
					   "more than %d streams", STREAMS);
		found = (uint32_t)build->stream_count;
		build->streams =
			gp_mem_grow(build->streams, &build->stream_room,
				    found + 1, sizeof(*build->streams));
		build->streams[build->stream_count++] = handle;
		gp_map_put(&build->stream_of, handle, found);
	}
	*stream = build->last_stream = (uint16_t)found;
	return GP_OK;
}

enum gp_status gp_build_pool(struct gp_build *build, struct gp_pool_id id,
			     uint16_t *pool, struct gp_diag *diag)
{
	uint32_t found;

	if (build->pool_count &&
	    build->pools[build->last_pool].first == id.first &&
	    build->pools[build->last_pool].second == id.second) {
		*pool = build->last_pool;
		return GP_OK;
	}
	found = gp_intern(&build->pool_of, (const char *)&id, sizeof(id));
	if (found >= POOLS)
		return gp_diag_set(diag, GP_INPUT, "more than %d memory pools",
				   POOLS);
	if (found == build->pool_count) {
		build->pools = gp_mem_grow(build->pools, &build->pool_room,
					   found + 1, sizeof(*build->pools));
		build->pools[build->pool_count++] = id;
	}
	*pool = build->last_pool = (uint16_t)found;
	return GP_OK;
}

static bool resolve(uint32_t *site, const uint32_t *sites, size_t count)
{
	if (*site == GP_NO_SITE)
		return true;
	if (*site >= count)
		return false;
	*site = sites[*site];
	return true;
}

static bool resolve_state(struct gp_build_state *state, const uint32_t *sites,
			  size_t count)
{
	size_t i;

	for (i = 0; i < state->segment_count; i++)
		if (!resolve(&state->segments[i].site, sites, count))
			return false;
	for (i = 0; i < state->block_count; i++)
		if (!resolve(&state->blocks[i].site, sites, count))
			return false;
	return true;
}

static enum gp_status resolve_device(struct gp_build *build,
				     struct gp_build_device *d,
				     const uint32_t *sites, size_t count,
				     struct gp_diag *diag)
{
	size_t i;

	for (i = 0; i < d->event_count; i++)
		if (!resolve(&d->events[i].site, sites, count)) {
			gp_build_name_event(build, d, i, diag);
			gp_diag_hint(diag, "the file's \"sites\" has %zu",
				     count);
			return gp_diag_set(diag, GP_INPUT,
					   "there is no site %u",
					   d->events[i].site);
		}
	if (!resolve_state(&d->start, sites, count) ||
	    !resolve_state(&d->end, sites, count)) {
		gp_diag_record(diag, "device %u", d->ordinal);
		gp_diag_hint(diag, "the file's \"sites\" has %zu", count);
		return gp_diag_set(diag, GP_INPUT,
				   "a segment or block has a site that is "
				   "not there");
	}
	return GP_OK;
}

enum gp_status gp_build_sites(struct gp_build *build, const uint32_t *sites,
			      size_t count, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	size_t i;

	for (i = 0; i < build->device_count && !status; i++)
		status = resolve_device(build, &build->devices[i], sites, count,
					diag);
	return status;
}

static void set_text(char **to, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	free(*to);
	*to = NULL;
	if (!text)
		return;
	*to = gp_mem_alloc(length + 1, 3);
	gp_utf8_clean(text, length, *to);
}

void gp_build_source(struct gp_build *build, const char *source)
{
	set_text(&build->source, source);
}

void gp_build_settings(struct gp_build *build, const char *conf)
{
	set_text(&build->settings, conf);
}

void gp_build_values(struct gp_build *build, const char *values)
{
	set_text(&build->values, values);
}
