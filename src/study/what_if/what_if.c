/* SPDX-License-Identifier: MIT */
/* The table of what-ifs, in the order in which they are applied. */
#include "study/what_if/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/what_if/scene.h"

/* Blocks are removed before lifetimes change, sizes change before positions,
 * and what adds events comes last, so that event numbers are those of the trace
 * for as long as possible. */
static const struct gp_what_if_row table[] = {
	{ .name = "without-site",
	  .argument = "BLOCKS",
	  .sentence = "These blocks were never requested.",
	  .method = "Their requests are left out, and those that existed at "
		    "the start are free." },
	{ .name = "keep-site",
	  .argument = "BLOCKS",
	  .sentence = "These blocks were never freed.",
	  .method = "Their frees are left out." },
	{ .name = "free-earlier",
	  .argument = "BLOCKS[,N]",
	  .sentence = "These blocks were freed N events earlier; without N, "
		      "right after the last use that the trace shows.",
	  .method = "The last use is the request itself, or a later "
		    "record_stream of the block; no free moves before it. "
		    "Blocks that were never freed count as freed at the end." },
	{ .name = "checkpointing",
	  .argument = "BLOCKS",
	  .sentence = "Of these blocks, those that wait for the backward pass "
		      "were dropped and recomputed.",
	  .method = "In each step, the backward pass is taken to begin where "
		    "most bytes are live. A block that was requested before "
		    "that and freed after it, within the step, is freed N "
		    "events after its request and requested again N events "
		    "before its free; N is the median lifetime of the step's "
		    "other blocks. Without steps, the whole trace is one step. "
		    "What recomputing would need besides is not known." },
	{ .name = "round-sizes",
	  .argument = "CLASSES",
	  .sentence = "Requests were rounded up to classes: multiples of "
		      "64KiB, pow2, pow2/8 (each power of two in 8 steps), or "
		      "a list: 1MiB,4MiB,20MiB.",
	  .method = "Requests above the last class of a list stay as they are, "
		    "and so do blocks that existed at the start." },
	{ .name = "merge-streams",
	  .sentence = "All work was on one stream.",
	  .method = "Requests, and memory that existed at the start, belong to "
		    "the default stream; no free waits, as there is no other "
		    "stream to wait for.",
	  .words = "all work on one stream" },
	{ .name = "no-delay",
	  .sentence = "No free waited for another stream (record_stream).",
	  .method = "Every record_stream is left out, and what was pending "
		    "free at the start is free.",
	  .words = "no free waits for another stream" },
	{ .name = "no-private-pools",
	  .sentence = "MemPools and graphs shared the default pool.",
	  .method = "Uses of pools and captures are left out, and with them "
		    "their empty_cache.",
	  .words = "no private pools" },
	{ .name = "no-empty-cache",
	  .sentence = "empty_cache was never called.",
	  .method = "Its calls are left out.",
	  .words = "no empty_cache" },
	{ .name = "preallocate",
	  .argument = "SHARE",
	  .sentence = "Blocks that live for this share of the trace, such as "
		      "50%, were requested first, the largest first.",
	  .method = "Only blocks of the default pool are moved. They live from "
		    "the start on, which can make memory run out.",
	  .words = "long-lived blocks first",
	  .tried = "50%" },
	{ .name = "sort-step",
	  .sentence = "Requests with nothing else between them were made in "
		      "the order of their sizes, the largest first.",
	  .method = "There is no free, no other kind of request and no mark "
		    "between them, so that no block lives through anything "
		    "that it did not live through before.",
	  .words = "requests in a row sorted by size" },
	{ .name = "empty-cache-at",
	  .argument = "WHERE",
	  .sentence = "empty_cache was called before an event, at each mark "
		      "of a name, at each step, or at the best N places: 812, "
		      "optimizer, step, best, best:3.",
	  .method = "The best places are found by replays: in each 24th of the "
		    "trace, the place where most is reserved and not allocated "
		    "is tried; the place with the fewest requests not served, "
		    "then with the least reserved at the peak, is kept, and "
		    "another one is looked for, for as long as that helps." },
};
#define WHAT_IFS (sizeof(table) / sizeof(*table))

static const struct maker {
	enum gp_status (*make)(struct scene *scene);
	/* gp_what_if_may_change; NULL: it may. */
	bool (*may_change)(const struct gp_trace *trace);
} makers[] = {
	{ without_site, NULL },
	{ keep_site, NULL },
	{ free_earlier, NULL },
	{ checkpointing, NULL },
	{ round_sizes, NULL },
	{ merge_streams, has_streams_to_merge },
	{ no_delay, has_delays },
	{ no_private_pools, has_private_pools },
	{ no_empty_cache, has_empty_caches },
	{ preallocate, NULL },
	{ sort_step, has_unsorted_requests },
	{ empty_cache_at, NULL },
};
_Static_assert(sizeof(makers) / sizeof(*makers) == WHAT_IFS,
	       "each what-if is made by somebody");

const struct gp_what_if_row *gp_what_if_table(size_t *count)
{
	*count = WHAT_IFS;
	return table;
}

const struct gp_what_if_row *gp_what_if_find(const char *name)
{
	for (size_t i = 0; i < WHAT_IFS; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

bool gp_what_if_may_change(const struct gp_what_if_row *row,
			   const struct gp_trace *trace)
{
	const struct maker *maker = &makers[row - table];

	return !maker->may_change || maker->may_change(trace);
}

static enum gp_status make(struct scene *scene, const struct gp_what_if *asked,
			   struct gp_what_ifs *result)
{
	struct gp_what_if_note *note = &result->notes[result->count++];
	enum gp_status status;

	*note = (struct gp_what_if_note){ .asked = *asked };
	scene->note = note;
	status = makers[asked->row - table].make(scene);
	for (size_t d = 0; d < scene->config->trace->device_count; d++)
		gp_draft_settle(&scene->draft->devices[d]);
	return status;
}

/* All what-ifs of one row are applied before those of the next. */
static enum gp_status make_all(struct scene *scene, struct gp_what_ifs *result)
{
	const struct gp_what_if_config *config = scene->config;
	enum gp_status status = GP_OK;

	for (size_t row = 0; row < WHAT_IFS; row++)
		for (size_t i = 0; i < config->count && status == GP_OK; i++)
			if (config->asked[i].row == &table[row])
				status = make(scene, &config->asked[i], result);
	return status;
}

/* Stores in the draft what a replay would otherwise infer from recorded
 * outcomes. */
static void note_origin(const struct gp_what_if_config *config,
			struct gp_draft *draft)
{
	if (!config->settings)
		return;
	draft->release = config->settings->release;
	for (size_t d = 0; d < config->trace->device_count; d++)
		if (config->capacity[d] != GP_UNLIMITED)
			draft->devices[d].total_memory = config->capacity[d];
}

enum gp_status gp_what_ifs_make(const struct gp_what_if_config *config,
				struct gp_what_ifs *result,
				struct gp_diag *diag)
{
	struct gp_draft draft;
	struct scene scene = { config, &draft, NULL, diag, NULL };
	enum gp_status status;

	*result = (struct gp_what_ifs){
		.notes = gp_mem_alloc(config->count, sizeof(*result->notes)),
	};
	gp_draft_init(&draft, config->trace);
	status = make_all(&scene, result);
	note_origin(config, &draft);
	if (status == GP_OK)
		result->trace = gp_draft_finish(&draft);
	else
		gp_what_ifs_release(result);
	gp_draft_release(&draft);
	gp_trace_destroy(scene.before);
	return status;
}

void gp_what_ifs_release(struct gp_what_ifs *result)
{
	gp_trace_destroy(result->trace);
	free(result->notes);
	*result = (struct gp_what_ifs){ 0 };
}
