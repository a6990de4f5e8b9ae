/* SPDX-License-Identifier: MIT */
/* What-ifs that reorder requests, compared with a slow recomputation for every
 * short program. */
#include "study/what_if/what_if.h"

#include "suite.h"
#include "trace_text.h"

/*
 * A program is a word: 'a' and 'b' request 512 and 1,024 bytes, 'f' frees the
 * oldest block, 's' sets a memory fraction, 'c' changes settings, 'v' is other
 * processes' memory, 'm' a mark, and 'o' an outcome.
 */
#define LETTERS "abfscvmo"
#define LENGTH	4
#define SIZE	512

struct event {
	char letter;
	int block; /* of a request and its free */
};

struct program {
	struct event events[2 * LENGTH];
	size_t count;
};

static void add(struct program *p, char letter, int block)
{
	p->events[p->count++] = (struct event){ letter, block };
}

static bool is_request(const struct event *e)
{
	return e->letter == 'a' || e->letter == 'b';
}

/* The n-th word; a free with no block to free is left out. */
static struct program program_of(unsigned n)
{
	struct program p = { 0 };
	int requested = 0, freed = 0;

	for (int i = 0; i < LENGTH; i++, n /= strlen(LETTERS)) {
		char letter = LETTERS[n % strlen(LETTERS)];

		if (letter == 'a' || letter == 'b')
			add(&p, letter, requested++);
		else if (letter != 'f')
			add(&p, letter, -1);
		else if (freed < requested)
			add(&p, letter, freed++);
	}
	return p;
}

static void put_event(const struct event *e, FILE *out)
{
	switch (e->letter) {
	case 'a':
	case 'b':
		fprintf(out, "{\"op\": \"alloc\", \"id\": %d, \"size\": %d}",
			e->block, e->letter == 'a' ? SIZE : 2 * SIZE);
		break;
	case 'f':
		fprintf(out, "{\"op\": \"free\", \"id\": %d}", e->block);
		break;
	case 's':
		fputs("{\"op\": \"set_memory_fraction\", \"fraction\": 0.5}",
		      out);
		break;
	case 'c':
		fputs("{\"op\": \"set_allocator_settings\", \"conf\": \"\"}",
		      out);
		break;
	case 'v':
		fputs("{\"op\": \"other_memory\", \"bytes\": 512}", out);
		break;
	case 'm': fputs("{\"op\": \"mark\", \"name\": \"m\"}", out); break;
	default:
		fputs("{\"op\": \"segment_alloc\", \"addr\": 33554432, "
		      "\"size\": 2097152}",
		      out);
	}
}

static struct gp_trace *trace_like(const struct program *p)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	for (size_t i = 0; i < p->count; i++) {
		fputs(i ? ", " : "", out);
		put_event(&p->events[i], out);
	}
	fputs("]}]}", out);
	fclose(out);
	return trace_of(text);
}

/* Whether the event affects the requests after it. */
static bool is_setting(char letter)
{
	return strchr("scvm", letter) != NULL;
}

/* ---- what the what-ifs should do ---- */

/* Exchanges neighbouring requests, with only outcomes between them, as long as
 * the first one is the smaller. */
static struct program sorted(struct program p)
{
	for (size_t n = p.count; n-- > 0;)
		for (size_t i = 0; i < p.count; i++) {
			struct event *a = &p.events[i], *b = a + 1, e = *a;

			while (b < p.events + p.count && b->letter == 'o')
				b++;
			if (a->letter != 'a' || b == p.events + p.count ||
			    b->letter != 'b')
				continue;
			*a = *b;
			*b = e;
		}
	return p;
}

static size_t lifetime(const struct program *p, size_t request)
{
	for (size_t i = request; i < p->count; i++)
		if (p->events[i].letter == 'f' &&
		    p->events[i].block == p->events[request].block)
			return i - request;
	return p->count - request;
}

/* Whether the block of a request lives for that many percent of the program. */
static bool is_long_lived(const struct program *p, size_t i, unsigned percent)
{
	return is_request(&p->events[i]) &&
	       lifetime(p, i) * 100 >= p->count * percent;
}

static struct program preallocated(const struct program *p, unsigned percent,
				   uint64_t *changes)
{
	struct program made = { 0 };
	size_t first = 0;

	while (first < p->count && is_setting(p->events[first].letter))
		made.events[made.count++] = p->events[first++];
	for (const char *size = "ba"; *size; size++)
		for (size_t i = 0; i < p->count; i++)
			if (p->events[i].letter == *size &&
			    is_long_lived(p, i, percent))
				made.events[made.count++] = p->events[i];
	*changes = made.count - first;
	for (size_t i = first; i < p->count; i++)
		if (is_long_lived(p, i, percent))
			add(&made, 'o', -1);
		else
			made.events[made.count++] = p->events[i];
	return made;
}

/* ---- what the what-ifs do ---- */

static char letter_of(const struct gp_event *event)
{
	switch (event->kind) {
	case GP_ALLOC: return event->size == SIZE ? 'a' : 'b';
	case GP_FREE: return 'f';
	case GP_SET_FRACTION: return 's';
	case GP_SET_SETTINGS: return 'c';
	case GP_OTHER_MEMORY: return 'v';
	case GP_MARK: return 'm';
	default: return 'o'; /* left out */
	}
}

static struct gp_what_ifs made_of(const struct gp_trace *trace,
				  const char *name, char *argument)
{
	struct gp_what_if asked = { gp_what_if_find(name), argument };
	const struct gp_what_if_config config = { .trace = trace,
						  .asked = &asked,
						  .count = 1 };
	struct gp_what_ifs made;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_what_ifs_make(&config, &made, &diag), GP_OK);
	return made;
}

/* In a trace, blocks of the same size differ only in their ids, so the order of
 * sizes is what counts. */
static void check_events(const struct gp_trace *trace, const struct program *p,
			 unsigned n)
{
	const struct gp_device_trace *t = &trace->devices[0];

	ck_assert_uint_eq(t->event_count, p->count);
	for (size_t i = 0; i < p->count; i++)
		ck_assert_msg(letter_of(&t->events[i]) == p->events[i].letter,
			      "program %u, event %zu", n, i);
}

static unsigned program_count(void)
{
	unsigned n = 1;

	for (int i = 0; i < LENGTH; i++)
		n *= (unsigned)strlen(LETTERS);
	return n;
}

START_TEST(runs_of_requests_are_sorted)
{
	const struct gp_what_if_row *row = gp_what_if_find("sort-step");

	for (unsigned n = 0; n < program_count(); n++) {
		struct program p = program_of(n), want = sorted(p);
		struct gp_trace *trace = trace_like(&p);
		struct gp_what_ifs made = made_of(trace, "sort-step", NULL);
		uint64_t moved = 0;

		for (size_t i = 0; i < want.count; i++)
			moved += want.events[i].letter != p.events[i].letter ||
				 want.events[i].block != p.events[i].block;
		ck_assert_uint_eq(made.notes->changes, moved);
		ck_assert_int_eq(gp_what_if_may_change(row, trace), moved != 0);
		check_events(made.trace, &want, n);
		gp_what_ifs_release(&made);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(long_lived_blocks_are_requested_first)
{
	static const unsigned shares[] = { 0, 1, 40, 60, 100 };

	for (unsigned n = 0; n < program_count(); n++) {
		struct program p = program_of(n);
		struct gp_trace *trace = trace_like(&p);

		for (size_t i = 0; i < COUNT_OF(shares); i++) {
			char argument[8];
			uint64_t changes;
			struct program want;
			struct gp_what_ifs made;

			snprintf(argument, sizeof(argument), "%u%%", shares[i]);
			want = preallocated(&p, shares[i], &changes);
			made = made_of(trace, "preallocate", argument);
			ck_assert_uint_eq(made.notes->changes, changes);
			check_events(made.trace, &want, n);
			gp_what_ifs_release(&made);
		}
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("order");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, runs_of_requests_are_sorted);
	tcase_add_test(tcase, long_lived_blocks_are_requested_first);
	return suite_play("order", tcase);
}
