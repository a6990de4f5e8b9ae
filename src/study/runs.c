/* SPDX-License-Identifier: MIT */
/* Runs of one device of a trace, and what else each of them answers. */
#include "study/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/same.h"

#define GRAIN	 GP_DEVICE_GRAIN
#define INFINITE UINT64_MAX

struct run {
	struct gp_settings settings;
	char *conf; /* owned; NULL: settings are all that matters */
	struct gp_alike alike;
	bool is_whole; /* to the end of the trace */
	struct run_told told;
};

struct runs {
	struct runs_config config;
	struct run *list;
	size_t count, room;
	uint32_t made;
	struct same same;
	bool sets_limit; /* the trace, in its course */
};

struct runs *runs_create(const struct runs_config *config)
{
	struct runs *runs = gp_mem_alloc(1, sizeof(*runs));
	const struct gp_device_trace *t;

	runs->config = *config;
	t = &config->trace->devices[config->device];
	for (size_t i = 0; i < t->event_count; i++)
		runs->sets_limit |= t->events[i].kind == GP_SET_FRACTION;
	same_init(&runs->same, config->trace, config->device);
	return runs;
}

void runs_destroy(struct runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->count; i++)
		free(runs->list[i].conf);
	free(runs->list);
	same_release(&runs->same);
	free(runs);
}

uint32_t runs_made(const struct runs *runs)
{
	return runs->made;
}

/* ---- capacities that go alike ---- */

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t grid_up(uint64_t bytes)
{
	return bytes > INFINITE - GRAIN ? INFINITE / GRAIN * GRAIN
					: (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

static bool is_default_engine(const struct runs *runs)
{
	size_t count;

	return runs->config.engine == gp_engine_table(&count);
}

/* Collection begins at a share of a limit, and without one not. */
static bool follows_size(const struct runs *runs,
			 const struct gp_settings *settings)
{
	return settings->throw_on_oom || settings->memory_fraction < 1 ||
	       settings->reserve_fraction > 0 || runs->sets_limit ||
	       runs->same.sets_settings;
}

/* The first engine tells of its reservations (struct gp_device_reach). */
static bool tells_ranges(const struct runs *runs,
			 const struct gp_settings *settings)
{
	return !settings->expandable_segments || is_default_engine(runs);
}

/* The least capacity at which a reservation has that many bytes, and the first
 * at which it could have them, as it is rounded up to a page. */
static uint64_t with_range(uint64_t bytes)
{
	return grid_up(bytes / 9 * 8 + 8);
}

static uint64_t near_range(const struct gp_settings *settings, uint64_t bytes)
{
	uint64_t page = settings->large_segment_size;

	if (bytes == UINT64_MAX)
		return INFINITE;
	return bytes > page ? (bytes - page) / 9 * 8 / GRAIN * GRAIN : 0;
}

/* INFINITE stays so. */
static uint64_t end_at(uint64_t bytes)
{
	return bytes == UINT64_MAX ? INFINITE : grid_up(bytes);
}

static void find_range(struct run_told *told,
		       const struct gp_settings *settings,
		       const struct gp_device_reach *reach)
{
	bool is_unlimited = told->capacity == GP_UNLIMITED;

	told->from = told->capacity;
	told->to = is_unlimited ? 0 : told->capacity + GRAIN;
	told->least_capacity = grid_up(reach->most_granted);
	if (!told->is_plain)
		return;
	told->least_capacity =
		max(told->least_capacity, with_range(reach->longest_range));
	told->from = min(told->from, told->least_capacity);
	told->to =
		max(told->to, min(end_at(reach->least_refused),
				  near_range(settings, reach->shortest_range)));
}

/* ---- finding ---- */

/* A run with failures tells of the device, too, as large as it was. */
static bool speaks_for(const struct run *run, uint64_t capacity,
		       enum gp_on_oom on_oom)
{
	const struct run_told *told = &run->told;

	if (!run->is_whole && on_oom == GP_OOM_GO_ON)
		return false;
	if (capacity == told->capacity)
		return true;
	if (told->first_oom.is_there && on_oom == GP_OOM_GO_ON)
		return false;
	if (capacity == GP_UNLIMITED)
		return told->from <= GP_SIM_UNLIMITED_TOTAL &&
		       told->to == INFINITE;
	return told->from <= capacity && capacity < told->to;
}

static bool is_of_settings(const struct runs *runs, const struct run *run,
			   const struct run_asked *asked)
{
	if (run->conf && (!asked->conf || strcmp(run->conf, asked->conf) != 0))
		return false;
	return same_holds(&runs->same, &run->alike, &run->settings,
			  asked->settings);
}

const struct run_told *runs_find(const struct runs *runs,
				 const struct run_asked *asked)
{
	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->list[i];

		if (speaks_for(run, asked->capacity, asked->on_oom) &&
		    is_of_settings(runs, run, asked))
			return &run->told;
	}
	return NULL;
}

/* ---- making ---- */

static struct run *add(struct runs *runs, const struct run_asked *asked,
		       const struct gp_replay_result *result)
{
	struct run *run;
	bool keeps_conf = !is_default_engine(runs) && asked->conf;

	runs->list = gp_mem_grow(runs->list, &runs->room, runs->count + 1,
				 sizeof(*runs->list));
	run = &runs->list[runs->count++];
	*run = (struct run){
		.settings = *asked->settings,
		.conf = keeps_conf ? gp_mem_copy_text(asked->conf,
						      strlen(asked->conf))
				   : NULL,
		.alike = result->alike,
		.is_whole = asked->on_oom == GP_OOM_GO_ON ||
			    !result->first_oom.is_there,
		.told = {
			.follows_size = follows_size(runs, asked->settings),
			.capacity = asked->capacity,
			.ooms = result->ooms.count,
			.retries = (uint64_t)result->stats.num_alloc_retries,
			.refused = result->refused,
			.reserved = result->at_peak.reserved,
			.peak_allocated = gp_replay_peak_allocated(result),
			.calls = result->calls,
			.synchronizes = result->stats.num_sync_all_streams,
			.first_oom = result->first_oom,
		},
	};
	run->told.is_plain =
		!run->told.follows_size && tells_ranges(runs, asked->settings);
	find_range(&run->told, asked->settings, &result->reach);
	return run;
}

enum gp_status runs_ask(struct runs *runs, const struct run_asked *asked,
			const struct run_told **told, struct gp_diag *diag)
{
	const struct gp_replay_config replay = {
		.trace = runs->config.trace,
		.device = runs->config.device,
		.settings = asked->settings,
		.engine = runs->config.engine,
		.conf = asked->conf,
		.torch_lib = runs->config.torch_lib,
		.places = runs->config.places,
		.mode = GP_WHAT_IF,
		.on_oom = asked->on_oom,
		.capacity = asked->capacity,
		.keep_alike = true,
	};
	struct gp_replay_result result;
	enum gp_status status;

	*told = runs_find(runs, asked);
	if (*told)
		return GP_OK;
	status = gp_replay(&replay, &result, diag);
	if (status != GP_OK)
		return status;
	runs->made++;
	*told = &add(runs, asked, &result)->told;
	gp_replay_release(&result);
	return GP_OK;
}
