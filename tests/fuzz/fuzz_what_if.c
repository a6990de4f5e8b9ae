/* SPDX-License-Identifier: MIT */
/*
 * Any trace, altered in any way, is a trace: no unknown block is freed, it can
 * be written, and is read back unchanged. The bytes choose the what-ifs.
 */
#include "base/map.h"
#include "fuzz/trace_bytes.h"
#include "study/what_if/what_if.h"
#include "trace/check.h"

/* By what-if, in the table's order. */
static const char *const arguments[] = {
	"size:0..1MiB", "id:1", "all,2", "all", "pow2/4", NULL,
	NULL,		NULL,	NULL,	 "30%", NULL,	  "0",
};
#define ARGUMENTS (sizeof(arguments) / sizeof(*arguments))

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
	trace_write_and_read(made.trace, GP_TRACE_JSONL);
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
	uint64_t sum = hash(data, size);
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	if (trace_read(data, size, &trace, &diag) != GP_OK)
		return 0;
	/* A single one, and about half of them. */
	alter(trace, UINT64_C(1) << (sum >> 32) % ARGUMENTS);
	alter(trace, sum & (sum >> 12));
	gp_trace_destroy(trace);
	return 0;
}
