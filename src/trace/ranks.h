/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a job: traces of processes that ran in parallel. Most of them
 * made the same requests; such traces form a class, which is replayed once.
 */
#ifndef TRACE_RANKS_H
#define TRACE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* Whether every replay on a simulated device is the same for both traces: they
 * have the same requests in the same order from the same start, with the same
 * releases and settings. They may differ in times, stacks, names of blocks,
 * handles of streams, the number of the device, and addresses, except for the
 * distances between addresses within the memory at the start. */
bool gp_trace_alike(const struct gp_trace *a, const struct gp_trace *b);
/* A fingerprint, equal for two traces that are alike. */
uint64_t gp_trace_print(const struct gp_trace *trace);

/* False: the trace only has a state of the memory, or nothing. */
bool gp_trace_has_requests(const struct gp_trace *trace);

struct gp_rank_class {
	char **paths; /* owned; in the order of the calls */
	size_t count, room;
	struct gp_trace *trace; /* owned; of the first path; NULL: dropped */
	/* its fingerprint, once there is a second class */
	uint64_t print;
	bool has_print;
	bool is_idle; /* without requests */
	/* The release and the settings of the recording, as far as known. */
	uint8_t release;   /* 0: not determined */
	char *conf;	   /* owned; NULL: not determined */
	size_t first_case; /* of its devices' cases in a study */
};

/* A file that should be one of the ranks but could not be read. */
struct gp_rank_unread {
	char *path, *reason; /* owned */
};

#define GP_RANK_DEVICES 64

/* Zeroed: empty. */
struct gp_ranks {
	struct gp_rank_class *classes;
	size_t count, room;
	size_t files; /* of all classes */
	/* By CUDA's ordinal: the number of files with requests to that
	 * device. */
	uint32_t used_by[GP_RANK_DEVICES];
	struct gp_rank_unread *unread;
	size_t unread_count, unread_room;
};

/* A replay of one case: a device of a class. */
struct gp_rank_run {
	bool is_there; /* else the replay failed, or there are no requests */
	uint64_t reserved, allocated; /* peaks */
	uint64_t ooms, dropped, retries;
	uint64_t checked, matched; /* addresses as recorded */
};

/* Replays of all classes, each on its own. */
struct gp_rank_runs {
	const struct gp_ranks *ranks; /* borrowed */
	struct gp_rank_run *runs;     /* owned; by case */
	char **troubles; /* owned; by class: why there is no replay, or NULL */
	size_t count;
};

/* Takes ownership of the trace, which is destroyed if its class has one
 * already. */
void gp_ranks_add(struct gp_ranks *ranks, const char *path,
		  struct gp_trace *trace);
/* Destroys the class's trace when it is no longer needed. Later traces with the
 * same fingerprint still count as alike. */
void gp_rank_class_drop(struct gp_rank_class *class);
void gp_ranks_add_unread(struct gp_ranks *ranks, const char *path,
			 const char *reason);
/* Sorts classes by number of files, largest first; equal ones keep their
 * order. Those without requests come last. */
void gp_ranks_sort(struct gp_ranks *ranks);
/* The number of classes with requests, which come first once sorted. */
size_t gp_ranks_busy(const struct gp_ranks *ranks);
/* The class with the release and settings of most files; if several have
 * equally many, that with the newest release. Releases and settings must be
 * known. A class without requests is only returned if there is no other. */
size_t gp_ranks_lead(const struct gp_ranks *ranks);
/* The class that a study's case belongs to. */
size_t gp_ranks_class_of(const struct gp_ranks *ranks, size_t index);
void gp_ranks_release(struct gp_ranks *ranks);

/* Allocates the runs of all devices, and sets the classes' first cases. */
void gp_rank_runs_init(struct gp_rank_runs *runs, struct gp_ranks *ranks);
/* The class with most requests that were not served; of several, the one with
 * most reserved memory. */
size_t gp_rank_runs_worst(const struct gp_rank_runs *runs);
/* Accepts a zeroed struct. */
void gp_rank_runs_release(struct gp_rank_runs *runs);

#endif
