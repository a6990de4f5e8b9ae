/* SPDX-License-Identifier: MIT */
/*
 * What-ifs that are not settings: the same program, had it asked otherwise.
 *
 * Each changes what a trace asks for, and is judged by a replay of the changed
 * trace.  Several are made in the order of the table, in whatever order they
 * were asked for.
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
	const char *name;     /* of the flag too: "merge-streams" */
	const char *argument; /* what it takes: "BLOCKS"; NULL: nothing */
	const char *sentence; /* what would be otherwise */
	const char *method;   /* how exactly */
	/* As explain calls it, which tries it with that argument; NULL: it
	 * needs somebody to say of what. */
	const char *words;
	const char *tried; /* NULL: none */
};
const struct gp_what_if_row *gp_what_if_table(size_t *count);

/* NULL: there is none of that name. */
const struct gp_what_if_row *gp_what_if_find(const char *name);

struct gp_what_if {
	const struct gp_what_if_row *row;
	const char *argument; /* NULL: none; borrowed */
};

/* What one did to the trace. */
#define GP_WHAT_IF_NOTE 200
struct gp_what_if_note {
	struct gp_what_if asked;
	uint64_t changes; /* 0: the trace stays as it is */
	char text[GP_WHAT_IF_NOTE];
};

struct gp_what_if_config {
	const struct gp_trace *trace;
	const struct gp_what_if *asked;
	size_t count;
	/* How places for empty_cache are tried; the trace says of which release
	 * it is and how large each device is, as its requests cannot.  NULL
	 * settings: nothing is tried, and the trace says what it said. */
	const struct gp_settings *settings;
	const struct gp_engine *engine;
	const char *conf, *torch_lib;
	const uint64_t *capacity;		       /* per device */
	void (*progress)(void *arg, const char *what); /* or NULL */
	void *progress_arg;
};

struct gp_what_ifs {
	struct gp_trace *trace; /* borrows tables of the config's */
	struct gp_what_if_note *notes;
	size_t count;
};

/* GP_USAGE: an argument is not understood, or no block is meant by it. */
enum gp_status gp_what_ifs_make(const struct gp_what_if_config *config,
				struct gp_what_ifs *result,
				struct gp_diag *diag);
/* Also of a zeroed one. */
void gp_what_ifs_release(struct gp_what_ifs *result);

#endif
