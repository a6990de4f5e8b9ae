/* SPDX-License-Identifier: MIT */
/* Where steps begin: at marks that recur, compared with a plain count of these;
 * or where the sizes of requests begin to recur. */
#include "trace/steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "suite.h"
#include "trace_text.h"

/* ---- marks ---- */

#define MOST 60

/* Marks as they are written, and their names. */
static const struct {
	const char *text, *name;
	bool is_step;
} marks[] = {
	{ "ProfilerStep#1", "ProfilerStep", true },
	{ "ProfilerStep#22", "ProfilerStep", true },
	{ "iter 7", "iter", true },
	{ "iter_8:", "iter", true },
	{ "my ITERation", "my ITERation", true },
	{ "epoch 1", "epoch", false },
	{ "epoch 22", "epoch", false },
	{ "e", "e", false },
	{ "12", "", false },
	{ "# - _:", "", false },
};

struct written {
	char text[MOST * 96];
	size_t marks[MOST], count; /* of each event; COUNT_OF(marks): no mark */
};

static void write_marks(struct written *w, size_t count, uint64_t *seed)
{
	static const char *const stages[] = { "start", "end" };
	size_t n, kinds = 1 + next_random(seed) % COUNT_OF(marks);

	n = (size_t)snprintf(w->text, sizeof(w->text),
			     "{\"format\": \"gpupool-trace\", \"version\": 1, "
			     "\"devices\": [{\"device\": 0, \"events\": [");
	for (w->count = 0; w->count < count; w->count++) {
		size_t mark = next_random(seed) % kinds;
		uint64_t stage = next_random(seed) % 6;

		w->marks[w->count] = stage == 1 ? COUNT_OF(marks) : mark;
		n += (size_t)snprintf(w->text + n, sizeof(w->text) - n,
				      "%s{\"op\": \"mark\", \"name\": \"%s\"%s"
				      "%s%s}",
				      w->count ? ", " : "", marks[mark].text,
				      stage < 2 ? ", \"stage\": \"" : "",
				      stage < 2 ? stages[stage] : "",
				      stage < 2 ? "\"" : "");
	}
	snprintf(w->text + n, sizeof(w->text) - n, "]}]}");
}

static size_t times(const struct written *w, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < w->count; i++)
		count += w->marks[i] < COUNT_OF(marks) &&
			 !strcmp(marks[w->marks[i]].name, name);
	return count;
}

/* A step's name precedes others, then the rarest of the marks that recur, then
 * the first of equals. */
static size_t best_of(const struct written *w)
{
	size_t best = COUNT_OF(marks);

	for (size_t i = 0; i < w->count; i++) {
		size_t mark = w->marks[i], now, before;

		if (mark == COUNT_OF(marks))
			continue;
		now = times(w, marks[mark].name);
		if (now < 3)
			continue;
		if (best == COUNT_OF(marks)) {
			best = mark;
			continue;
		}
		before = times(w, marks[best].name);
		if (marks[mark].is_step != marks[best].is_step
			    ? marks[mark].is_step
			    : now < before)
			best = mark;
	}
	return best;
}

static void compare_marks(const struct written *w, const struct gp_steps *steps)
{
	size_t best = best_of(w), at = 0;

	if (best == COUNT_OF(marks)) {
		ck_assert_int_eq(steps->source, GP_STEPS_NONE);
		ck_assert_uint_eq(steps->count, 0);
		return;
	}
	ck_assert_int_eq(steps->source, GP_STEPS_MARKS);
	ck_assert_str_eq(steps->name, marks[best].name);
	for (size_t i = 0; i < w->count; i++) {
		if (w->marks[i] == COUNT_OF(marks) ||
		    strcmp(marks[w->marks[i]].name, marks[best].name) != 0)
			continue;
		ck_assert_uint_lt(at, steps->count);
		ck_assert_uint_eq(steps->list[at].first, i);
		if (at)
			ck_assert_uint_eq(steps->list[at - 1].end, i);
		at++;
	}
	ck_assert_uint_eq(at, steps->count);
	ck_assert_uint_eq(steps->list[at - 1].end, w->count);
}

START_TEST(marks_that_recur_are_steps)
{
	static struct written w;
	uint64_t seed = 1;

	for (size_t round = 0; round < 400; round++) {
		struct gp_steps steps;
		struct gp_trace *trace;

		write_marks(&w, 1 + round % (MOST - 1), &seed);
		trace = trace_of(w.text);
		gp_steps_find(trace, 0, &steps);
		compare_marks(&w, &steps);
		free(steps.list);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* More marks of one name than that are not steps. */
START_TEST(so_many_marks_are_steps)
{
	for (size_t count = 100000; count <= 100001; count++) {
		size_t length;
		char *text;
		FILE *out = open_memstream(&text, &length);
		struct gp_steps steps;
		struct gp_trace *trace;

		fputs("{\"format\":\"gpupool-trace\",\"version\":1,"
		      "\"devices\":[{\"device\":0,\"events\":[",
		      out);
		for (size_t i = 0; i < count; i++)
			fprintf(out, "%s{\"op\":\"mark\",\"name\":\"step\"}",
				i ? "," : "");
		fputs("]}]}", out);
		fclose(out);
		trace = trace_of(text);
		gp_steps_find(trace, 0, &steps);
		ck_assert_uint_eq(steps.count, count > 100000 ? 0 : count);
		free(steps.list);
		gp_trace_destroy(trace);
		free(text);
	}
}
END_TEST

/* ---- periods ---- */

/* Requests that recur that often, after some that do not. */
static struct gp_trace *periodic(size_t before, size_t period, size_t repeats,
				 uint64_t seed)
{
	size_t length, id = 0;
	uint64_t sizes[64];
	char *text;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	for (size_t i = 0; i < period; i++)
		sizes[i] = 512 * (1 + next_random(&seed) % 1000);
	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [{\"op\": \"empty_cache\"}",
	      out);
	for (size_t i = 0; i < before + period * repeats; i++, id++)
		fprintf(out,
			", {\"op\": \"alloc\", \"id\": %zu, \"size\": %" PRIu64
			"}, {\"op\": \"free\", \"id\": %zu}",
			id,
			i < before ? 7 + next_random(&seed) % 100000
				   : sizes[(i - before) % period],
			id);
	fputs("]}]}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

/* Only so many names of marks are considered: the first 256. */
START_TEST(so_many_names_may_be_steps)
{
	for (unsigned others = 254; others <= 257; others++) {
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		struct gp_trace *trace;
		struct gp_steps steps;

		fputs("{\"format\": \"gpupool-trace\", \"version\": 1, "
		      "\"devices\": [{\"device\": 0, \"events\": [",
		      out);
		for (unsigned i = 0; i < others; i++)
			fprintf(out, "{\"op\": \"mark\", \"name\": \"%c%c\"}, ",
				(int)('a' + i / 26), (int)('a' + i % 26));
		for (unsigned i = 0; i < 10; i++)
			fprintf(out, "%s{\"op\": \"mark\", \"name\": \"iter\"}",
				i ? ", " : "");
		fputs("]}]}", out);
		fclose(out);
		trace = trace_of(text);
		free(text);
		gp_steps_find(trace, 0, &steps);
		ck_assert_uint_eq(steps.count, others < 256 ? 10 : 0);
		free(steps.list);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(sizes_that_recur_are_steps)
{
	for (size_t period = 16; period <= 48; period += 5)
		for (size_t before = 0; before < 40; before += 13)
			for (size_t repeats = 4; repeats <= 12; repeats += 4) {
				size_t count = before + period * repeats;
				struct gp_trace *trace = periodic(
					before, period, repeats, period);
				struct gp_steps steps;

				gp_steps_find(trace, 0, &steps);
				/* Too few requests show no period. */
				ck_assert_uint_eq(steps.count,
						  count < 128 ? 0 : repeats);
				for (size_t i = 0; i < steps.count; i++) {
					const struct gp_step *step =
						&steps.list[i];

					ck_assert_uint_eq(
						step->first,
						1 + 2 * (before + i * period));
					ck_assert_uint_eq(
						step->end,
						i + 1 < repeats
							? step[1].first
							: 1 + 2 * count);
				}
				free(steps.list);
				gp_trace_destroy(trace);
			}
}
END_TEST

/* ---- programs that almost recur, compared with the simplest search ---- */

struct sizes {
	uint64_t of[1000]; /* of each request */
	size_t count;
};

/* Some requests before, after and in place of those that recur. */
static void write_sizes(struct sizes *s, uint64_t *seed)
{
	size_t period = 12 + next_random(seed) % 60;
	size_t before = next_random(seed) % 100;
	uint64_t most = UINT64_C(1) << next_random(seed) % 9;
	uint64_t kinds = 1 + next_random(seed) % most;
	uint64_t noise = next_random(seed) % 5 * 12; /* of 1,000 */
	uint64_t step[80];

	s->count = 100 + next_random(seed) % 500;
	for (size_t i = 0; i < period; i++)
		step[i] = 512 * (1 + next_random(seed) % kinds);
	for (size_t i = 0; i < s->count; i++) {
		bool recurs = i >= before && next_random(seed) % 1000 >= noise;

		s->of[i] = recurs ? step[(i - before) % period]
				  : 512 * (1 + next_random(seed) % kinds);
	}
}

static double recurring(const struct sizes *s, size_t from, size_t to,
			size_t lag)
{
	size_t same = 0;

	for (size_t i = from; i < to; i++)
		same += s->of[i] == s->of[i + lag];
	return to > from ? (double)same / (double)(to - from) : 0;
}

/* How many requests ago the same 16 requests in a row were made, at 65 places
 * of the second half, taking the nearest each time; of these distances, the one
 * at which most requests recur. */
static size_t period_of(const struct sizes *s)
{
	size_t best = 0, half = s->count / 2;
	double most = 0.9;

	for (size_t i = half; s->count >= 128 && i + 16 <= s->count;
	     i += half / 64 + 1) {
		size_t lag = 1;
		double share;

		while (lag <= s->count / 3 && lag <= i &&
		       memcmp(&s->of[i], &s->of[i - lag], 16 * sizeof(*s->of)))
			lag++;
		if (lag > s->count / 3 || lag > i || lag < 16)
			continue;
		share = recurring(s, half - half / 4, s->count - lag, lag);
		if (share > most || (share == most && lag < best)) {
			most = share;
			best = lag;
		}
	}
	return best;
}

/* From the end backward, as long as four of five requests recur. */
static void compare_sizes(const struct sizes *s, const struct gp_steps *steps)
{
	size_t period = period_of(s), first = s->count, n = 0;

	if (period)
		first -= period;
	while (period && first >= period &&
	       recurring(s, first - period, first, period) >= 0.8)
		first -= period;
	while (period && first + (n + 1) * period <= s->count)
		n++;
	if (n < 3)
		n = 0;
	ck_assert_uint_eq(steps->count, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(steps->list[i].first,
				  2 * (first + i * period));
		ck_assert_uint_eq(steps->list[i].end,
				  i + 1 < n ? 2 * (first + (i + 1) * period)
					    : 2 * s->count);
	}
}

START_TEST(sizes_that_nearly_recur_are_steps)
{
	static struct gp_event events[2000];
	static struct sizes s;
	struct gp_device_trace device = { .events = events };
	struct gp_trace trace = { .devices = &device, .device_count = 1 };
	uint64_t seed = 1, found = 0;

	for (int round = 0; round < 2000; round++) {
		struct gp_steps steps;

		write_sizes(&s, &seed);
		for (size_t i = 0; i < s.count; i++) {
			events[2 * i] = (struct gp_event){ .kind = GP_ALLOC,
							   .size = s.of[i] };
			events[2 * i + 1].kind = GP_FREE;
		}
		device.event_count = 2 * s.count;
		gp_steps_find(&trace, 0, &steps);
		compare_sizes(&s, &steps);
		found += steps.count > 0;
		free(steps.list);
	}
	ck_assert_uint_gt(found, 300);
	ck_assert_uint_lt(found, 1700);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ marks_that_recur_are_steps, 0 },
		{ so_many_marks_are_steps, 0 },
		{ so_many_names_may_be_steps, 0 },
		{ sizes_that_recur_are_steps, 0 },
		{ sizes_that_nearly_recur_are_steps, 0 },
	};

	return suite_run("steps", tests, COUNT_OF(tests));
}
