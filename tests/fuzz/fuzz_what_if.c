/*
 * Any trace, altered in any way, is a trace: no unknown block is freed, it can
 * be written, and reads as the same.  Which what-ifs are made follows from the
 * bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"
#include "gpupool/input.h"
#include "gpupool/what_if.h"
#include "gpupool/write.h"
#include "trace/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* By what-if, in the table's order. */
static const char *const arguments[] = {
	"size:0..1MiB", "id:1", "all,2", "all", "pow2/4", NULL,
	NULL,		NULL,	NULL,	 "30%", NULL,	  "0",
};
#define ARGUMENTS (sizeof(arguments) / sizeof(*arguments))

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

static void write_and_read(const struct gp_trace *trace)
{
	int fd = memfd_create("again", 0);
	FILE *file = fdopen(fd, "w");
	struct gp_trace *again = NULL;
	struct gp_diag diag = { 0 };

	must(gp_trace_write(trace, GP_TRACE_JSONL, file, &diag) == GP_OK &&
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

static void alter(const struct gp_trace *trace, uint64_t mask)
{
	struct gp_what_if asked[ARGUMENTS];
	struct gp_what_if_config config = { .trace = trace, .asked = asked };
	struct gp_what_ifs made;
	struct gp_diag diag = { 0 };
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);

	must(count == ARGUMENTS, "there are more what-ifs");
	for (size_t i = 0; i < count; i++)
		if (mask >> i & 1)
			asked[config.count++] =
				(struct gp_what_if){ &rows[i], arguments[i] };
	if (gp_what_ifs_make(&config, &made, &diag) != GP_OK) {
		must(diag.what[0], "an error says nothing");
		return;
	}
	if (gp_trace_check(made.trace, &diag) != GP_OK) {
		fprintf(stderr, "%s: %s\n", diag.record, diag.what);
		must(0, "what was made is no trace");
	}
	write_and_read(made.trace);
	gp_what_ifs_release(&made);
}

static uint64_t hash(const uint8_t *data, size_t size)
{
	uint64_t sum = size;

	for (size_t i = 0; i < size; i++)
		sum = gp_hash64(sum + data[i]);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", 0);
	uint64_t sum = hash(data, size);
	struct gp_trace *trace = NULL;
	struct gp_diag diag = { 0 };
	enum gp_status status;

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size,
	     "the input has no room");
	status = read_fd(fd, &trace, &diag);
	close(fd);
	if (status != GP_OK)
		return 0;
	/* One alone, and about half of them. */
	alter(trace, UINT64_C(1) << (sum >> 32) % ARGUMENTS);
	alter(trace, sum & (sum >> 12));
	gp_trace_destroy(trace);
	return 0;
}
