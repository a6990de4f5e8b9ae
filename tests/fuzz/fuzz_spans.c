/* SPDX-License-Identifier: MIT */
/*
 * Any bytes are spans or an error; spans are packed without overlaps, and
 * written spans are read back unchanged.
 */
#include <string.h>

#include "fuzz/target.h"
#include "span_use.h"
#include "study/floor/floor.h"

static char *written(const struct gp_spans *spans, const uint64_t *offsets,
		     size_t *n)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, n);

	gp_spans_write(spans, offsets, NULL, out);
	fclose(out);
	return bytes;
}

static void pack(const struct gp_spans *spans)
{
	const struct gp_floor_config config = { .spans = spans, .work = 20000 };
	struct gp_spans again;
	struct gp_diag diag = { 0 };
	struct gp_floor floor;
	char *one, *other;
	size_t n, m;

	gp_floor_find(&config, &floor);
	must(floor.height >= floor.bound, "less than what is live");
	must(is_valid(spans, floor.offsets), "spans are not apart");
	one = written(spans, floor.offsets, &n);
	must(gp_spans_parse(one, n, &again, &diag) == GP_OK,
	     "what was written is not read");
	other = written(&again, floor.offsets, &m);
	must(n == m && !memcmp(one, other, n), "it differs when written again");
	free(one);
	free(other);
	gp_spans_release(&again);
	gp_floor_release(&floor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_spans spans;
	struct gp_diag diag = { 0 };

	if (gp_spans_parse((const char *)data, size, &spans, &diag) != GP_OK) {
		must(*diag.what, "an error says nothing");
		return 0;
	}
	if (spans.count < 400)
		pack(&spans);
	gp_spans_release(&spans);
	return 0;
}
