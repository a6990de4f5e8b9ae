/* SPDX-License-Identifier: MIT */
/* The combinations of a sweep, in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/release.h"
#include "base/map.h"
#include "base/mem.h"
#include "device/gpu.h"
#include "study/sweep/sweep.h"

#define MOST_COMBINATIONS 1000000

/* A text for each combination: what makes two of them the same. */
static uint64_t digest(const struct gp_combination *c)
{
	uint64_t hash = gp_hash64(c->capacity);

	hash = gp_hash64(hash ^ c->settings.release);
	hash = gp_hash64(hash ^ (uint64_t)(uintptr_t)c->engine);
	for (const char *at = c->conf; *at; at++)
		hash = gp_hash64(hash ^ (unsigned char)*at);
	return hash;
}

static bool is_same(const struct gp_combination *a,
		    const struct gp_combination *b)
{
	return a->capacity == b->capacity && a->engine == b->engine &&
	       a->settings.release == b->settings.release &&
	       !strcmp(a->conf, b->conf);
}

static enum gp_status wrong(const struct gp_axis *axis, const char *value,
			    struct gp_diag *diag)
{
	return gp_diag_set(diag, GP_USAGE, "--set %s: there is no %s %.80s",
			   axis->name, axis->name, value);
}

static enum gp_status apply_capacity(struct gp_combination *c,
				     const char *value, struct gp_diag *diag)
{
	struct gp_diag why = { 0 };

	if (gp_capacity_parse(value, &c->capacity, &why) == GP_OK)
		return GP_OK;
	gp_diag_hint(diag, "%s", why.hint);
	return gp_diag_set(diag, GP_USAGE, "--set capacity=%.400s", why.what);
}

/* A setting; of a later axis of the same name, too. */
static void apply_setting(struct gp_combination *c, const struct gp_axis *axis,
			  const char *value)
{
	char *conf = gp_conf_with(c->conf, axis->name, value);

	free(c->conf);
	c->conf = conf;
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (!strcmp(gp_space_names[i], axis->name))
			c->searched = (c->searched & ~(1U << i)) |
				      (unsigned)axis->is_all << i;
}

/* Applies one value of one axis. */
static enum gp_status apply(struct gp_combination *c,
			    const struct gp_axis *axis, const char *value,
			    struct gp_diag *diag)
{
	if (!strcmp(axis->name, "torch"))
		return gp_release_parse(value, &c->settings.release, diag) ==
				       GP_OK
			       ? GP_OK
			       : wrong(axis, value, diag);
	if (!strcmp(axis->name, "capacity"))
		return apply_capacity(c, value, diag);
	if (!strcmp(axis->name, "engine")) {
		c->engine = gp_engine_find(value);
		if (c->engine && c->engine->simulated)
			return gp_diag_set(diag, GP_USAGE,
					   "--set engine: %s cannot be ranked "
					   "without a device: %s",
					   value, c->engine->simulated);
		return c->engine ? GP_OK : wrong(axis, value, diag);
	}
	apply_setting(c, axis, strcmp(value, "none") != 0 ? value : NULL);
	return GP_OK;
}

/* The index-th combination; the last axis changes fastest. */
static enum gp_status combine(const struct gp_grid_config *config, size_t index,
			      struct gp_combination *c, struct gp_diag *diag)
{
	size_t picks[64], rest = index;
	enum gp_status status = GP_OK;
	const char *conf;

	for (size_t a = config->axis_count; a-- > 0;) {
		picks[a] = rest % config->axes[a].count;
		rest /= config->axes[a].count;
	}
	conf = config->confs[rest];
	*c = (struct gp_combination){
		.conf = gp_mem_copy_text(conf, strlen(conf)),
		.engine = config->engine,
		.capacity = config->capacity,
		.settings = { .release = config->release },
	};
	for (size_t a = 0; a < config->axis_count && status == GP_OK; a++)
		status = apply(c, &config->axes[a],
			       config->axes[a].values[picks[a]], diag);
	return status;
}

static void judge(struct gp_combination *c)
{
	struct gp_diag diag = { 0 };

	gp_settings_init(&c->settings, c->settings.release);
	if (gp_settings_parse(&c->settings, c->conf, &diag) != GP_OK)
		c->reason = gp_mem_copy_text(diag.what, strlen(diag.what));
}

static enum gp_status total_of(const struct gp_grid_config *config,
			       size_t *total, struct gp_diag *diag)
{
	*total = config->conf_count;
	if (config->axis_count > 64)
		return gp_diag_set(diag, GP_USAGE, "too many --set");
	for (size_t a = 0; a < config->axis_count; a++) {
		*total *= config->axes[a].count;
		if (*total > MOST_COMBINATIONS)
			return gp_diag_set(diag, GP_USAGE,
					   "more than a million combinations");
	}
	return GP_OK;
}

/* Keeps c unless the grid has it. */
static void keep(struct gp_grid *grid, struct gp_map *seen,
		 struct gp_combination *c)
{
	uint64_t key = digest(c);
	uint32_t before = gp_map_get(seen, key);

	if (before != GP_MAP_NONE && is_same(&grid->items[before], c)) {
		free(c->conf);
		return;
	}
	judge(c);
	gp_map_put(seen, key, (uint32_t)grid->count);
	grid->items[grid->count++] = *c;
}

enum gp_status gp_grid_make(const struct gp_grid_config *config,
			    struct gp_grid *grid, struct gp_diag *diag)
{
	struct gp_map seen = { 0 };
	enum gp_status status;
	size_t total;

	*grid = (struct gp_grid){ 0 };
	status = total_of(config, &total, diag);
	if (status != GP_OK)
		return status;
	grid->items = gp_mem_alloc(total, sizeof(*grid->items));
	for (size_t i = 0; i < total && status == GP_OK; i++) {
		struct gp_combination c;

		status = combine(config, i, &c, diag);
		if (status == GP_OK)
			keep(grid, &seen, &c);
		else
			free(c.conf);
	}
	gp_map_release(&seen);
	if (status != GP_OK)
		gp_grid_release(grid);
	return status;
}

void gp_grid_release(struct gp_grid *grid)
{
	for (size_t i = 0; i < grid->count; i++) {
		free(grid->items[i].conf);
		free(grid->items[i].reason);
	}
	free(grid->items);
	*grid = (struct gp_grid){ 0 };
}
