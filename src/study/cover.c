/* SPDX-License-Identifier: MIT */
/* All values of some settings, covered by few replays. */
#include "study/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/replay.h"
#include "study/space.h"

/* Takes ownership of conf. */
static void keep_box(struct gp_cover *cover, char *conf,
		     const struct gp_alike *alike)
{
	GP_GROW(cover->boxes, cover->count + 1, cover->room);
	cover->boxes[cover->count++] = (struct gp_cover_box){
		.conf = conf,
		.alike = *alike,
	};
}

/* What was found under conf; serves: it is a box that serves. */
static void take(const struct gp_cover_config *config, const char *conf,
		 const struct gp_alike *alike, bool serves,
		 struct gp_cover *cover)
{
	struct gp_box box;

	if (serves && config->first_only) {
		keep_box(cover, gp_mem_copy_text(conf, strlen(conf)), alike);
		cover->is_over = true;
		return;
	}
	gp_space_take(cover->space, alike, &box);
	if (serves)
		keep_box(cover, gp_space_conf(cover->space, &box), alike);
}

static enum gp_status run(const struct gp_cover_config *config,
			  const char *conf, struct gp_cover *cover,
			  struct gp_diag *diag)
{
	struct gp_settings settings;
	struct gp_replay_config replay = {
		.trace = config->trace,
		.device = config->device,
		.settings = &settings,
		.engine = config->engine,
		.conf = conf,
		.mode = GP_WHAT_IF,
		.on_oom = GP_OOM_STOP,
		.keep_alike = true,
		.capacity = config->capacity,
	};
	struct gp_replay_result result;
	enum gp_status status;

	gp_settings_init(&settings, config->release);
	status = gp_settings_parse(&settings, conf, diag);
	if (status == GP_OK)
		status = gp_replay(&replay, &result, diag);
	if (status != GP_OK)
		return status;
	cover->runs++;
	take(config, conf, &result.alike,
	     gp_replay_has_room(&result) && result.refused <= config->refused,
	     cover);
	gp_replay_release(&result);
	return GP_OK;
}

static enum gp_status begin(const struct gp_cover_config *config,
			    struct gp_cover *cover, struct gp_diag *diag)
{
	const struct gp_space_config space = {
		.release = config->release,
		.conf = config->conf,
		.searched = config->searched,
		.large_most = config->large_most,
	};

	return gp_space_create(&space, &cover->space, diag);
}

enum gp_status gp_cover_search(const struct gp_cover_config *config,
			       struct gp_cover *cover, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	const char *conf = NULL;

	if (!cover->space)
		status = begin(config, cover, diag);
	while (status == GP_OK && !cover->is_over &&
	       (conf = gp_space_next(cover->space)) &&
	       cover->runs < config->budget)
		status = run(config, conf, cover, diag);
	if (status != GP_OK)
		gp_cover_release(cover);
	else if (!conf && !cover->is_over)
		cover->complete = cover->is_over = true;
	return status;
}

void gp_cover_resume(struct gp_cover *cover, bool is_covered)
{
	struct gp_cover_box *found = &cover->boxes[--cover->count];
	struct gp_box box;

	if (is_covered)
		gp_space_take(cover->space, &found->alike, &box);
	free(found->conf);
	cover->is_over = false;
}

void gp_cover_release(struct gp_cover *cover)
{
	for (size_t i = 0; i < cover->count; i++)
		free(cover->boxes[i].conf);
	free(cover->boxes);
	gp_space_destroy(cover->space);
	*cover = (struct gp_cover){ 0 };
}
