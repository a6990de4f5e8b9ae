/* SPDX-License-Identifier: MIT */
/* The ranks of a job, by what they asked for. */
#include "trace/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct gp_rank_class *find(const struct gp_ranks *ranks, uint64_t print,
				  const struct gp_trace *trace)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->classes[i].print == print &&
		    gp_trace_alike(ranks->classes[i].trace, trace))
			return &ranks->classes[i];
	return NULL;
}

static struct gp_rank_class *begin(struct gp_ranks *ranks, uint64_t print,
				   struct gp_trace *trace)
{
	struct gp_rank_class *class;

	ranks->classes = gp_mem_grow(ranks->classes, &ranks->room,
				     ranks->count + 1, sizeof(*ranks->classes));
	class = &ranks->classes[ranks->count++];
	*class = (struct gp_rank_class){ .trace = trace, .print = print };
	return class;
}

void gp_ranks_add(struct gp_ranks *ranks, const char *path,
		  struct gp_trace *trace)
{
	uint64_t print = gp_trace_print(trace);
	struct gp_rank_class *class = find(ranks, print, trace);

	if (class)
		gp_trace_destroy(trace);
	else
		class = begin(ranks, print, trace);
	class->paths = gp_mem_grow(class->paths, &class->room, class->count + 1,
				   sizeof(*class->paths));
	class->paths[class->count++] = gp_mem_copy_text(path, strlen(path));
	ranks->files++;
}

/* The others keep their order. */
static void put_before(struct gp_ranks *ranks, size_t from, size_t to)
{
	struct gp_rank_class moved = ranks->classes[from];

	memmove(&ranks->classes[to + 1], &ranks->classes[to],
		(from - to) * sizeof(*ranks->classes));
	ranks->classes[to] = moved;
}

void gp_ranks_sort(struct gp_ranks *ranks)
{
	for (size_t i = 1; i < ranks->count; i++) {
		size_t to = i;

		while (to &&
		       ranks->classes[to - 1].count < ranks->classes[i].count)
			to--;
		put_before(ranks, i, to);
	}
}

/* Files that were recorded under the same. */
static size_t files_like(const struct gp_ranks *ranks,
			 const struct gp_rank_class *like)
{
	size_t files = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];

		if (class->release == like->release &&
		    !strcmp(class->conf, like->conf))
			files += class->count;
	}
	return files;
}

size_t gp_ranks_lead(const struct gp_ranks *ranks)
{
	size_t lead = 0, most = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];
		size_t files = files_like(ranks, class);

		if (files < most ||
		    (files == most &&
		     class->release <= ranks->classes[lead].release))
			continue;
		lead = i;
		most = files;
	}
	return lead;
}

size_t gp_ranks_class_of(const struct gp_ranks *ranks, size_t index)
{
	size_t i = 0;

	while (i + 1 < ranks->count &&
	       ranks->classes[i + 1].first_case <= index)
		i++;
	return i;
}

void gp_ranks_add_unread(struct gp_ranks *ranks, const char *path,
			 const char *reason)
{
	ranks->unread =
		gp_mem_grow(ranks->unread, &ranks->unread_room,
			    ranks->unread_count + 1, sizeof(*ranks->unread));
	ranks->unread[ranks->unread_count++] = (struct gp_rank_unread){
		.path = gp_mem_copy_text(path, strlen(path)),
		.reason = gp_mem_copy_text(reason, strlen(reason)),
	};
}

void gp_ranks_release(struct gp_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++) {
		for (size_t k = 0; k < ranks->classes[i].count; k++)
			free(ranks->classes[i].paths[k]);
		free(ranks->classes[i].paths);
		free(ranks->classes[i].conf);
		gp_trace_destroy(ranks->classes[i].trace);
	}
	for (size_t i = 0; i < ranks->unread_count; i++) {
		free(ranks->unread[i].path);
		free(ranks->unread[i].reason);
	}
	free(ranks->classes);
	free(ranks->unread);
	*ranks = (struct gp_ranks){ 0 };
}

/* ---- replays ---- */

void gp_rank_runs_init(struct gp_rank_runs *runs, struct gp_ranks *ranks)
{
	size_t cases = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		ranks->classes[i].first_case = cases;
		cases += ranks->classes[i].trace->device_count;
	}
	*runs = (struct gp_rank_runs){
		.ranks = ranks,
		.runs = gp_mem_alloc(cases + 1, sizeof(*runs->runs)),
		.troubles =
			gp_mem_alloc(ranks->count + 1, sizeof(*runs->troubles)),
		.count = cases,
	};
}

static bool is_worse(const struct gp_rank_run *a, const struct gp_rank_run *b)
{
	if (a->is_there != b->is_there)
		return a->is_there;
	if (a->dropped != b->dropped)
		return a->dropped > b->dropped;
	if (a->ooms != b->ooms)
		return a->ooms > b->ooms;
	return a->reserved > b->reserved;
}

size_t gp_rank_runs_worst(const struct gp_rank_runs *runs)
{
	size_t worst = 0;

	for (size_t i = 1; i < runs->count; i++)
		if (is_worse(&runs->runs[i], &runs->runs[worst]))
			worst = i;
	return gp_ranks_class_of(runs->ranks, worst);
}

void gp_rank_runs_release(struct gp_rank_runs *runs)
{
	for (size_t i = 0; runs->ranks && i < runs->ranks->count; i++)
		free(runs->troubles[i]);
	free(runs->troubles);
	free(runs->runs);
	*runs = (struct gp_rank_runs){ 0 };
}
