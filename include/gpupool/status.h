/* SPDX-License-Identifier: MIT */
/*
 * The result of a call, and the explanation for the user if it failed.
 *
 * Every function that can fail returns enum gp_status and explains the failure
 * in a struct gp_diag. The library never prints and never exits; the command
 * line prints the diag and exits with the status, whose values are the exit
 * codes. The one exception is host memory: if malloc fails, the process ends
 * with a message and exit code 4, unless gp_memory_handle() says otherwise.
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
	/* A threshold or comparison that the user asked for failed. */
	GP_FAILED = 1,
	GP_USAGE = 2,  /* invalid command line */
	GP_INPUT = 3,  /* invalid file or setting string */
	GP_SYSTEM = 4, /* failure of the device or the operating system */
};

/*
 * The explanation, shown as "file: record: what" with the hint on a line of its
 * own; empty parts are left out. The arrays have a fixed size, so that
 * describing a failure cannot fail. A call writes the parts that it knows, and
 * the file even where it succeeds: zero the diag before its first use, and
 * again once a failure has been shown.
 */
struct gp_diag {
	char file[256];
	char record[96]; /* "event 812", "byte 4711" */
	char what[512];
	char hint[256];
	bool is_foreign; /* the file is not a trace, but something else */
	/* The report is there, without the files that could not be read. */
	bool is_partial;
};

/* Sets the explanation. Returns the status, so that callers can write "return
 * gp_diag_set(...)". */
enum gp_status gp_diag_set(struct gp_diag *diag, enum gp_status status,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Set one part of the explanation each: the hint, the record, the file. */
void gp_diag_hint(struct gp_diag *diag, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gp_diag_record(struct gp_diag *diag, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gp_diag_file(struct gp_diag *diag, const char *file);
/* Returns GP_INPUT for a file of an unknown format: a caller that found the
 * file in a folder skips it. */
enum gp_status gp_diag_foreign(struct gp_diag *diag, const char *what);
/* Sets all parts and returns GP_USAGE: the command, what is wrong, and what
 * would be right. */
enum gp_status gp_diag_usage(struct gp_diag *diag, const char *command,
			     const char *what, const char *hint);

/*
 * The handler that is called when there is no host memory, with the number of
 * bytes requested (0: unknown), on the requesting thread. It may end the
 * process or leave by longjmp, which leaks what the interrupted call had
 * allocated; if it returns, the process ends as it does without a handler.
 * NULL: no handler. It applies to the whole process and must be set before
 * other threads use the library. jansson allocates as the program configured it
 * (json_set_alloc_funcs).
 */
typedef void gp_memory_handler(void *arg, size_t bytes);
/* Sets the handler; arg is passed to it. */
void gp_memory_handle(gp_memory_handler *handler, void *arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
