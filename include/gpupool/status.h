/* SPDX-License-Identifier: MIT */
/*
 * How a call ended, and what to tell the person when it did not end well.
 *
 * Every function that can fail returns enum gp_status and explains itself in a
 * struct gp_diag.  The library never prints and never exits; the command line
 * prints the diag and exits with the status, whose values are the exit codes.
 * The one exception is host memory: when malloc fails the run ends, with a
 * message and exit code 4, unless gp_memory_handle says otherwise.
 */
#ifndef GPUPOOL_STATUS_H
#define GPUPOOL_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum gp_status {
	GP_OK = 0,
	GP_FAILED = 1, /* a threshold or comparison the user asked for failed */
	GP_USAGE = 2,  /* the command line is not understood */
	GP_INPUT = 3,  /* a file, or a setting string, is not understood */
	GP_SYSTEM = 4, /* the device or the operating system said no */
};

/*
 * "file: record: what" and a hint on a line of its own; empty parts are left
 * out.  Fixed arrays: a diag is made when things are already going wrong.
 */
struct gp_diag {
	char file[256];
	char record[96]; /* "event 812", "byte 4711" */
	char what[512];
	char hint[256];
	bool is_foreign; /* the file is no trace, whatever else it is */
};

/* It returns the status, so that "return gp_diag_set(...)" reads well. */
enum gp_status gp_diag_set(struct gp_diag *diag, enum gp_status status,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void gp_diag_hint(struct gp_diag *diag, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gp_diag_record(struct gp_diag *diag, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gp_diag_file(struct gp_diag *diag, const char *file);
/* GP_INPUT, of a file that is none of those that are understood: who found it
 * in a folder passes it over. */
enum gp_status gp_diag_foreign(struct gp_diag *diag, const char *what);
/* All of it: GP_USAGE of that command, what does not go, and what would. */
enum gp_status gp_diag_usage(struct gp_diag *diag, const char *command,
			     const char *what, const char *hint);

/*
 * What is called when there is no host memory, with the bytes that were asked
 * for (0: not known), on the thread that asked.  It ends the process or leaves
 * by longjmp, which loses what the call had taken; where it returns, the run
 * ends as it does without a handler.  NULL: no handler.  For the whole process:
 * set it before other threads use the library.  jansson takes its memory as the
 * program told it to (json_set_alloc_funcs).
 */
typedef void gp_memory_handler(void *arg, size_t bytes);
void gp_memory_handle(gp_memory_handler *handler, void *arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
