/* SPDX-License-Identifier: MIT */
/*
 * What-ifs that are not settings: the same program with different requests.
 *
 * Each of them changes the requests of a trace, and its effect is measured by a
 * replay of the changed trace. Several are applied in the order of the table,
 * whatever the order in which they were given.
 */
#ifndef STUDY_WHAT_IF_WHAT_IF_H
#define STUDY_WHAT_IF_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

struct gp_what_if_row {
	const char *name;     /* also the flag: "merge-streams" */
	const char *argument; /* its argument: "BLOCKS"; NULL: none */
	const char *sentence; /* what changes */
	const char *method;   /* the exact definition */
	/* Its name in explain, which tries it with the argument `tried`; NULL:
	 * it needs an argument from the user. */
	const char *words;
	const char *tried; /* NULL: none */
};
const struct gp_what_if_row *gp_what_if_table(size_t *count);

/* NULL: there is no what-if of that name. */
const struct gp_what_if_row *gp_what_if_find(const char *name);

struct gp_what_if {
	const struct gp_what_if_row *row;
	const char *argument; /* NULL: none; borrowed */
};

/* The changes made by one what-if. */
#define GP_WHAT_IF_NOTE 200
struct gp_what_if_note {
	struct gp_what_if asked;
	uint64_t changes; /* 0: the trace is unchanged */
	char text[GP_WHAT_IF_NOTE];
};

struct gp_what_if_config {
	const struct gp_trace *trace;
	const struct gp_what_if *asked;
	size_t count;
	/* The settings under which places for empty_cache are tried; they also
	 * give the release and the capacities of the changed trace, which
	 * cannot be inferred from changed requests. NULL settings: no places
	 * are tried, and the trace keeps what was recorded. */
	const struct gp_settings *settings;
	const struct gp_engine *engine;
	const char *conf, *torch_lib;
	const uint64_t *capacity;		       /* per device */
	void (*progress)(void *arg, const char *what); /* or NULL */
	void *progress_arg;
};

struct gp_what_ifs {
	struct gp_trace *trace; /* borrows tables of config's trace */
	struct gp_what_if_note *notes;
	size_t count;
};

/* False: it would change nothing of the trace, which is found out without a
 * copy of it. */
bool gp_what_if_may_change(const struct gp_what_if_row *row,
			   const struct gp_trace *trace);

/* Whether its places are found by replays: empty-cache-at best. */
bool gp_what_if_is_searched(const struct gp_what_if *what_if);

/* GP_USAGE: an argument is invalid, or selects no block. */
enum gp_status gp_what_ifs_make(const struct gp_what_if_config *config,
				struct gp_what_ifs *result,
				struct gp_diag *diag);
/* Accepts a zeroed struct. */
void gp_what_ifs_release(struct gp_what_ifs *result);

#endif
