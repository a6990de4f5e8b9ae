/* SPDX-License-Identifier: MIT */
/*
 * Output files that appear whole or not at all.
 *
 * A file is written under a temporary name beside its own, brought to the disk
 * and renamed; one that was there keeps its mode and owner.  Symbolic links are
 * followed.  Where a rename would change more than the content (a file with
 * several hard links, in a folder that cannot be written, of another owner),
 * all of it is written elsewhere first and copied over.  Pipes, devices and
 * open descriptors (/dev/stdout) are written as they are.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdio.h>

#include "gpupool/status.h"

enum gp_output_way {
	GP_OUTPUT_DIRECT, /* as it comes: standard output, a pipe, a device */
	GP_OUTPUT_RENAMED,
	GP_OUTPUT_COPIED, /* out of a file without a name */
};

struct gp_output {
	FILE *stream;
	FILE *under; /* where stream makes texts safe for it, or NULL */
	enum gp_output_way way;
	char *path;	 /* as given; NULL: standard output */
	char *target;	 /* where the links of path lead */
	char *temporary; /* of GP_OUTPUT_RENAMED */
};

/* What an error of the system is: a file that is not there is the user's, one
 * that the system cannot open or read now is not. */
enum gp_status gp_file_status(int error);

/* A file in memory, without a name in any folder; programs that are started do
 * not get it.  -1 and errno: there is none. */
int gp_memfd(const char *name);

/* path "-" or NULL: standard output. */
enum gp_status gp_output_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag);
/* From here on stream makes lines safe for a terminal and a log (base/safe.h).
 */
void gp_output_make_safe(struct gp_output *output);
/* Flushes, checks and puts the file in its place. */
enum gp_status gp_output_commit(struct gp_output *output, struct gp_diag *diag);
/* Removes what was written; nothing after a commit. */
void gp_output_abandon(struct gp_output *output);

#endif
