/* SPDX-License-Identifier: MIT */
/* Makes the grid of a sweep from its options. */
#include "commands/sweep_grid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "commands/engine_named.h"
#include "commands/nearest.h"
#include "commands/plan.h"
#include "gpupool/study.h"
#include "gpupool/knob.h"

struct lists {
	char **confs; /* owned */
	size_t conf_count, conf_room;
	struct gp_axis *axes;
	size_t axis_count, axis_room;
	uint64_t largest; /* largest request, in bytes; 0: no axis may be all */
};

static void add_owned(struct lists *lists, char *conf)
{
	GP_GROW(lists->confs, lists->conf_count + 1, lists->conf_room);
	lists->confs[lists->conf_count++] = conf;
}

static void add_conf(struct lists *lists, const char *conf)
{
	add_owned(lists, gp_mem_copy_text(conf, strlen(conf)));
}

/* Expands the list in "engine=..."; returns any other axis as it is. */
static char *axis_text(const char *text)
{
	static const char engine[] = "engine=";
	size_t length = strlen(engine), size;
	char *names, *made;

	if (strncmp(text, engine, length) != 0)
		return gp_mem_copy_text(text, strlen(text));
	names = gp_engine_names(text + length, NULL);
	size = length + strlen(names) + 1;
	made = gp_mem_alloc(size, 1);
	snprintf(made, size, "%s%s", engine, names);
	free(names);
	return made;
}

/* If an axis is not a setting, suggests one with a similar name. */
static void hint_axis(const char *text, struct gp_diag *diag)
{
	char name[64];
	const char *near;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
	near = gp_nearest_setting(name);
	if (near && strcmp(near, name) != 0 && !gp_engine_setting(NULL, name) &&
	    strstr(diag->what, name))
		gp_diag_hint(diag, "did you mean %s?", near);
}

static enum gp_status add_axis(struct lists *lists, const char *text,
			       struct gp_diag *diag)
{
	struct gp_axis axis;
	char *said = axis_text(text);
	enum gp_status status =
		gp_axis_parse(said, lists->largest, &axis, diag);

	free(said);
	if (status != GP_OK)
		hint_axis(text, diag);
	if (status != GP_OK)
		return status;
	GP_GROW(lists->axes, lists->axis_count + 1, lists->axis_room);
	lists->axes[lists->axis_count++] = axis;
	return GP_OK;
}

/* Adds the table of candidates, which the judge tries, too. */
static void add_quick(struct lists *lists)
{
	size_t count;
	const struct gp_candidate_conf *table = gp_candidate_table(&count);

	for (size_t i = 0; i < count; i++)
		add_conf(lists, table[i].conf);
}

static enum gp_status add_full(struct lists *lists, struct gp_diag *diag)
{
	static const char *const axes[] = {
		"expandable_segments=none,True",
		"max_split_size_mb=none,32..1024*2",
		"garbage_collection_threshold=none,0.6,0.8",
		"roundup_power2_divisions=none,4,8,16,[256:1,512:2,1024:4,>:8]",
		"large_segment_size_mb=none,12,64",
	};
	enum gp_status status = GP_OK;

	add_conf(lists, "");
	for (size_t i = 0; i < sizeof(axes) / sizeof(*axes); i++)
		if (status == GP_OK)
			status = add_axis(lists, axes[i], diag);
	return status;
}

static enum gp_status add_preset(struct lists *lists, const char *name,
				 struct gp_diag *diag)
{
	if (!strcmp(name, "full"))
		return add_full(lists, diag);
	if (!strcmp(name, "quick")) {
		add_quick(lists);
		return GP_OK;
	}
	gp_diag_hint(diag, "the presets are quick and full");
	return gp_diag_set(diag, GP_USAGE, "there is no preset %s", name);
}

/* Adds one conf per line of a file; # begins a comment. */
static enum gp_status add_file(struct lists *lists, const char *path,
			       struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	FILE *file = fopen(path, "r");
	size_t room = 0;
	char *line = NULL;

	if (!file) {
		gp_diag_file(diag, path);
		return gp_diag_set(diag, gp_file_status(errno), "%s",
				   strerror(errno));
	}
	while (getline(&line, &room, file) >= 0) {
		char *start = line + strspn(line, " \t\r\n");
		const char *conf;
		size_t length;

		if (!*start || *start == '#')
			continue;
		conf = gp_conf_pasted(start, &length);
		start[(size_t)(conf - start) + length] = 0;
		add_conf(lists, conf);
	}
	if (!feof(file)) {
		gp_diag_file(diag, path);
		status = gp_diag_set(diag, GP_SYSTEM, "cannot read it");
	}
	free(line);
	fclose(file);
	return status;
}

/* Adds the engines of --engine; a later --set engine replaces them. */
static enum gp_status add_engines(struct lists *lists, const char *engine,
				  struct gp_diag *diag)
{
	char text[1000];

	if (!engine)
		return GP_OK;
	if (snprintf(text, sizeof(text), "engine=%s", engine) >=
	    (int)sizeof(text))
		return gp_diag_set(diag, GP_USAGE, "--engine: it is too long");
	return add_axis(lists, text, diag);
}

/* Collects the axes; if nothing is given, the recorded settings alone. */
static enum gp_status gather(struct lists *lists,
			     const struct gp_options *options, const char *base,
			     struct gp_diag *diag)
{
	const char *preset = options->preset;
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < options->confs.count; i++)
		add_conf(lists, options->confs.items[i]);
	if (options->confs_file)
		status = add_file(lists, options->confs_file, diag);
	if (!preset && !lists->conf_count && !options->sets.count)
		preset = "quick";
	if (status == GP_OK && preset)
		status = add_preset(lists, preset, diag);
	if (!lists->conf_count)
		add_conf(lists, base);
	if (status == GP_OK)
		status = add_engines(lists, options->engine, diag);
	for (size_t i = 0; i < options->sets.count && status == GP_OK; i++)
		status = add_axis(lists, options->sets.items[i], diag);
	return status;
}

/* Refuses engines whose numbers cannot be compared. */
static enum gp_status check_engines(const struct gp_grid *grid,
				    struct gp_diag *diag)
{
	for (size_t i = 0; i < grid->count; i++) {
		const struct gp_engine *engine = grid->items[i].engine;

		if (gp_engine_is_of_host(engine)) {
			gp_diag_hint(diag,
				     "gpupool compare --engine %s --alloc-conf "
				     "... puts settings side by side",
				     engine->name);
			return gp_diag_set(diag, GP_USAGE,
					   "sweep is about device memory, and "
					   "%s is an allocator of host memory",
					   engine->name);
		}
		if (engine->simulated)
			return gp_diag_set(diag, GP_USAGE,
					   "the engine %s cannot be ranked "
					   "without a device: %s",
					   engine->name, engine->simulated);
	}
	return GP_OK;
}

static enum gp_status make(const struct lists *lists,
			   const struct gp_options *options, uint8_t release,
			   struct gp_grid *grid, struct gp_diag *diag)
{
	char program[PATH_MAX];
	struct gp_grid_config config = {
		.confs = (const char *const *)lists->confs,
		.conf_count = lists->conf_count,
		.axes = lists->axes,
		.axis_count = lists->axis_count,
		.release = release,
		.capacity = options->capacity,
		.library = gp_engine_here(program),
	};

	if (options->torch &&
	    gp_release_parse(options->torch, &config.release, diag) != GP_OK)
		return GP_USAGE;
	return gp_grid_make(&config, grid, diag);
}

static void lists_release(struct lists *lists)
{
	for (size_t i = 0; i < lists->conf_count; i++)
		free(lists->confs[i]);
	for (size_t i = 0; i < lists->axis_count; i++)
		gp_axis_release(&lists->axes[i]);
	free(lists->confs);
	free(lists->axes);
}

static uint64_t largest_of(const struct gp_trace *trace)
{
	uint64_t largest = 1;

	for (size_t d = 0; d < trace->device_count; d++)
		for (size_t i = 0; i < trace->devices[d].event_count; i++) {
			const struct gp_event *e = &trace->devices[d].events[i];

			if (e->kind == GP_ALLOC && e->size > largest)
				largest = e->size;
		}
	return largest;
}

static uint64_t largest_request(const struct gp_sweep_base *base)
{
	uint64_t largest = 0;

	for (size_t t = 0; t < base->trace_count; t++) {
		uint64_t one = largest_of(base->traces[t]);

		if (one > largest)
			largest = one;
	}
	return largest;
}

enum gp_status gp_sweep_grid(const struct gp_options *options,
			     const struct gp_sweep_base *base,
			     struct gp_grid *grid, struct gp_diag *diag)
{
	struct lists lists = { .largest = largest_request(base) };
	enum gp_status status = gather(&lists, options, base->conf, diag);

	if (status == GP_OK)
		status = make(&lists, options, base->release, grid, diag);
	if (status == GP_OK)
		status = check_engines(grid, diag);
	if (status == GP_USAGE)
		gp_diag_file(diag, "sweep");
	lists_release(&lists);
	return status;
}

/* ---- headroom's grid ---- */

/* Whether the last axis is a setting. */
static bool is_setting_axis(const struct lists *lists)
{
	static const char *const others[] = { "torch", "capacity", "engine" };
	const char *name = lists->axes[lists->axis_count - 1].name;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

static enum gp_status add_setting_axis(struct lists *lists, const char *text,
				       struct gp_diag *diag)
{
	enum gp_status status = add_axis(lists, text, diag);
	const char *name;

	if (status != GP_OK)
		return status;
	name = lists->axes[lists->axis_count - 1].name;
	if (is_setting_axis(lists) || !strcmp(name, "torch"))
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE,
			   "--set %s: it takes a setting, or torch", name);
}

enum gp_status gp_headroom_grid(const struct gp_options *options,
				const char *base, uint8_t release,
				struct gp_grid *grid, struct gp_diag *diag)
{
	struct lists lists = { 0 };
	struct gp_options only = { .torch = options->torch };
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < options->confs.count; i++)
		add_owned(&lists, gp_plan_conf(options->confs.items[i],
					       options->knobs));
	if (!lists.conf_count)
		add_conf(&lists, base);
	for (size_t i = 0; i < options->sets.count && status == GP_OK; i++)
		status = add_setting_axis(&lists, options->sets.items[i], diag);
	if (status == GP_OK)
		status = make(&lists, &only, release, grid, diag);
	if (status == GP_USAGE)
		gp_diag_file(diag, "headroom");
	lists_release(&lists);
	return status;
}

/* ---- compare's grid ---- */

enum gp_status gp_compare_grid(const struct gp_options *options,
			       const char *engines, struct gp_grid *grid,
			       struct gp_diag *diag)
{
	struct lists lists = { 0 };
	struct gp_options only = { 0 };
	enum gp_status status = add_engines(&lists, engines, diag);

	add_conf(&lists, "");
	for (size_t i = 0; i < options->sets.count && status == GP_OK; i++) {
		const char *text = options->sets.items[i];

		status = add_axis(&lists, text, diag);
		if (status == GP_OK && !is_setting_axis(&lists))
			status = gp_diag_set(diag, GP_USAGE,
					     "--set %.100s: it takes settings "
					     "alone",
					     text);
	}
	if (status == GP_OK)
		status = make(&lists, &only, GP_RELEASE_LAST, grid, diag);
	if (status == GP_USAGE)
		gp_diag_file(diag, "compare");
	lists_release(&lists);
	return status;
}

/* ---- shards ---- */

enum gp_status gp_sweep_shard(const struct gp_options *options,
			      struct gp_shard *shard, struct gp_diag *diag)
{
	char end = 0;

	*shard = (struct gp_shard){ 1, 1 };
	if (!options->shard)
		return GP_OK;
	if (sscanf(options->shard, "%zu/%zu%c", &shard->index, &shard->count,
		   &end) == 2 &&
	    shard->index && shard->index <= shard->count)
		return GP_OK;
	gp_diag_hint(diag, "for example --shard 1/3, 2/3 and 3/3");
	return gp_diag_set(diag, GP_USAGE, "--shard %s: not a part such as 1/3",
			   options->shard);
}
