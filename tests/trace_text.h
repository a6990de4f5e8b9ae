/* SPDX-License-Identifier: MIT */
/*
 * Traces from texts and files, and through the writers and back, for tests.
 */
#ifndef TESTS_TRACE_TEXT_H
#define TESTS_TRACE_TEXT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/input.h"
#include "gpupool/trace.h"

#define ONE_DEVICE(events)                                                     \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[{\"device\": 0, \"events\": [" events "]}]}"

static inline enum gp_status try_stream(FILE *file, struct gp_trace **trace,
					struct gp_diag *diag)
{
	struct gp_input_config config = { 0 };
	char path[32];

	ck_assert_int_eq(fflush(file), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
	config.path = path;
	*diag = (struct gp_diag){ 0 };
	*trace = NULL;
	return gp_input_read(&config, trace, diag);
}

static inline enum gp_status try_bytes(const void *bytes, size_t n,
				       struct gp_trace **trace,
				       struct gp_diag *diag)
{
	FILE *file = tmpfile();
	enum gp_status status;

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
	status = try_stream(file, trace, diag);
	fclose(file);
	return status;
}

static inline enum gp_status try_text(const char *text, struct gp_trace **trace,
				      struct gp_diag *diag)
{
	return try_bytes(text, strlen(text), trace, diag);
}

/* The text must be a valid trace. */
static inline struct gp_trace *trace_of(const char *text)
{
	struct gp_trace *trace;
	struct gp_diag diag;
	enum gp_status status = try_text(text, &trace, &diag);

	ck_assert_msg(status == GP_OK, "%s: %s in %.200s", diag.record,
		      diag.what, text);
	return trace;
}

/* The text must be refused; returns the message, in static memory. */
static inline const char *error_of(const char *text)
{
	static char message[1024];
	struct gp_trace *trace;
	struct gp_diag diag;

	ck_assert_int_eq(try_text(text, &trace, &diag), GP_INPUT);
	ck_assert_ptr_null(trace);
	snprintf(message, sizeof(message), "%s%s%s", diag.record,
		 *diag.record ? ": " : "", diag.what);
	return message;
}

/* Returns all the bytes that a writer writes; the caller frees them. */
static inline char *written(const struct gp_trace *trace,
			    enum gp_trace_format format, size_t *n)
{
	struct gp_diag diag = { 0 };
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, n);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(gp_trace_write(trace, format, out, &diag), GP_OK);
	ck_assert_int_eq(fclose(out), 0);
	return bytes;
}

/* Writes the trace and reads it back. */
static inline struct gp_trace *again(const struct gp_trace *trace,
				     enum gp_trace_format format)
{
	struct gp_trace *copy;
	struct gp_diag diag;
	enum gp_status status;
	size_t n;
	char *bytes = written(trace, format, &n);

	status = try_bytes(bytes, n, &copy, &diag);
	ck_assert_msg(status == GP_OK, "%s: %s", diag.record, diag.what);
	free(bytes);
	return copy;
}

/* Returns the trace in the file, or NULL if there is no such file. */
static inline struct gp_trace *trace_at(const char *path)
{
	const struct gp_input_config config = { .path = path };
	struct gp_diag diag = { 0 };
	struct gp_trace *trace = NULL;
	FILE *file = fopen(path, "r");

	if (!file)
		return NULL;
	fclose(file);
	ck_assert_msg(gp_input_read(&config, &trace, &diag) == GP_OK,
		      "%s: %s: %s", path, diag.record, diag.what);
	return trace;
}

#endif
