/* SPDX-License-Identifier: MIT */
/* Pseudorandom traces, for tests that compare with a straightforward
 * computation. */
#ifndef TESTS_RANDOM_TRACE_H
#define TESTS_RANDOM_TRACE_H

#include <inttypes.h>

#include "suite.h"
#include "trace_text.h"

/* Writes one random event; only live blocks are freed. */
static inline void put_random_event(FILE *out, uint64_t *seed, uint32_t *live,
				    size_t *count, uint32_t id,
				    bool keeps_cache)
{
	uint64_t dice = next_random(seed) % 20;
	size_t at = *count ? next_random(seed) % *count : 0;

	if (dice < 2 && !keeps_cache) {
		fputs(",\n{\"op\": \"empty_cache\"}", out);
	} else if (dice >= 2 && dice < 4 && *count) {
		fprintf(out,
			",\n{\"op\": \"record_stream\", \"id\": %u, "
			"\"stream\": 9}",
			live[at]);
	} else if (dice == 4) {
		fputs(",\n{\"op\": \"synchronize\", \"stream\": 9}", out);
	} else if (dice >= 4 && dice < 12 && *count) {
		fprintf(out, ",\n{\"op\": \"free\", \"id\": %u}", live[at]);
		live[at] = live[--*count];
	} else {
		/* In separate statements: the order in which arguments are
		 * evaluated depends on the compiler. */
		uint64_t most = UINT64_C(1) << next_random(seed) % 27;
		uint64_t size = next_random(seed) % most;
		int stream = next_random(seed) % 4 ? 0 : 9;

		fprintf(out,
			",\n{\"op\": \"alloc\", \"id\": %u, \"size\": %" PRIu64
			", \"stream\": %d, \"site\": %d}",
			id, size, stream, (int)(next_random(seed) % 3));
		live[(*count)++] = id;
	}
}

/*
 * A start state with blocks 5000 to 5003 in use, one that is pending free, and
 * free ones: in a small segment, a large one, and ranges of expandable
 * segments.
 */
#define START_BLOCKS 4

static const char random_start[] =
	"\"start\": {\"segments\": ["
	"{\"address\": 140000000000000, \"total_size\": 2097152, "
	"\"segment_type\": \"small\", \"blocks\": ["
	"{\"size\": 512, \"state\": \"active_allocated\", \"id\": 5000}, "
	"{\"size\": 1048576, \"state\": \"inactive\"}, "
	"{\"size\": 1024, \"state\": \"active_pending_free\", \"id\": 5009}, "
	"{\"size\": 1047040, \"state\": \"inactive\"}]}, "
	"{\"address\": 140000100000256, \"total_size\": 20971520, "
	"\"segment_type\": \"large\", \"blocks\": ["
	"{\"size\": 10485760, \"state\": \"active_allocated\", "
	"\"id\": 5001, \"site\": 1}, "
	"{\"size\": 10485760, \"state\": \"inactive\"}]}, "
	"{\"address\": 140000200000000, \"total_size\": 41943040, "
	"\"segment_type\": \"large\", \"is_expandable\": true, \"blocks\": ["
	"{\"size\": 31457280, \"state\": \"active_allocated\", "
	"\"id\": 5002}, "
	"{\"size\": 10485760, \"state\": \"inactive\"}]}, "
	"{\"address\": 140000300000256, \"total_size\": 4194304, "
	"\"segment_type\": \"small\", \"is_expandable\": true, \"blocks\": ["
	"{\"size\": 1024, \"state\": \"active_allocated\", \"id\": 5003, "
	"\"site\": 1}, "
	"{\"size\": 4193280, \"state\": \"inactive\"}]}]}, ";

/* What a random trace has besides requests. */
struct trace_like {
	uint32_t events; /* at most 2,000 */
	uint32_t every;	 /* a step begins every so many events; 0: no steps */
	bool has_start;
	bool keeps_cache; /* never empties it */
};

/* The trace has two streams and three sites. */
static inline struct gp_trace *trace_like(uint64_t seed,
					  const struct trace_like *like)
{
	uint32_t live[2000 + START_BLOCKS];
	size_t count = 0, length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	ck_assert_uint_le(like->events, 2000);
	fprintf(out,
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		"[\"a.py:1 f\", \"b.py:2 g\", \"b.py:3 h\"], \"devices\": "
		"[{\"device\": 0, %s\"events\": [{\"op\": \"empty_cache\"}",
		like->has_start ? random_start : "");
	while (like->has_start && count < START_BLOCKS) {
		live[count] = 5000 + (uint32_t)count;
		count++;
	}
	for (uint32_t i = 0; i < like->events; i++)
		if (like->every && i % like->every == like->every / 2)
			fputs(",\n{\"op\": \"mark\", \"name\": \"step\"}", out);
		else
			put_random_event(out, &seed, live, &count, i + 1,
					 like->keeps_cache);
	fputs("]}]}", out);
	ck_assert_int_eq(fclose(out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

static inline struct gp_trace *random_trace(uint64_t seed, uint32_t events)
{
	return trace_like(seed, &(struct trace_like){ .events = events });
}

#endif
