/* SPDX-License-Identifier: MIT */
/* Traces from bytes, and back. */
#ifndef TESTS_FUZZ_TRACE_BYTES_H
#define TESTS_FUZZ_TRACE_BYTES_H

#include <string.h>

#include "fuzz/target.h"
#include "gpupool/input.h"
#include "gpupool/trace.h"

static inline enum gp_status trace_read(const void *data, size_t size,
					struct gp_trace **trace,
					struct gp_diag *diag)
{
	struct bytes bytes = bytes_of(data, size);
	enum gp_status status = gp_input_read(
		&(struct gp_input_config){ .path = bytes.path }, trace, diag);

	close(bytes.fd);
	must(status == GP_OK || status == GP_INPUT, "neither read nor refused");
	must(status == GP_OK || *diag->what, "an error says nothing");
	return status;
}

/* jansson reads the same trace, or refuses it for the same reason. */
static inline void trace_read_by_jansson(const void *data, size_t size,
					 const struct gp_trace *trace,
					 const struct gp_diag *diag)
{
	struct bytes bytes = bytes_of(data, size);
	struct gp_diag other_diag = { 0 };
	struct gp_trace *other = NULL;
	enum gp_status status =
		gp_input_read(&(struct gp_input_config){ .path = bytes.path,
							 .by_jansson = true },
			      &other, &other_diag);

	close(bytes.fd);
	must((status == GP_OK) == (trace != NULL),
	     "only one of two readers takes it");
	if (trace)
		must(gp_trace_equal(trace, other), "two readers differ");
	else
		must(!strcmp(diag->what, other_diag.what) &&
			     !strcmp(diag->record, other_diag.record) &&
			     !strcmp(diag->hint, other_diag.hint),
		     "two readers refuse it in other words");
	gp_trace_destroy(other);
}

/* Written and read back; the caller destroys the trace. */
static inline struct gp_trace *trace_again(const struct gp_trace *trace,
					   enum gp_trace_format format)
{
	struct gp_trace *again;
	struct gp_diag diag = { 0 };
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	must(gp_trace_write(trace, format, out, &diag) == GP_OK && !fclose(out),
	     "a trace cannot be written");
	if (trace_read(text, size, &again, &diag) != GP_OK) {
		fprintf(stderr, "%s: %s\n", diag.record, diag.what);
		must(0, "what was written cannot be read");
	}
	free(text);
	return again;
}

static inline void trace_write_and_read(const struct gp_trace *trace,
					enum gp_trace_format format)
{
	struct gp_trace *again = trace_again(trace, format);

	must(gp_trace_equal(trace, again), "what is read differs");
	gp_trace_destroy(again);
}

#endif
