/* SPDX-License-Identifier: MIT */
/*
 * Output files that appear whole or not at all.
 *
 * A file is written under a temporary name in the same folder, synced to disk
 * and renamed; if it replaces a file, it keeps that file's mode and owner.
 * Symbolic links are followed. If a rename would change more than the content
 * (a file with several hard links, in a folder without write permission, or of
 * another owner), everything is first written elsewhere and then copied over
 * the file. Pipes, devices and open descriptors (/dev/stdout) are written
 * directly.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "gpupool/status.h"

enum gp_output_way {
	GP_OUTPUT_DIRECT, /* directly: standard output, a pipe, a device */
	GP_OUTPUT_RENAMED,
	GP_OUTPUT_COPIED, /* copied from a file without a name */
};

struct gp_output {
	FILE *stream;
	FILE *under; /* the stream that gets the safe text, or NULL */
	enum gp_output_way way;
	char *path;	 /* as given; NULL: standard output */
	char *target;	 /* the path that the links of path lead to */
	char *temporary; /* with GP_OUTPUT_RENAMED */
};

/* The status for an errno: GP_SYSTEM if the system failed or lacks a resource;
 * else GP_INPUT, for example if the file does not exist. */
enum gp_status gp_file_status(int error);

bool gp_file_is_folder(const char *path);

/* Reads the rest of a file into memory that the caller frees, with a NUL at the
 * end; stops once there are more than `most` bytes. Returns 0, or an errno. */
int gp_file_load(FILE *file, size_t most, char **text, size_t *size);

/* path "-" or NULL: standard output. */
enum gp_status gp_output_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag);
/* From here on, stream makes lines safe for terminals and logs
 * (base/safe.h). */
void gp_output_make_safe(struct gp_output *output);
/* Flushes and checks the stream, and puts the file in place. */
enum gp_status gp_output_commit(struct gp_output *output, struct gp_diag *diag);
/* Removes what was written; has no effect after a commit. */
void gp_output_abandon(struct gp_output *output);

#endif
