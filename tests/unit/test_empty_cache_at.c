/* SPDX-License-Identifier: MIT */
/* Calls of empty_cache: at given places, and at those that the rule finds best,
 * applied in a straightforward way, with a run for each place that may help. */
#include <ctype.h>
#include <stdlib.h>

#include "played.h"
#include "suite.h"
#include "study/what_if/what_if.h"
#include "trace/steps.h"
#include "trace_text.h"

#define MIB	   (UINT64_C(1) << 20)
#define EVENTS	   60
#define DEVICES	   2
#define MOST_CALLS 16
#define PARTS	   24
#define TOLD	   6

struct step {
	enum gp_event_kind kind;
	uint32_t id;
	uint64_t size;
	const char *text; /* of a mark */
};

struct program {
	struct step steps[EVENTS];
	size_t count;
};

struct calls {
	uint64_t before[DEVICES * EVENTS];
	size_t count;
};

/* ---- programs ---- */

static void make_up(struct program *p, size_t count, uint64_t *seed)
{
	static const char *const names[] = { "epoch 1", "epoch 12", "step 1",
					     "step 2" };
	uint32_t live[EVENTS];
	size_t lives = 0;

	p->count = count;
	for (size_t i = 0; i < count; i++) {
		uint64_t dice = next_random(seed) % 16;
		size_t at = lives ? next_random(seed) % lives : 0;
		struct step *step = &p->steps[i];

		*step = (struct step){ .id = (uint32_t)i };
		if (dice == 0) {
			step->kind = GP_EMPTY_CACHE;
		} else if (dice == 1) {
			step->kind = GP_MARK;
			step->text = names[next_random(seed) % 4];
		} else if (dice < 9 && lives) {
			*step = (struct step){ GP_FREE, live[at], 0, NULL };
			live[at] = live[--lives];
		} else {
			step->kind = GP_ALLOC;
			step->size = dice < 14
					     ? next_random(seed) % 30 * 2 * MIB
					     : next_random(seed) % MIB;
			live[lives++] = step->id;
		}
	}
}

/* Each request is larger than all before, so no memory is reused. */
static void make_grow(struct program *p, size_t count, uint64_t *seed)
{
	uint64_t size = 20 * MIB;

	p->count = count;
	for (size_t i = 0; i < count; i++) {
		size += (1 + next_random(seed) % 3) * 2 * MIB;
		p->steps[i] = i % 2 ? (struct step){ GP_FREE, (uint32_t)i - 1,
						     0, NULL }
				    : (struct step){ GP_ALLOC, (uint32_t)i,
						     size, NULL };
	}
}

static void put_step(FILE *out, const struct step *step)
{
	switch (step->kind) {
	case GP_ALLOC:
		fprintf(out, "\"alloc\", \"id\": %u, \"size\": %llu", step->id,
			(unsigned long long)step->size);
		break;
	case GP_FREE: fprintf(out, "\"free\", \"id\": %u", step->id); break;
	case GP_MARK:
		fprintf(out, "\"mark\", \"name\": \"%s\"", step->text);
		break;
	default: fputs("\"empty_cache\"", out);
	}
}

static const struct step call = { .kind = GP_EMPTY_CACHE };

/* The first steps of the program, with the calls. */
static void put_device(FILE *out, const struct program *p, size_t until,
		       const struct calls *calls, size_t device)
{
	const char *comma = "";

	fprintf(out, "{\"device\": %zu, \"events\": [", device);
	for (size_t i = 0; i <= until; i++) {
		for (size_t c = 0; c < calls->count; c++)
			if (calls->before[c] == i) {
				fprintf(out, "%s{\"op\": ", comma);
				put_step(out, &call);
				fputs("}", out);
				comma = ", ";
			}
		if (i == until)
			break;
		fprintf(out, "%s{\"time\": %zu, \"op\": ", comma, 10 * i);
		put_step(out, &p->steps[i]);
		fputs("}", out);
		comma = ", ";
	}
	fputs("]}", out);
}

static const char head[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": [";

static const struct calls no_calls = { .count = 0 };

static struct gp_trace *trace_of_all(const struct program *p, size_t devices)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	fputs(head, out);
	for (size_t d = 0; d < devices; d++) {
		fputs(d ? ", " : "", out);
		put_device(out, &p[d], p[d].count, &no_calls, d);
	}
	fputs("]}", out);
	ck_assert_int_eq(fclose(out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

/* ---- the rule ---- */

/* The score of a run: less is better, in this order. */
struct score {
	uint64_t dropped, reserved, mallocs, unused_at_end;
};

static struct score score_of(const struct program *p, size_t until,
			     const struct calls *calls,
			     struct gp_replay_config config)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;
	struct gp_replay_result result;
	struct score score;

	fputs(head, out);
	put_device(out, p, until, calls, 0);
	fputs("]}", out);
	ck_assert_int_eq(fclose(out), 0);
	config.trace = trace = trace_of(text);
	result = played(&config);
	score = (struct score){ result.dropped, result.at_peak.reserved,
				result.calls.malloc + result.calls.map,
				result.at_end.reserved -
					result.at_end.allocated };
	gp_replay_release(&result);
	gp_trace_destroy(trace);
	free(text);
	return score;
}

static bool is_less(const struct score *a, const struct score *b)
{
	return a->dropped < b->dropped ||
	       (a->dropped == b->dropped &&
		(a->reserved < b->reserved ||
		 (a->reserved == b->reserved && a->mallocs < b->mallocs)));
}

/* For each part of the program, the place after the first event with the most
 * unused memory; 0: nothing is unused there. */
static void find_places(const struct program *p,
			const struct gp_replay_config *config,
			uint64_t places[PARTS])
{
	uint64_t most[PARTS] = { 0 };

	for (size_t part = 0; part < PARTS; part++)
		places[part] = 0;
	for (size_t i = 0; i < p->count; i++) {
		size_t part = i * PARTS / p->count;
		uint64_t unused =
			score_of(p, i + 1, &no_calls, *config).unused_at_end;

		if (unused > most[part]) {
			most[part] = unused;
			places[part] = i + 1;
		}
	}
}

/* Places call after call where it helps most; returns the number of runs. */
static uint64_t choose(const struct program *p, size_t most,
		       const struct gp_replay_config *config,
		       struct calls *calls)
{
	struct score best = score_of(p, p->count, &no_calls, *config);
	uint64_t places[PARTS], runs = 1, place = 1;

	find_places(p, config, places);
	calls->count = 0;
	while (place && calls->count < most) {
		place = 0;
		for (size_t i = 0; i < PARTS; i++) {
			struct calls tried = *calls;
			struct score score;

			if (!places[i])
				continue;
			tried.before[tried.count++] = places[i];
			score = score_of(p, p->count, &tried, *config);
			runs++;
			if (!is_less(&score, &best))
				continue;
			best = score;
			place = places[i];
		}
		if (place)
			calls->before[calls->count++] = place;
	}
	return runs;
}

/* ---- both ---- */

static enum gp_status make(const struct gp_trace *trace, const char *where,
			   const struct gp_settings *settings, const char *conf,
			   const uint64_t *capacity, struct gp_what_ifs *made,
			   struct gp_diag *diag)
{
	struct gp_what_if asked = { gp_what_if_find("empty-cache-at"), where };
	const struct gp_what_if_config config = {
		.trace = trace,
		.asked = &asked,
		.count = 1,
		.settings = settings,
		.engine = gp_engine_find("caching"),
		.conf = conf,
		.capacity = capacity,
	};

	*diag = (struct gp_diag){ 0 };
	return gp_what_ifs_make(&config, made, diag);
}

static void compare(const struct gp_device_trace *made, const struct program *p,
		    const struct calls *calls)
{
	size_t at = 0;

	ck_assert_uint_eq(made->event_count, p->count + calls->count);
	for (size_t i = 0; i <= p->count; i++) {
		for (size_t c = 0; c < calls->count; c++)
			if (calls->before[c] == i) {
				const struct gp_event *e = &made->events[at++];

				ck_assert_int_eq(e->kind, GP_EMPTY_CACHE);
				ck_assert_uint_eq(e->time_us,
						  i < p->count ? 10 * i : 0);
			}
		if (i == p->count)
			break;
		ck_assert_int_eq(made->events[at].kind, p->steps[i].kind);
		ck_assert_uint_eq(made->events[at].time_us, 10 * i);
		at++;
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* "called before event 3, 7; 9; 60 replays of up to 24 places" */
static void say(char *text, size_t room, struct calls *calls, size_t devices,
		uint64_t runs)
{
	FILE *out = fmemopen(text, room, "w");
	const char *before = "called before event ";

	for (size_t d = 0; d < devices; d++) {
		qsort(calls[d].before, calls[d].count, sizeof(uint64_t),
		      by_number);
		for (size_t c = 0; c < calls[d].count && c < TOLD; c++) {
			fprintf(out, "%s%llu", before,
				(unsigned long long)calls[d].before[c]);
			before = ", ";
		}
		if (calls[d].count > TOLD)
			fputs(" and others", out);
		if (*before == ',')
			before = "; ";
	}
	fprintf(out, "%s; %llu replays of up to %d places",
		*before == 'c' ? "no place helps" : "",
		(unsigned long long)runs, PARTS);
	fclose(out);
}

struct trial {
	size_t devices, most;
	const char *conf;
	uint64_t share; /* of what is reserved, that there is; 0: no limit */
};

/* Returns the number of calls. */
static size_t try_best(const struct program *p, const struct trial *trial)
{
	uint64_t capacity[DEVICES], runs = 0;
	struct calls calls[DEVICES];
	struct gp_settings settings;
	struct gp_replay_config config = run_of(NULL, &settings);
	struct gp_trace *trace = trace_of_all(p, trial->devices);
	struct gp_what_ifs made;
	struct gp_diag diag;
	char where[16], said[GP_WHAT_IF_NOTE];
	size_t count = 0;

	ck_assert_int_eq(gp_settings_parse(&settings, trial->conf, &diag),
			 GP_OK);
	config.conf = trial->conf;
	for (size_t d = 0; d < trial->devices; d++) {
		uint64_t needs =
			score_of(&p[d], p[d].count, &no_calls, config).reserved;
		struct gp_replay_config its = config;

		capacity[d] = trial->share ? needs * trial->share / 100
					   : GP_UNLIMITED;
		its.capacity = capacity[d];
		runs += p[d].count ? choose(&p[d], trial->most, &its, &calls[d])
				   : 0;
		calls[d].count = p[d].count ? calls[d].count : 0;
		count += calls[d].count;
	}
	snprintf(where, sizeof(where), trial->most == 1 ? "best" : "best:%zu",
		 trial->most);
	ck_assert_int_eq(make(trace, where, &settings, trial->conf, capacity,
			      &made, &diag),
			 GP_OK);
	say(said, sizeof(said), calls, trial->devices, runs);
	ck_assert_str_eq(made.notes->text, said);
	ck_assert_uint_eq(made.notes->changes, count);
	for (size_t d = 0; d < trial->devices; d++)
		compare(&made.trace->devices[d], &p[d], &calls[d]);
	gp_what_ifs_release(&made);
	gp_trace_destroy(trace);
	return count;
}

START_TEST(the_best_places_are_those_of_the_rule)
{
	static const char *const confs[] = { "", "expandable_segments:True" };
	size_t with_calls = 0;

	for (uint64_t n = 0; n < 90; n++) {
		const struct trial trial = {
			.devices = 1 + n % 5 / 4,
			.most = 1 + n % 3,
			.conf = confs[n % 4 / 3],
			.share = n % 7 < 4 ? 0 : 70 + n % 40,
		};
		struct program p[DEVICES];
		uint64_t seed = n;

		for (size_t d = 0; d < DEVICES; d++)
			make_up(&p[d], n % 11 ? 5 + n % 50 : 0, &seed);
		with_calls += try_best(p, &trial) > 0;
	}
	ck_assert_uint_gt(with_calls, 20);
}
END_TEST

START_TEST(many_calls_are_told_in_short)
{
	for (size_t most = TOLD - 1; most <= MOST_CALLS; most++) {
		const struct trial trial = { DEVICES, most, "", 0 };
		struct program p[DEVICES];
		uint64_t seed = most;

		make_grow(&p[0], EVENTS, &seed);
		make_grow(&p[1], EVENTS / 2, &seed);
		ck_assert_uint_ge(try_best(p, &trial), most);
	}
}
END_TEST

/* ---- given places ---- */

static bool is_named(const struct step *step, const char *name)
{
	size_t n = strlen(name);

	return step->kind == GP_MARK && !strncmp(step->text, name, n) &&
	       !(isdigit((unsigned char)name[n - 1]) &&
		 isdigit((unsigned char)step->text[n]));
}

static void call_at_steps(const struct gp_trace *trace, size_t d,
			  struct calls *calls)
{
	struct gp_steps steps = { 0 };

	gp_steps_find(trace, (uint32_t)d, &steps);
	for (size_t i = 0; i < steps.count; i++)
		calls->before[calls->count++] = steps.list[i].first;
	free(steps.list);
}

/* place is a number, all steps, or else the name of marks. Returns how many
 * calls there are. */
static size_t call_at(const struct gp_trace *trace, const struct program *p,
		      const char *where, struct calls calls[DEVICES])
{
	size_t count = 0;

	for (size_t d = 0; d < DEVICES; d++) {
		calls[d].count = 0;
		if (isdigit((unsigned char)*where) &&
		    strtoul(where, NULL, 10) <= p[d].count)
			calls[d].before[calls[d].count++] =
				strtoul(where, NULL, 10);
		else if (!strcmp(where, "step"))
			call_at_steps(trace, d, &calls[d]);
		count += calls[d].count;
	}
	for (size_t d = 0; d < DEVICES && !count; d++)
		for (size_t i = 0; i < p[d].count; i++)
			if (is_named(&p[d].steps[i], where))
				calls[d].before[calls[d].count++] = i;
	return calls[0].count + calls[1].count;
}

START_TEST(calls_come_at_given_places_of_each_device)
{
	static const char *const where[] = { "0",	 "1",	  "7",
					     "12",	 "25",	  "epoch 1",
					     "epoch 12", "epoch", "step",
					     "step",	 "step" };

	for (uint64_t n = 0; n < 20 * COUNT_OF(where); n++) {
		const char *at = where[n % COUNT_OF(where)];
		struct program p[DEVICES];
		struct calls calls[DEVICES];
		struct gp_what_ifs made;
		struct gp_diag diag;
		struct gp_trace *trace;
		uint64_t seed = n;
		size_t count;

		for (size_t d = 0; d < DEVICES; d++)
			make_up(&p[d], next_random(&seed) % 50, &seed);
		trace = trace_of_all(p, DEVICES);
		count = call_at(trace, p, at, calls);
		ck_assert_int_eq(
			make(trace, at, NULL, NULL, NULL, &made, &diag),
			count ? GP_OK : GP_USAGE);
		for (size_t d = 0; d < DEVICES && count; d++)
			compare(&made.trace->devices[d], &p[d], &calls[d]);
		if (count) {
			ck_assert_uint_eq(made.notes->changes, count);
			gp_what_ifs_release(&made);
		}
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(some_arguments_are_searched)
{
	static const struct {
		const char *where;
		bool is_searched;
	} rows[] = {
		{ "best", true },     { "best:1", true },   { "best:9", true },
		{ "best:16", true },  { "best:17", false }, { "best:0", false },
		{ "best:", false },   { "best:3x", false }, { "best3", false },
		{ "best:-1", false }, { "bes", false },	    { "step", false },
		{ "12", false },      { "Best", false },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_what_if asked = { gp_what_if_find("empty-cache-at"),
					    rows[i].where };

		ck_assert_msg(gp_what_if_is_searched(&asked) ==
				      rows[i].is_searched,
			      "%s", rows[i].where);
		asked.row = gp_what_if_find("checkpointing");
		ck_assert(!gp_what_if_is_searched(&asked));
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("empty_cache_at");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, the_best_places_are_those_of_the_rule);
	tcase_add_test(tcase, many_calls_are_told_in_short);
	tcase_add_test(tcase, calls_come_at_given_places_of_each_device);
	tcase_add_test(tcase, some_arguments_are_searched);
	return suite_play("empty_cache_at", tcase);
}
