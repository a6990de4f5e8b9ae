/* SPDX-License-Identifier: MIT */
/* Whether a segment that is released could have served the next request:
 * generated segments, with blocks in them that were waited for before. */
#include <inttypes.h>
#include <stdlib.h>

#include "gpupool/trace.h"

#include "snapshot_text.h"

#define MIB    (UINT64_C(1) << 20)
#define BEGIN  (200 * MIB)
#define BLOCKS 3

struct room {
	uint64_t seed, size, request;
	uint64_t at[BLOCKS], sizes[BLOCKS];
	unsigned count;
};

static uint64_t below(struct room *r, uint64_t n)
{
	return next_random(&r->seed) % n;
}

static uint64_t rounded(uint64_t size)
{
	return (size + 511) / 512 * 512;
}

/* The free bytes before and after the blocks; a block of a large segment may
 * have up to 1 MiB more than its request. */
static void find_free(const struct room *r, uint64_t *before, uint64_t *behind)
{
	uint64_t first = BEGIN + r->size, last = BEGIN;

	for (unsigned i = 0; i < r->count; i++) {
		uint64_t end = r->at[i] + rounded(r->sizes[i]) +
			       (r->size > 2 * MIB ? MIB : 0);

		if (r->at[i] < BEGIN || r->at[i] >= BEGIN + r->size)
			continue;
		first = r->at[i] < first ? r->at[i] : first;
		last = end > last ? end : last;
	}
	*before = first - BEGIN;
	*behind = last < BEGIN + r->size ? BEGIN + r->size - last : 0;
}

/* Blocks anywhere, some of them beside the segment; the request just fits, or
 * just does not. */
static void begin(struct room *r)
{
	bool is_large = below(r, 2);
	uint64_t at, before, behind;

	r->size = is_large ? 24 * MIB : 2 * MIB;
	at = BEGIN - r->size / 8;
	for (unsigned n = (unsigned)below(r, BLOCKS + 1); n; n--) {
		at += below(r, r->size / 1024) * 512;
		r->at[r->count] = at;
		r->sizes[r->count] = 1 + below(r, r->size / 8);
		at += rounded(r->sizes[r->count++]);
	}
	if (below(r, 2))
		r->at[0] = BEGIN;
	find_free(r, &before, &behind);
	r->request = (below(r, 2) ? before : behind) + 512 * below(r, 3);
	r->request -= r->request >= 1024 ? 512 + below(r, 512) : 0;
	if (is_large && r->request <= MIB)
		r->request = MIB + 1;
	if (!is_large && r->request > MIB)
		r->request = MIB;
	r->request += !r->request;
}

static void say(FILE *out, const char *action, uint64_t addr, uint64_t size)
{
	fprintf(out,
		"{\"action\": \"%s\", \"addr\": %" PRIu64 ", \"size\": %" PRIu64
		", \"stream\": 0}, ",
		action, addr, size);
}

static struct gp_trace *trace_of_room(const struct room *r)
{
	uint64_t grown = r->size > 2 * MIB ? 26 * MIB : 2 * MIB;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	fprintf(out,
		"{\"segments\": [{\"address\": 20971520, \"total_size\": "
		"%" PRIu64 ", \"stream\": 0, \"segment_type\": \"%s\", "
		"\"blocks\": [{\"size\": %" PRIu64 ", \"requested_size\": "
		"%" PRIu64 ", \"state\": \"active_allocated\"}]}], "
		"\"device_traces\": [[",
		grown, r->size > 2 * MIB ? "large" : "small", grown,
		r->request);
	for (unsigned i = 0; i < r->count; i++)
		say(out, "free_requested", r->at[i], r->sizes[i]);
	say(out, "alloc", 4194304, 512);
	for (unsigned i = 0; i < r->count; i++)
		say(out, "free_completed", r->at[i], r->sizes[i]);
	say(out, "segment_free", BEGIN, r->size);
	say(out, "segment_alloc", 20971520, grown);
	fprintf(out,
		"{\"action\": \"alloc\", \"addr\": 20971520, \"size\": %" PRIu64
		", \"stream\": 0}]]}",
		r->request);
	ck_assert_int_eq(fclose(out), 0);
	trace = whole(text);
	free(text);
	return trace;
}

START_TEST(what_had_room_is_given_back_by_the_program)
{
	unsigned had = 0, of = 3000;

	for (uint64_t seed = 0; seed < of; seed++) {
		struct room r = { .seed = seed };
		struct gp_trace *trace;
		uint64_t before, behind, size;
		bool had_room;

		begin(&r);
		find_free(&r, &before, &behind);
		size = rounded(r.request);
		had_room = before >= size || behind >= size;
		had += had_room;
		trace = trace_of_room(&r);
		ck_assert_msg(trace->devices[0].guesses.empty_caches ==
				      had_room,
			      "%" PRIu64, seed);
		gp_trace_destroy(trace);
	}
	ck_assert(had > of / 8 && had < of - of / 8);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ what_had_room_is_given_back_by_the_program, 0 },
	};

	return suite_run("history_rooms", tests, COUNT_OF(tests));
}
