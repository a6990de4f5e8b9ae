/*
 * Any bytes given to the readers are a trace or an error that says what is
 * wrong, and a trace can be written and read again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpupool/input.h"
#include "gpupool/trace.h"
#include "gpupool/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "%s\n", what);
		abort();
	}
}

static enum gp_status read_fd(int fd, struct gp_trace **trace,
			      struct gp_diag *diag)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return gp_input_read(&(struct gp_input_config){ .path = path }, trace,
			     diag);
}

static void write_and_read(const struct gp_trace *trace,
			   enum gp_trace_format format)
{
	int fd = memfd_create("again", 0);
	FILE *file = fdopen(fd, "w");
	struct gp_trace *again = NULL;
	struct gp_diag diag = { 0 };

	must(gp_trace_write(trace, format, file, &diag) == GP_OK &&
		     !fflush(file),
	     "a trace cannot be written");
	if (read_fd(fd, &again, &diag) != GP_OK) {
		fprintf(stderr, "%s: %s\n", diag.record, diag.what);
		must(0, "what was written cannot be read");
	}
	must(gp_trace_equal(trace, again), "what is read differs");
	gp_trace_destroy(again);
	fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", 0);
	struct gp_trace *trace = NULL;
	struct gp_diag diag = { 0 };
	enum gp_status status;

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size,
	     "the input has no room");
	status = read_fd(fd, &trace, &diag);
	close(fd);
	must(status == GP_OK || status == GP_INPUT, "neither read nor refused");
	if (status == GP_OK) {
		write_and_read(trace, GP_TRACE_JSON);
		write_and_read(trace, GP_TRACE_JSONL);
		write_and_read(trace, GP_TRACE_BINARY);
		gp_trace_destroy(trace);
	} else {
		must(diag.what[0], "an error says nothing");
	}
	return 0;
}
