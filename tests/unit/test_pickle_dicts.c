/* SPDX-License-Identifier: MIT */
/*
 * Generated entries, written as a pickle in every way that protocol 4 has for
 * their values, and as JSON: both must be read as the same.
 */
#include <inttypes.h>

#include "gpupool/trace.h"

#include "pickle_text.h"
#include "suite.h"

enum key {
	ACTION,
	ADDR,
	SIZE,
	STREAM,
	TIME_US,
	FRAMES,
	POOL_ID,
	OTHERS, /* four without a meaning */
	KEYS = OTHERS + 4
};

static const char *const keys[KEYS] = {
	"action",  "addr",    "size", "stream", "time_us",	 "frames",
	"pool_id", "context", "note", "x",	"user_metadata",
};

static const char *const actions[] = { "alloc", "free_requested",
				       "free_completed" };

/* How entries are written: those of one shape differ only in numbers and
 * references. */
struct shape {
	enum key order[KEYS];
	unsigned count;
	char opcode[KEYS];
	unsigned bytes[KEYS]; /* of LONG1 */
	bool is_memoized[KEYS];
};

struct writer {
	uint64_t seed;
	struct pickle pickle;
	FILE *json;
	uint32_t memo;		   /* entries so far */
	uint32_t first;		   /* of the keys; then actions, frames */
	uint32_t pair, pair_value; /* the last pair memoized; 0: none */
};

static uint64_t below(struct writer *w, uint64_t n)
{
	return next_random(&w->seed) % n;
}

static void put_bytes(struct writer *w, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		add(&w->pickle, value >> 8 * (i < 8 ? i : 7) & 255);
}

static void put_get(struct writer *w, uint32_t index)
{
	bool is_short = index < 256;

	add(&w->pickle, is_short ? 'h' : 'j');
	put_bytes(w, index, is_short ? 1 : 4);
}

static void put_memoize(struct writer *w)
{
	add(&w->pickle, 0x94);
	w->memo++;
}

/* A number with as many bytes as its opcode has; the top bit is zero, except in
 * a stream. */
static int64_t put_number(struct writer *w, char opcode, unsigned bytes,
			  bool is_signed)
{
	unsigned n = opcode == 'K' ? 1 : opcode == 'M' ? 2 : 4;
	uint64_t value;

	if (opcode == 'L')
		n = bytes;
	value = next_random(&w->seed) >> (n < 8 ? 64 - 8 * n : 0);
	if (opcode == 'J' || opcode == 'L')
		value &= (UINT64_C(1) << (8 * (n < 7 ? n : 7) - 1)) - 1;
	if (is_signed && (opcode == 'J' || opcode == 'L') && below(w, 2))
		value = ~value;
	add(&w->pickle, opcode == 'L' ? 0x8a : opcode);
	if (opcode == 'L')
		add(&w->pickle, (int)n);
	put_bytes(w, value, n);
	return (int64_t)value;
}

static void put_text(struct writer *w, const char *text, bool is_memoized)
{
	add_text(&w->pickle, text);
	if (is_memoized)
		put_memoize(w);
}

/* A pair that was memoized before, an equal one, or a different one. */
static unsigned put_pair(struct writer *w, bool is_memoized)
{
	unsigned value = (unsigned)below(w, 3);

	if (w->pair && !below(w, 3)) {
		put_get(w, w->pair);
		return w->pair_value;
	}
	add(&w->pickle, 'K');
	add(&w->pickle, 0);
	add(&w->pickle, 'K');
	add(&w->pickle, (int)value);
	add(&w->pickle, 0x86);
	if (is_memoized) {
		w->pair = w->memo;
		w->pair_value = value;
		put_memoize(w);
	}
	return value;
}

static void put_value(struct writer *w, const struct shape *s, enum key key)
{
	static const char text[] = "abcdefghi";
	char said[32];
	unsigned n;

	if (key == ACTION) {
		n = (unsigned)below(w, COUNT_OF(actions));
		if (s->opcode[key] == 'h')
			put_get(w, w->first + KEYS + n);
		else
			put_text(w, actions[n], s->is_memoized[key]);
		fprintf(w->json, "\"%s\"", actions[n]);
	} else if (key == FRAMES) {
		n = (unsigned)below(w, 2);
		put_get(w, w->first + KEYS + COUNT_OF(actions) + n);
		fprintf(w->json,
			"[{\"filename\": \"a\", \"line\": %u, \"name\": "
			"\"f\"}]",
			n);
	} else if (key == POOL_ID) {
		n = put_pair(w, s->is_memoized[key]);
		fprintf(w->json, "[0, %u]", n);
	} else if (key >= OTHERS && s->opcode[key] == 't') {
		snprintf(said, sizeof(said), "%.*s", (int)s->bytes[key], text);
		put_text(w, said, s->is_memoized[key]);
		fprintf(w->json, "\"%s\"", said);
	} else if (key >= OTHERS && s->opcode[key] == 'h') {
		put_get(w, w->first + (uint32_t)below(w, KEYS));
		fputs("null", w->json);
	} else {
		fprintf(w->json, "%" PRId64,
			put_number(w, s->opcode[key], s->bytes[key],
				   key == STREAM));
	}
}

static struct shape draw_shape(struct writer *w)
{
	static const char opcodes[] = "KMJLLhht";
	struct shape s = { .count = 0 };
	bool is_long = !below(w, 4); /* over 128 bytes */
	/* The mandatory keys first, then some of the others. */
	unsigned count = FRAMES + (unsigned)below(w, KEYS - FRAMES + 1);

	for (unsigned key = 0; key < KEYS; key++) {
		s.opcode[key] = opcodes[below(w, key < OTHERS ? 5 : 8)];
		s.bytes[key] = 1 + (unsigned)below(w, 9);
		if (is_long && key != ACTION) {
			s.opcode[key] = 'L';
			s.bytes[key] = 7;
		}
		s.is_memoized[key] = below(w, 2);
	}
	if (below(w, 2))
		s.opcode[ACTION] = 'h';
	if (s.opcode[SIZE] == 'L' && s.bytes[SIZE] > 6)
		s.bytes[SIZE] = 6;
	for (unsigned key = 0; key < KEYS && s.count < count; key++)
		if (key < FRAMES || below(w, 3)) {
			unsigned at = (unsigned)below(w, s.count + 1);

			s.order[s.count++] = s.order[at];
			s.order[at] = (enum key)key;
		}
	return s;
}

static void put_entry(struct writer *w, const struct shape *s)
{
	add(&w->pickle, '}');
	put_memoize(w);
	add(&w->pickle, '(');
	for (unsigned i = 0; i < s->count; i++) {
		put_get(w, w->first + s->order[i]);
		fprintf(w->json, "%s\"%s\": ", i ? ", " : "{",
			keys[s->order[i]]);
		put_value(w, s, s->order[i]);
	}
	add(&w->pickle, 'u');
	fputs("}", w->json);
}

static void put_names(struct writer *w)
{
	/* References to entries beyond the first 256 are longer. */
	for (uint64_t n = below(w, 2) * 300 + below(w, 8); n; n--) {
		add_notation(&w->pickle, "'k'$30");
		w->pickle.n--;
		put_memoize(w);
		add(&w->pickle, '0');
	}
	w->first = w->memo;
	for (unsigned i = 0; i < KEYS; i++) {
		put_text(w, keys[i], true);
		add(&w->pickle, '0');
	}
	for (unsigned i = 0; i < COUNT_OF(actions); i++) {
		put_text(w, actions[i], true);
		add(&w->pickle, '0');
	}
	for (int i = 0; i < 2; i++) {
		add(&w->pickle, ']');
		put_memoize(w);
		add_notation(&w->pickle, "(}('filename''a''line'K");
		add(&w->pickle, i);
		add_notation(&w->pickle, "'name''f'ue$30");
	}
}

#define SHAPES 14

static void put_trace(struct writer *w, unsigned entries)
{
	struct shape shapes[SHAPES];
	unsigned shape = 0, known = 1 + (unsigned)below(w, SHAPES);

	for (unsigned i = 0; i < known; i++)
		shapes[i] = draw_shape(w);
	add_notation(&w->pickle, "$80$04");
	put_names(w);
	add_notation(&w->pickle, "}('segments'] 'device_traces'](](");
	fputs("{\"segments\": [], \"device_traces\": [[", w->json);
	for (unsigned i = 0; i < entries; i++) {
		if (!below(w, 2))
			shape = (unsigned)below(w, known);
		fputs(i ? ", " : "", w->json);
		put_entry(w, &shapes[shape]);
	}
	fputs("]]}", w->json);
	add_notation(&w->pickle, "eeu.");
	put_bytes(w, 0, 300); /* so that no entry is near the end */
}

static const char *text_of(const struct gp_trace *trace, uint32_t site)
{
	return site == GP_NO_SITE ? "" : trace->texts[trace->sites[site].text];
}

/* Frames that no entry has are read from the pickle, too, and come first. */
static bool is_same(const struct gp_trace *a, const struct gp_trace *b)
{
	const struct gp_device_trace *d = &a->devices[0], *e = &b->devices[0];
	bool same = d->event_count == e->event_count &&
		    !memcmp(&d->guesses, &e->guesses, sizeof(d->guesses)) &&
		    !memcmp(&a->release, &b->release, sizeof(a->release)) &&
		    a->pool_count == b->pool_count &&
		    a->stream_count == b->stream_count &&
		    !memcmp(a->streams, b->streams,
			    a->stream_count * sizeof(*a->streams));

	for (size_t i = 0; same && i < a->pool_count; i++)
		same = a->pools[i].first == b->pools[i].first &&
		       a->pools[i].second == b->pools[i].second;
	for (size_t i = 0; same && i < d->event_count; i++) {
		struct gp_event of_b = e->events[i];

		same = !strcmp(text_of(a, d->events[i].site),
			       text_of(b, of_b.site));
		of_b.site = d->events[i].site;
		same &= !memcmp(&d->events[i], &of_b, sizeof(of_b));
	}
	return same;
}

#define LOOPS 6 /* each has seconds of its own */
#define SEEDS 40

START_TEST(every_way_to_write_an_entry_is_the_same)
{
	for (uint64_t i = 0; i < SEEDS; i++) {
		uint64_t seed = i * LOOPS + (uint64_t)_i;
		struct writer w = { .seed = seed };
		struct gp_trace *a, *b;
		struct gp_diag diag;
		char *text;
		size_t length;

		w.json = open_memstream(&text, &length);
		put_trace(&w, 1 + (unsigned)below(&w, 60));
		ck_assert_int_eq(fclose(w.json), 0);
		a = trace_of(text);
		ck_assert_msg(try_bytes(w.pickle.bytes, w.pickle.n, &b,
					&diag) == GP_OK,
			      "%" PRIu64 ": %s: %s", seed, diag.record,
			      diag.what);
		ck_assert_msg(is_same(a, b), "%" PRIu64, seed);
		free(text);
		gp_trace_destroy(a);
		gp_trace_destroy(b);
	}
}
END_TEST

/* Memo: 0 filename, 1 line, 2 name, 3 the file's, 4 the function's. */
START_TEST(frames_that_are_alike_are_no_entries)
{
#define FRAME(line) "}$94(h$00h$03h$01K$" #line "h$02h$04u"
	struct pickle pickle = { .n = 0 };
	struct gp_trace *trace;
	struct gp_diag diag;

	add_notation(&pickle,
		     "$80$04'filename'$94$30'line'$94$30'name'$94$30"
		     "'a'$94$30'f'$94$30"
		     "}('device_traces' ](](}('action''alloc'" PLACE
		     "'frames'](" FRAME(01) FRAME(02) FRAME(03) "euee u.");
	for (int i = 0; i < 300; i++)
		add(&pickle, 0);
	ck_assert_int_eq(try_bytes(pickle.bytes, pickle.n, &trace, &diag),
			 GP_OK);
	ck_assert_uint_eq(trace->devices[0].event_count, 1);
	ck_assert_uint_eq(trace->site_count, 3);
	gp_trace_destroy(trace);
}
END_TEST

/* The second of two similar entries. Memo: 0 action, 1 addr, 2 size, 3 stream,
 * 4 alloc, then the entries. */
START_TEST(what_is_wrong_in_one_like_another_is_refused)
{
	static const struct {
		const char *key, *action, *addr, *size, *time_us, *other;
		bool is_good;
	} rows[] = {
#define ADDR_OK "J$00$00$01$00"
#define SIZE_OK "$8a$02$00$02"
#define TIME_OK "$8a$07$01$02$03$04$05$06$07"
		{ "$00", "$04", ADDR_OK, SIZE_OK, TIME_OK, "$05", true },
		{ "$00", "$04", "J$ff$ff$ff$7f", SIZE_OK, TIME_OK, "$05",
		  true },
		{ "$00", "$04", "J$00$00$01$80", SIZE_OK, TIME_OK, "$05",
		  false },
		{ "$00", "$04", ADDR_OK, "$8a$02$ff$7f", TIME_OK, "$05", true },
		{ "$00", "$04", ADDR_OK, "$8a$02$00$80", TIME_OK, "$05",
		  false },
		{ "$00", "$07", ADDR_OK, SIZE_OK, TIME_OK, "$05",
		  false }, /* itself */
		{ "$00", "$08", ADDR_OK, SIZE_OK, TIME_OK, "$05",
		  false }, /* not yet */
		{ "$00", "$ff", ADDR_OK, SIZE_OK, TIME_OK, "$05", false },
		{ "$00", "$01", ADDR_OK, SIZE_OK, TIME_OK, "$05",
		  false }, /* no action */
		{ "$00", "$04", ADDR_OK, SIZE_OK, TIME_OK, "$00", true },
		{ "$00", "$04", ADDR_OK, SIZE_OK, TIME_OK, "$06", true },
		{ "$00", "$04", ADDR_OK, SIZE_OK, TIME_OK, "$08", false },
		{ "$00", "$04", ADDR_OK, SIZE_OK, TIME_OK, "$ff", false },
		/* A key other than "action". */
		{ "$04", "$04", ADDR_OK, SIZE_OK, TIME_OK, "$05", false },
	};
#define LIKE(key, action, addr, size, time, other)                             \
	"}$94(h" key "h" action "h$01" addr "h$02" size "h$03K$00h$05" time    \
	"h$04h" other "u"

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct pickle pickle = { .n = 0 };
		struct gp_trace *trace;
		struct gp_diag diag;
		char text[1024];

		snprintf(text, sizeof(text),
			 "$80$04'action'$94$30'addr'$94$30'size'$94$30"
			 "'stream'$94$30'alloc'$94$30'time_us'$94$30"
			 "}('device_traces' ](](" LIKE("$00", "$04", ADDR_OK,
						       SIZE_OK, TIME_OK, "$05")
				 LIKE("%s", "%s", "%s", "%s", "%s",
				      "%s") "ee u.",
			 rows[i].key, rows[i].action, rows[i].addr,
			 rows[i].size, rows[i].time_us, rows[i].other);
		add_notation(&pickle, text);
		for (int k = 0; k < 300; k++)
			add(&pickle, 0);
		ck_assert_msg((try_bytes(pickle.bytes, pickle.n, &trace,
					 &diag) == GP_OK) == rows[i].is_good,
			      "%zu", i);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("pickle_dicts");

	tcase_add_test(tcase, frames_that_are_alike_are_no_entries);
	tcase_add_test(tcase, what_is_wrong_in_one_like_another_is_refused);
	tcase_add_loop_test(tcase, every_way_to_write_an_entry_is_the_same, 0,
			    LOOPS);
	return suite_play("pickle_dicts", tcase);
}
