/* SPDX-License-Identifier: MIT */
/*
 * Output files that appear whole or not at all: written under a temporary name
 * beside the final one, renamed when done.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdio.h>

#include "gpupool/status.h"

struct gp_output {
	FILE *stream;
	char *path;	 /* NULL: standard output */
	char *temporary; /* NULL: written in place (a pipe, a device) */
};

/* path "-" or NULL: standard output. */
enum gp_status gp_output_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag);
/* Flushes, checks and renames. */
enum gp_status gp_output_commit(struct gp_output *output, struct gp_diag *diag);
/* Removes what was written; nothing after a commit. */
void gp_output_abandon(struct gp_output *output);

#endif
