/* SPDX-License-Identifier: MIT */
/* Traces that look random, for tests that compare with a plain computation. */
#ifndef TESTS_RANDOM_TRACE_H
#define TESTS_RANDOM_TRACE_H

#include <inttypes.h>

#include "suite.h"
#include "trace_text.h"

/* One event, at random: frees are of what is live. */
static inline void put_random_event(FILE *out, uint64_t *seed, uint32_t *live,
				    size_t *count, uint32_t id)
{
	uint64_t dice = next_random(seed) % 20;
	size_t at = *count ? next_random(seed) % *count : 0;

	if (dice < 2) {
		fputs(",\n{\"op\": \"empty_cache\"}", out);
	} else if (dice < 4 && *count) {
		fprintf(out,
			",\n{\"op\": \"record_stream\", \"id\": %u, "
			"\"stream\": 9}",
			live[at]);
	} else if (dice < 5) {
		fputs(",\n{\"op\": \"synchronize\", \"stream\": 9}", out);
	} else if (dice < 12 && *count) {
		fprintf(out, ",\n{\"op\": \"free\", \"id\": %u}", live[at]);
		live[at] = live[--*count];
	} else {
		fprintf(out,
			",\n{\"op\": \"alloc\", \"id\": %u, \"size\": %" PRIu64
			", \"stream\": %d, \"site\": %d}",
			id,
			next_random(seed) %
				(UINT64_C(1) << next_random(seed) % 27),
			next_random(seed) % 4 ? 0 : 9,
			(int)(next_random(seed) % 3));
		live[(*count)++] = id;
	}
}

/* Of at most 2,000 events, on two streams, with three sites. */
static inline struct gp_trace *random_trace(uint64_t seed, uint32_t events)
{
	uint32_t live[2000];
	size_t count = 0, length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	ck_assert_uint_le(events, COUNT_OF(live));
	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
	      "[\"a.py:1 f\", \"b.py:2 g\", \"b.py:3 h\"], \"devices\": "
	      "[{\"device\": 0, \"events\": [{\"op\": \"empty_cache\"}",
	      out);
	for (uint32_t i = 0; i < events; i++)
		put_random_event(out, &seed, live, &count, i + 1);
	fputs("]}]}", out);
	ck_assert_int_eq(fclose(out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

#endif
