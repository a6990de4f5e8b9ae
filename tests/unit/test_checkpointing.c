/* SPDX-License-Identifier: MIT */
/* Checkpointing of every short program, compared with the rule, applied in a
 * straightforward way: what is held across the turn is freed as soon as other
 * blocks usually are, and made again that long before its free. */
#include <stdlib.h>

#include "gpupool/knob.h"
#include "suite.h"
#include "study/what_if/what_if.h"
#include "trace_text.h"

#define EVENTS 24
#define MOST   (3 * EVENTS)

/* Kinds, ids and sizes; frees have no size here. */
struct step {
	int kind;
	uint32_t id;
	uint64_t size;
};

struct program {
	struct step steps[MOST];
	size_t count;
	uint32_t blocks;
};

static void make_up(struct program *p, uint64_t seed)
{
	uint32_t live[EVENTS];
	size_t lives = 0;

	*p = (struct program){ 0 };
	while (p->count < EVENTS) {
		struct step *step = &p->steps[p->count++];
		size_t at = lives ? next_random(&seed) % lives : 0;

		switch (next_random(&seed) % 5) {
		case 0:
		case 1:
			*step = (struct step){ GP_ALLOC, p->blocks,
					       1 + next_random(&seed) % 3 };
			live[lives++] = p->blocks++;
			break;
		case 2: *step = (struct step){ GP_EMPTY_CACHE, 0, 0 }; break;
		default:
			if (!lives) {
				p->count--;
				break;
			}
			*step = (struct step){ GP_FREE, live[at], 0 };
			live[at] = live[--lives];
		}
	}
}

static struct gp_trace *trace_of_program(const struct program *p)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	for (size_t i = 0; i < p->count; i++) {
		const struct step *s = &p->steps[i];

		fputs(i ? "," : "", out);
		if (s->kind == GP_EMPTY_CACHE)
			fputs("{\"op\": \"empty_cache\"}", out);
		else if (s->kind == GP_FREE)
			fprintf(out, "{\"op\": \"free\", \"id\": %u}", s->id);
		else
			fprintf(out,
				"{\"op\": \"alloc\", \"id\": %u, \"size\": "
				"%llu}",
				s->id, (unsigned long long)s->size);
	}
	fputs("]}]}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

/* ---- the rule ---- */

static size_t end_of(const struct program *p, uint32_t id)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->steps[i].kind == GP_FREE && p->steps[i].id == id)
			return i;
	return SIZE_MAX;
}

/* Live bytes after an event. */
static uint64_t live_at(const struct program *p, size_t event)
{
	uint64_t live = 0;

	for (size_t i = 0; i <= event; i++)
		if (p->steps[i].kind == GP_ALLOC &&
		    end_of(p, p->steps[i].id) > event)
			live += p->steps[i].size;
	return live;
}

static size_t turn_of(const struct program *p)
{
	size_t turn = 0;
	uint64_t most = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->steps[i].kind == GP_ALLOC && live_at(p, i) > most) {
			turn = i;
			most = live_at(p, i);
		}
	return turn;
}

/* The median lifetime of blocks that are not live both at the turn and after
 * it; one event, if there are none. */
static size_t usual_life(const struct program *p, size_t turn)
{
	size_t of[EVENTS + 1] = { 0 }, n = 0, below = 0;

	for (size_t i = 0; i < p->count; i++) {
		size_t end = end_of(p, p->steps[i].id);

		if (p->steps[i].kind != GP_ALLOC || end == SIZE_MAX ||
		    (i <= turn && end > turn))
			continue;
		of[end - i]++;
		n++;
	}
	for (size_t life = 0; life <= EVENTS; life++) {
		below += of[life];
		if (below > n / 2)
			return life;
	}
	return 1;
}

static void put(struct program *p, struct step step)
{
	ck_assert_uint_lt(p->count, MOST);
	p->steps[p->count++] = step;
}

/* Returns how many blocks were dropped. */
static unsigned apply(const struct program *p, struct program *made)
{
	size_t turn = turn_of(p), usual = usual_life(p, turn);
	uint32_t again[EVENTS] = { 0 }; /* by event that asks: its new block */
	unsigned changes = 0;

	*made = (struct program){ .blocks = p->blocks };
	for (size_t i = 0; i < turn; i++) {
		size_t end = end_of(p, p->steps[i].id);

		if (p->steps[i].kind == GP_ALLOC && end != SIZE_MAX &&
		    i + usual < turn && end > turn + usual) {
			again[i] = made->blocks++;
			changes++;
		}
	}
	for (size_t at = 0; at < p->count; at++) {
		struct step step = p->steps[at];

		for (size_t i = 0; i < turn; i++) {
			const struct step *s = &p->steps[i];

			if (again[i] && i + usual == at)
				put(made, (struct step){ GP_FREE, s->id, 0 });
			if (again[i] && end_of(p, s->id) == at + usual)
				put(made, (struct step){ GP_ALLOC, again[i],
							 s->size });
			if (again[i] && end_of(p, s->id) == at)
				step.id = again[i];
		}
		put(made, step);
	}
	return changes;
}

/* ---- both ---- */

static struct gp_what_ifs checkpointed(const struct gp_trace *trace)
{
	struct gp_settings settings;
	uint64_t capacity = GP_UNLIMITED;
	struct gp_what_if asked = { NULL, "all" };
	size_t rows;
	const struct gp_what_if_row *table = gp_what_if_table(&rows);
	const struct gp_what_if_config config = {
		.trace = trace,
		.asked = &asked,
		.count = 1,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.conf = "",
		.capacity = &capacity,
	};
	struct gp_what_ifs made;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	while (strcmp(table->name, "checkpointing") != 0)
		table++;
	asked.row = table;
	ck_assert_msg(gp_what_ifs_make(&config, &made, &diag) == GP_OK, "%s",
		      diag.what);
	return made;
}

/* A trace numbers its blocks as they are asked for. */
static void compare(const struct gp_device_trace *device,
		    const struct program *made, uint64_t seed)
{
	uint32_t numbers[MOST], blocks = 0;

	ck_assert_uint_eq(device->event_count, made->count);
	for (size_t i = 0; i < made->count; i++) {
		const struct gp_event *event = &device->events[i];
		const struct step *step = &made->steps[i];

		ck_assert_msg(event->kind == step->kind, "seed %llu, event %zu",
			      (unsigned long long)seed, i);
		if (step->kind == GP_ALLOC) {
			numbers[step->id] = blocks++;
			ck_assert_uint_eq(event->size, step->size);
		}
		if (step->kind != GP_EMPTY_CACHE)
			ck_assert_uint_eq(event->id, numbers[step->id]);
	}
}

START_TEST(any_program_is_checkpointed_by_the_rule)
{
	unsigned changed = 0;

	for (uint64_t seed = 1; seed <= 4000; seed++) {
		struct program program, expected;
		struct gp_trace *trace;
		struct gp_what_ifs made;
		unsigned changes;

		make_up(&program, seed);
		changes = apply(&program, &expected);
		trace = trace_of_program(&program);
		made = checkpointed(trace);
		ck_assert_uint_eq(made.notes->changes, changes);
		compare(&made.trace->devices[0], &expected, seed);
		changed += changes > 0;
		gp_what_ifs_release(&made);
		gp_trace_destroy(trace);
	}
	ck_assert_uint_gt(changed, 300);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ any_program_is_checkpointed_by_the_rule, 0 },
	};

	return suite_run("checkpointing", tests, COUNT_OF(tests));
}
