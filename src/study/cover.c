/* SPDX-License-Identifier: MIT */
/* All values of some settings, covered by few replays. */
#include "study/cover.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gpupool/replay.h"
#include "study/space.h"

struct search {
	const struct gp_cover_config *config;
	struct gp_cover *cover;
	struct gp_space *space;
	struct gp_diag *diag;
	size_t room; /* of cover->boxes */
};

static void keep_box(struct search *s, const struct gp_alike *alike,
		     const struct gp_box *box)
{
	struct gp_cover *cover = s->cover;

	cover->boxes = gp_mem_grow(cover->boxes, &s->room, cover->count + 1,
				   sizeof(*cover->boxes));
	cover->boxes[cover->count++] = (struct gp_cover_box){
		.conf = gp_space_conf(s->space, box),
		.alike = *alike,
	};
}

static enum gp_status run(struct search *s, const char *conf)
{
	const struct gp_cover_config *config = s->config;
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
		.is_interrupted = config->is_interrupted,
	};
	struct gp_replay_result result;
	enum gp_status status;

	gp_settings_init(&settings, config->release);
	status = gp_settings_parse(&settings, conf, s->diag);
	if (config->progress)
		config->progress(config->progress_arg, s->cover->runs);
	if (status == GP_OK)
		status = gp_replay(&replay, &result, s->diag);
	if (status != GP_OK)
		return status;
	s->cover->runs++;
	s->cover->is_interrupted = result.is_interrupted;
	if (!result.is_interrupted) {
		struct gp_box box;

		gp_space_take(s->space, &result.alike, &box);
		if (gp_replay_has_room(&result) &&
		    result.refused <= config->refused)
			keep_box(s, &result.alike, &box);
	}
	gp_replay_release(&result);
	return GP_OK;
}

static enum gp_status begin(struct search *s)
{
	const struct gp_cover_config *config = s->config;
	struct gp_space_config space = {
		.release = config->release,
		.conf = config->conf,
		.searched = 1U << GP_SPACE_SPLIT | 1U << GP_SPACE_GC,
		.large_most = config->large_most,
	};

	if (config->large_most)
		space.searched |= 1U << GP_SPACE_LARGE;
	return gp_space_create(&space, &s->space, s->diag);
}

enum gp_status gp_cover_search(const struct gp_cover_config *config,
			       struct gp_cover *cover, struct gp_diag *diag)
{
	struct search s = { .config = config, .cover = cover, .diag = diag };
	const char *conf = NULL;
	enum gp_status status;

	*cover = (struct gp_cover){ 0 };
	status = begin(&s);
	while (status == GP_OK && (conf = gp_space_next(s.space)) &&
	       cover->runs < config->budget && !cover->is_interrupted &&
	       !(config->first_only && cover->count))
		status = run(&s, conf);
	cover->complete = status == GP_OK && !conf;
	gp_space_destroy(s.space);
	if (status != GP_OK)
		gp_cover_release(cover);
	return status;
}

void gp_cover_release(struct gp_cover *cover)
{
	for (size_t i = 0; i < cover->count; i++)
		free(cover->boxes[i].conf);
	free(cover->boxes);
	*cover = (struct gp_cover){ 0 };
}
