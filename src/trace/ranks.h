/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a job: traces of processes that ran side by side.  Most of them
 * asked for the same, and those are replayed once: they are a class.
 */
#ifndef TRACE_RANKS_H
#define TRACE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* Two traces of which every replay on a simulated device is the same: the same
 * requests in the same order, from the same start, at releases and settings
 * that are the same.  Times, stacks, the blocks' names, the streams' handles,
 * the device's number and addresses may differ, but for distances between those
 * of the memory that is there at the start. */
bool gp_trace_alike(const struct gp_trace *a, const struct gp_trace *b);
/* The same of such two. */
uint64_t gp_trace_print(const struct gp_trace *trace);

struct gp_rank_class {
	char **paths; /* owned; in the order in which they were added */
	size_t count, room;
	struct gp_trace *trace; /* owned; of the first path; NULL: dropped */
	uint64_t print;		/* of the trace, once there is another */
	bool has_print;
	/* What it was recorded under, as far as that can be told. */
	uint8_t release;   /* 0: it was not asked */
	char *conf;	   /* owned; NULL: the same */
	size_t first_case; /* of its devices' cases in a study */
};

/* A file that should be one of them and could not be read. */
struct gp_rank_unread {
	char *path, *reason; /* owned */
};

#define GP_RANK_DEVICES 64

/* Zeroed is empty. */
struct gp_ranks {
	struct gp_rank_class *classes;
	size_t count, room;
	size_t files; /* of all classes */
	/* By CUDA's ordinal, how many files have requests of that device. */
	uint32_t used_by[GP_RANK_DEVICES];
	struct gp_rank_unread *unread;
	size_t unread_count, unread_room;
};

/* A replay of one case: a device of a class. */
struct gp_rank_run {
	bool is_there; /* else it could not be replayed, or has no requests */
	uint64_t reserved, allocated; /* peaks */
	uint64_t ooms, dropped, retries;
	uint64_t checked, matched; /* addresses as recorded */
};

/* Replays of all classes, each by itself. */
struct gp_rank_runs {
	const struct gp_ranks *ranks; /* borrowed */
	struct gp_rank_run *runs;     /* owned; by case */
	char **troubles; /* owned; by class; why there is no replay, or NULL */
	size_t count;
};

/* Takes the trace, which is destroyed where another one is alike. */
void gp_ranks_add(struct gp_ranks *ranks, const char *path,
		  struct gp_trace *trace);
/* Its trace is no longer needed.  What is added later and has the same print
 * counts as alike. */
void gp_rank_class_drop(struct gp_rank_class *class);
void gp_ranks_add_unread(struct gp_ranks *ranks, const char *path,
			 const char *reason);
/* The class of most files first; among such, the one that came first. */
void gp_ranks_sort(struct gp_ranks *ranks);
/* The class whose release and settings most files have; of several, the newest
 * release's.  Releases and settings are known. */
size_t gp_ranks_lead(const struct gp_ranks *ranks);
/* The class that a study's case belongs to. */
size_t gp_ranks_class_of(const struct gp_ranks *ranks, size_t index);
void gp_ranks_release(struct gp_ranks *ranks);

/* With places for all devices; sets the classes' cases. */
void gp_rank_runs_init(struct gp_rank_runs *runs, struct gp_ranks *ranks);
/* The class that most requests were not served of; of several, the one that
 * most memory is reserved by. */
size_t gp_rank_runs_worst(const struct gp_rank_runs *runs);
/* Also of a zeroed one. */
void gp_rank_runs_release(struct gp_rank_runs *runs);

#endif
