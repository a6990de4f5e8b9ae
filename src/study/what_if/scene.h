/* SPDX-License-Identifier: MIT */
/* The context of one what-if, which changes a draft. */
#ifndef STUDY_WHAT_IF_SCENE_H
#define STUDY_WHAT_IF_SCENE_H

#include "trace/draft.h"
#include "trace/steps.h"
#include "study/what_if/what_if.h"

struct scene {
	const struct gp_what_if_config *config;
	struct gp_draft *draft;
	struct gp_what_if_note *note;
	struct gp_diag *diag;
	/* The trace that the draft was last made from, if it is not
	 * config's. */
	struct gp_trace *before;
};

/* GP_USAGE: "--NAME ARGUMENT: what". */
enum gp_status scene_usage(const struct scene *scene, const char *what);

/* Describes the change: "3 blocks", followed by the formatted text; count is
 * the number of changes. */
void scene_note(struct scene *scene, uint64_t count, const char *noun,
		const char *rest, ...) __attribute__((format(printf, 4, 5)));

/* Finds the steps of the present draft, which is settled first. The caller
 * frees the list. */
void scene_steps(const struct scene *scene, uint32_t device,
		 struct gp_steps *steps);

/* Whether text contains the pattern, with whole numbers: "train.py:4" does not
 * match "train.py:42". */
bool scene_text_has(const char *text, const char *pattern);

/* study/what_if/blocks.c */
enum gp_status without_site(struct scene *scene);
enum gp_status keep_site(struct scene *scene);
enum gp_status free_earlier(struct scene *scene);
/* study/what_if/checkpointing.c */
enum gp_status checkpointing(struct scene *scene);
/* study/what_if/sizes.c */
enum gp_status round_sizes(struct scene *scene);
/* study/what_if/merge.c */
enum gp_status merge_streams(struct scene *scene);
enum gp_status no_private_pools(struct scene *scene);
enum gp_status no_delay(struct scene *scene);
enum gp_status no_empty_cache(struct scene *scene);
/* study/what_if/order.c */
enum gp_status preallocate(struct scene *scene);
enum gp_status sort_step(struct scene *scene);
/* study/what_if/place.c */
enum gp_status empty_cache_at(struct scene *scene);

#endif
