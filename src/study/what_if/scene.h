/* SPDX-License-Identifier: MIT */
/* What a what-if works with: the draft that it changes, and what it can ask
 * about it. */
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

/* ---- the lifetime of each block of a draft ---- */

/* How many pools and captures are in use after the event, from how many were
 * before it. */
uint32_t scene_pools_in_use(const struct gp_event *event, uint32_t in_use);

#define LIFETIME_NO_END UINT64_MAX

struct lifetime {
	uint64_t freed; /* the event */
	uint64_t size;
	bool is_plain; /* no other request refers to it in between */
	/* It is in a private pool, or was allocated while one was in use: not
	 * every trace has the pool of each request. */
	bool is_private;
};

/* By id; the caller frees the result. */
struct lifetime *lifetimes_of(const struct gp_draft_device *device);

/* ---- selecting blocks: by site, size, event, address or id ---- */

struct marked {
	bool **of; /* by device and id: whether selected */
	size_t devices;
	uint64_t blocks, bytes; /* over all devices */
};

/*
 * text: "train.py:42", "size:1MiB..8MiB", "event:812", "addr:0x7f..", "id:91"
 * or "all". Numbers and sizes are those of the recorded trace. Returns
 * GP_USAGE, with nothing to release, if no block is selected.
 */
enum gp_status which_mark(const struct scene *scene, const char *text,
			  struct marked *marked);
void marked_release(struct marked *marked);

/* ---- the what-ifs, and whether a trace has what they change ---- */

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
bool has_streams_to_merge(const struct gp_trace *trace);
bool has_private_pools(const struct gp_trace *trace);
bool has_delays(const struct gp_trace *trace);
bool has_empty_caches(const struct gp_trace *trace);
/* study/what_if/order.c */
enum gp_status preallocate(struct scene *scene);
enum gp_status sort_step(struct scene *scene);
bool has_unsorted_requests(const struct gp_trace *trace);
/* study/what_if/place.c */
enum gp_status empty_cache_at(struct scene *scene);

#endif
