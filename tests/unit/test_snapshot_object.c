/* SPDX-License-Identifier: MIT */
/*
 * A single snapshot, written as JSON and as pickles of many kinds: whatever it
 * contains, and whatever is wrong with one of its values, all are read as the
 * same trace, or refused with the same message.
 */
#include "base/arena.h"
#include "suite.h"
#include "trace_text.h"

/* ---- values, as in Python ---- */

enum kind { NONE, TRUE, FALSE, NUMBER, FLOAT, TEXT, LIST, TUPLE, DICT };

struct value {
	enum kind kind;
	bool is_negative;
	uint64_t number; /* the magnitude of a number */
	double real;
	const char *text;
	struct value **items; /* of a dict: key, value, key, ... */
	size_t count;
	uint32_t kept; /* its number in the pickle's memo, from 1; 0: none */
};

/* How a snapshot is generated. */
struct maker {
	struct gp_arena arena;
	uint64_t seed;
	/* Values until one is wrong; 0: none is wrong. */
	unsigned odd;
	bool shuffles; /* the keys of dicts */
	struct value *stacks[4];
	struct value *texts[64];
	size_t text_count;
};

static uint64_t pick(struct maker *m, uint64_t below)
{
	return next_random(&m->seed) % below;
}

#define MOST_ITEMS 512

static struct value *make(struct maker *m, enum kind kind)
{
	struct value *value = gp_arena_alloc(&m->arena, 1, sizeof(*value));

	value->kind = kind;
	if (kind >= LIST)
		value->items = gp_arena_alloc(&m->arena, MOST_ITEMS,
					      sizeof(*value->items));
	return value;
}

static struct value *number(struct maker *m, uint64_t n)
{
	struct value *value = make(m, NUMBER);

	value->number = n;
	return value;
}

static struct value *negative(struct maker *m, uint64_t magnitude)
{
	struct value *value = number(m, magnitude);

	value->is_negative = true;
	return value;
}

static struct value *real(struct maker *m, double x)
{
	struct value *value = make(m, FLOAT);

	value->real = x;
	return value;
}

/* As in Python, a name that occurs twice is a single object. */
static struct value *text(struct maker *m, const char *of)
{
	struct value *value;

	for (size_t i = 0; i < m->text_count; i++)
		if (!strcmp(m->texts[i]->text, of))
			return m->texts[i];
	value = make(m, TEXT);
	value->text = of;
	if (m->text_count < COUNT_OF(m->texts))
		m->texts[m->text_count++] = value;
	return value;
}

static void add(struct value *to, struct value *item)
{
	ck_assert_uint_lt(to->count, MOST_ITEMS);
	to->items[to->count++] = item;
}

static struct value *pair(struct maker *m, uint64_t first, uint64_t second)
{
	struct value *value = make(m, TUPLE);

	add(value, number(m, first));
	add(value, number(m, second));
	return value;
}

/* A value that no key of PyTorch's has. */
static struct value *odd_value(struct maker *m)
{
	struct value *value;

	switch (pick(m, 15)) {
	case 0: return make(m, NONE);
	case 1: return make(m, TRUE);
	case 2: return make(m, FALSE);
	case 3: return negative(m, 1 + pick(m, 70000));
	case 4: return number(m, (UINT64_C(1) << 55) + pick(m, 3) - 1);
	case 5: return number(m, INT64_MAX);
	case 6: return real(m, 0.5);
	case 7: return text(m, "");
	case 8: return text(m, "small");
	case 9: return make(m, DICT);
	case 10:
		value = make(m, LIST);
		add(value, number(m, 7));
		return value;
	case 11:
		value = make(m, LIST);
		add(value, number(m, 7));
		add(value, text(m, ""));
		return value;
	case 12:
		value = make(m, LIST);
		add(value, text(m, ""));
		add(value, number(m, 7));
		return value;
	case 13:
		value = pair(m, 0, 0);
		add(value, number(m, 3));
		return value;
	default: return make(m, LIST);
	}
}

/* A dict of a pickle is recognised by such keys, one in JSON by its place. */
static bool tells_kind(const char *key)
{
	static const char *const keys[] = {
		"action",     "filename",  "line",     "state",	       "stage",
		"total_size", "real_size", "segments", "device_traces"
	};

	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* A key and its value; once in a file, the value or the key is another one. */
static void set(struct maker *m, struct value *dict, const char *key,
		struct value *value)
{
	if (m->odd && !--m->odd) {
		if (!tells_kind(key) && !pick(m, 3))
			return;
		value = odd_value(m);
	}
	add(dict, text(m, key));
	add(dict, value);
}

static struct value *shuffled(struct maker *m, struct value *dict)
{
	for (size_t i = 1; m->shuffles && i < dict->count / 2; i++) {
		size_t k = pick(m, i + 1);

		for (size_t j = 0; j < 2; j++) {
			struct value *one = dict->items[2 * i + j];

			dict->items[2 * i + j] = dict->items[2 * k + j];
			dict->items[2 * k + j] = one;
		}
	}
	return dict;
}

/* ---- a snapshot ---- */

#define MIB (UINT64_C(1) << 20)

/* A text of up to nine bytes; other texts differ from it by a bit or by a
 * byte. */
static const char *like_others(struct maker *m)
{
	char *text = gp_arena_alloc(&m->arena, 10, 1);

	for (uint64_t n = pick(m, 10), i = 0; i < n; i++)
		text[i] = pick(m, 3) ? 'a' : (char)('a' ^ 1 << pick(m, 5));
	return text;
}

static struct value *make_frame(struct maker *m, uint64_t i)
{
	static const char *const names[] = { "forward", "f \"quoted\"", "g\\h",
					     "a name of more than 255 " };
	static char long_name[400];
	struct value *frame = make(m, DICT);
	const char *name = names[i % COUNT_OF(names)];

	memset(long_name, 'x', sizeof(long_name) - 1);
	if (i % 5 == 4)
		name = long_name;
	else if (i % 2)
		name = like_others(m);
	set(m, frame, "name", text(m, name));
	set(m, frame, "filename", text(m, i % 2 ? "b.py" : "/a/\xc3\xa4.py"));
	set(m, frame, "line", number(m, i * 77));
	return shuffled(m, frame);
}

static void make_stacks(struct maker *m)
{
	for (size_t i = 0; i < COUNT_OF(m->stacks); i++) {
		m->stacks[i] = make(m, LIST);
		for (size_t k = 0; k < i * i; k++)
			add(m->stacks[i], make_frame(m, pick(m, 6)));
	}
}

static struct value *some_stack(struct maker *m)
{
	return m->stacks[pick(m, COUNT_OF(m->stacks))];
}

/* Numbers of each width that a pickle has. */
static struct value *some_address(struct maker *m)
{
	return number(m, 512 * (1 + pick(m, UINT64_C(1) << 4 * pick(m, 14))));
}

static struct value *some_stream(struct maker *m)
{
	static const uint64_t streams[] = {
		0, 0, 0, 7, 255, 256, 65536, UINT64_C(0x7f0000000010)
	};

	return pick(m, 20) ? number(m, streams[pick(m, COUNT_OF(streams))])
			   : negative(m, 1 + pick(m, 300));
}

static struct value *some_pool(struct maker *m)
{
	struct value *pool =
		pick(m, 3) ? pair(m, 0, 0) : pair(m, pick(m, 2), pick(m, 300));

	/* as after JSON, which has no tuples */
	if (!pick(m, 8))
		pool->kind = LIST;
	return pool;
}

static struct value *make_entry(struct maker *m, unsigned release)
{
	static const char *const actions[] = {
		"alloc",
		"alloc",
		"alloc",
		"free_requested",
		"free_completed",
		"segment_alloc",
		"segment_free",
		"segment_map",
		"segment_unmap",
		"snapshot",
		"oom",
		"user_defined",
	};
	struct value *entry = make(m, DICT);
	const char *action = actions[pick(m, COUNT_OF(actions))];

	set(m, entry, "action", text(m, action));
	set(m, entry, strcmp(action, "oom") ? "addr" : "device_free",
	    some_address(m));
	set(m, entry, "size", number(m, pick(m, UINT64_C(1) << pick(m, 34))));
	set(m, entry, "stream", some_stream(m));
	if (release >= 2)
		set(m, entry, "time_us", number(m, pick(m, UINT64_C(1) << 51)));
	if (release >= 8)
		set(m, entry, "compile_context", text(m, "N/A"));
	if (release >= 10)
		set(m, entry, "user_metadata", text(m, ""));
	if (release >= 12)
		set(m, entry, "pool_id", some_pool(m));
	if (pick(m, 4))
		set(m, entry, "frames", some_stack(m));
	return shuffled(m, entry);
}

static struct value *make_trace(struct maker *m, unsigned release)
{
	struct value *trace = make(m, LIST);
	size_t count = pick(m, 5) ? pick(m, 12) : 40 + pick(m, 200);

	for (size_t i = 0; i < count; i++)
		add(trace, make_entry(m, release));
	return trace;
}

static struct value *make_block(struct maker *m, uint64_t addr, uint64_t size,
				unsigned release)
{
	static const char *const states[] = { "active_allocated", "inactive",
					      "active_pending_free",
					      "active_awaiting_free" };
	struct value *block = make(m, DICT), *history, *item;

	if (release >= 1)
		set(m, block, "address", number(m, addr));
	set(m, block, "size", number(m, size));
	if (pick(m, 4))
		set(m, block, "requested_size", number(m, size - pick(m, 512)));
	set(m, block, "state", text(m, states[pick(m, COUNT_OF(states))]));
	if (release >= 1) {
		set(m, block, "frames", some_stack(m));
		return shuffled(m, block);
	}
	history = make(m, LIST);
	for (uint64_t n = pick(m, 3); n; n--) {
		item = make(m, DICT);
		set(m, item, "addr", number(m, addr));
		set(m, item, "real_size", number(m, size));
		set(m, item, "frames", some_stack(m));
		add(history, item);
	}
	set(m, block, "history", history);
	return shuffled(m, block);
}

static struct value *make_segment(struct maker *m, uint64_t i, unsigned release)
{
	struct value *segment = make(m, DICT), *blocks = make(m, LIST);
	uint64_t addr = (1 + i) * 64 * MIB, size = 0;

	for (uint64_t n = 1 + pick(m, pick(m, 6) ? 4 : 40); n; n--) {
		uint64_t bytes = 512 * (1 + pick(m, 2000));

		add(blocks, make_block(m, addr + size, bytes, release));
		size += bytes;
	}
	set(m, segment, "device", number(m, i / 2 % 2));
	set(m, segment, "address", number(m, addr));
	set(m, segment, "total_size", number(m, size));
	set(m, segment, "stream", some_stream(m));
	set(m, segment, "segment_type", text(m, i % 2 ? "large" : "small"));
	set(m, segment, "segment_pool_id", some_pool(m));
	if (release >= 1)
		set(m, segment, "is_expandable",
		    make(m, pick(m, 2) ? TRUE : FALSE));
	set(m, segment, "frames", some_stack(m));
	set(m, segment, "blocks", blocks);
	return shuffled(m, segment);
}

static struct value *make_settings(struct maker *m)
{
	static const char *const keys[] = { "1",   "2",	   "4",	   "8",
					    "256", "1024", "32768" };
	struct value *settings = make(m, DICT), *divisions = make(m, DICT);

	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (pick(m, 2))
			set(m, divisions, keys[i],
			    number(m, UINT64_C(1) << pick(m, 4)));
	set(m, settings, "PYTORCH_CUDA_ALLOC_CONF",
	    text(m, pick(m, 4) ? "" : "max_split_size_mb:64"));
	set(m, settings, "max_split_size",
	    pick(m, 2) ? negative(m, 1) : number(m, pick(m, 99) * MIB));
	set(m, settings, "garbage_collection_threshold",
	    real(m, (double)pick(m, 9) / 8));
	set(m, settings, "expandable_segments",
	    make(m, pick(m, 2) ? TRUE : FALSE));
	set(m, settings, "release_lock_on_cudamalloc",
	    make(m, pick(m, 2) ? TRUE : FALSE));
	set(m, settings, "graph_capture_record_stream_reuse",
	    make(m, pick(m, 2) ? TRUE : FALSE));
	set(m, settings, "roundup_power2_divisions", divisions);
	return shuffled(m, settings);
}

static struct value *make_annotations(struct maker *m)
{
	static const char *const stages[] = { "START", "END", "ELSE" };
	struct value *list = make(m, LIST);

	for (uint64_t n = pick(m, 5); n; n--) {
		struct value *one = make(m, DICT);

		set(m, one, "device", number(m, pick(m, 3)));
		set(m, one, "time_us", number(m, pick(m, UINT64_C(1) << 51)));
		set(m, one, "name", text(m, pick(m, 2) ? "step" : "size"));
		set(m, one, "stage", text(m, stages[pick(m, 3)]));
		add(list, shuffled(m, one));
	}
	return list;
}

/* Unknown keys may have any value, including those of known keys. */
static struct value *make_unknown(struct maker *m, unsigned release)
{
	struct value *list = make(m, LIST);

	for (uint64_t n = pick(m, 4); n; n--)
		switch (pick(m, 6)) {
		case 0: add(list, some_stack(m)); break;
		case 1: add(list, make_settings(m)); break;
		case 2: add(list, make_annotations(m)); break;
		case 3: add(list, make_segment(m, n, release)); break;
		case 4: add(list, make_trace(m, release)); break;
		default: add(list, some_pool(m)); break;
		}
	return list;
}

static struct value *make_snapshot(struct maker *m)
{
	unsigned release = (unsigned)(pick(m, 4) ? pick(m, 13) : 0);
	struct value *top = make(m, DICT), *traces = make(m, LIST);
	struct value *segments = make(m, LIST);

	make_stacks(m);
	if (pick(m, 2))
		set(m, top, "of nobody", make_unknown(m, release));
	for (uint64_t n = pick(m, 4); n; n--)
		add(traces, make_trace(m, release));
	for (uint64_t i = 0, n = pick(m, 6); i < n; i++)
		add(segments, make_segment(m, i, release));
	set(m, top, "segments", segments);
	if (release >= 1)
		set(m, top, "device_traces", traces);
	if (release >= 3)
		set(m, top, "allocator_settings", make_settings(m));
	if (release >= 5)
		set(m, top, "external_annotations", make_annotations(m));
	set(m, top, "of others", make_unknown(m, release));
	return shuffled(m, top);
}

/* ---- as JSON ---- */

static void json_text(FILE *out, const char *of, bool is_wide)
{
	putc('"', out);
	for (; *of; of++)
		if (*of == '"' || *of == '\\')
			fprintf(out, "\\%c", *of);
		else if (is_wide && *of == 'a')
			fputs("\\u0061", out);
		else
			putc(*of, out);
	putc('"', out);
}

/* Wide: like an indented file, in which everything that may be escaped is. */
static void json(FILE *out, const struct value *v, bool is_wide)
{
	const char *marks = v->kind == DICT ? "{}" : "[]";

	switch (v->kind) {
	case NONE: fputs("null", out); return;
	case TRUE: fputs("true", out); return;
	case FALSE: fputs("false", out); return;
	case NUMBER:
		fprintf(out, "%s%llu", v->is_negative ? "-" : "",
			(unsigned long long)v->number);
		return;
	case FLOAT: fprintf(out, "%#.17g", v->real); return;
	case TEXT: json_text(out, v->text, is_wide); return;
	default: break;
	}
	putc(marks[0], out);
	for (size_t i = 0; i < v->count; i++) {
		if (i && (v->kind != DICT || i % 2 == 0))
			fputs(is_wide ? " ,\n\t" : ", ", out);
		else if (i)
			fputs(is_wide ? "\n: " : ": ", out);
		json(out, v->items[i], is_wide);
	}
	fputs(is_wide ? "\n" : "", out);
	putc(marks[1], out);
}

/* ---- as a pickle ---- */

/* As Python's pickler writes it, or in any other way with the same meaning. */
struct style {
	bool is_free;
	uint64_t seed;
	int protocol;
};

struct pickler {
	FILE *out;
	struct style style;
	uint32_t kept;
};

static uint64_t chance(struct pickler *p, uint64_t below)
{
	return p->style.is_free ? next_random(&p->style.seed) % below : 0;
}

static void put_bytes(struct pickler *p, uint64_t number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		putc((int)(i < 8 ? number >> 8 * i & 255 : 0), p->out);
}

/* In as few bytes as hold it and its sign (none for 0), or in a few more. */
static void put_long(struct pickler *p, const struct value *v)
{
	uint64_t bits = v->is_negative ? -v->number : v->number;
	int bytes = 1;

	while (bytes < 9 &&
	       (v->is_negative ? v->number > UINT64_C(1) << (8 * bytes - 1)
			       : v->number >> (8 * bytes - 1)))
		bytes++;
	if (!v->number && chance(p, 3) == 2)
		bytes = 0;
	else if (chance(p, 3) == 1 && bytes < 8)
		bytes++;
	if (chance(p, 5) == 1) {
		putc(0x8b, p->out);
		put_bytes(p, (uint64_t)bytes, 4);
	} else {
		putc(0x8a, p->out);
		putc(bytes, p->out);
	}
	for (int i = 0; i < bytes; i++)
		putc((int)(i < 8	    ? bits >> 8 * i & 255
			   : v->is_negative ? 255
					    : 0),
		     p->out);
}

static void put_number(struct pickler *p, const struct value *v)
{
	if (chance(p, 4) == 1) {
		put_long(p, v);
	} else if (!v->is_negative && v->number < 256 && chance(p, 4) != 2) {
		putc('K', p->out);
		put_bytes(p, v->number, 1);
	} else if (!v->is_negative && v->number < 65536 && chance(p, 4) != 2) {
		putc('M', p->out);
		put_bytes(p, v->number, 2);
	} else if (v->number < UINT64_C(1) << 31) {
		putc('J', p->out);
		put_bytes(p, v->is_negative ? -v->number : v->number, 4);
	} else {
		put_long(p, v);
	}
}

static void put_text(struct pickler *p, const char *of)
{
	size_t length = strlen(of);
	bool is_short = length < 256 && p->style.protocol >= 4;

	if (p->style.protocol >= 4 && chance(p, 6) == 1) {
		putc(0x8d, p->out);
		put_bytes(p, length, 8);
	} else if (is_short && chance(p, 4) != 1) {
		putc(0x8c, p->out);
		put_bytes(p, length, 1);
	} else {
		putc('X', p->out);
		put_bytes(p, length, 4);
	}
	fwrite(of, 1, length, p->out);
}

static void keep(struct pickler *p, struct value *v)
{
	if (chance(p, 4) == 1)
		return;
	v->kept = ++p->kept;
	if (p->style.protocol >= 4 && chance(p, 3) != 1) {
		putc(0x94, p->out);
	} else if (p->kept <= 256 && chance(p, 4) != 1) {
		putc('q', p->out);
		put_bytes(p, p->kept - 1, 1);
	} else {
		putc('r', p->out);
		put_bytes(p, p->kept - 1, 4);
	}
}

static bool put_again(struct pickler *p, const struct value *v)
{
	if (!v->kept || chance(p, 5) == 1)
		return false;
	if (v->kept <= 256) {
		putc('h', p->out);
		put_bytes(p, v->kept - 1, 1);
	} else {
		putc('j', p->out);
		put_bytes(p, v->kept - 1, 4);
	}
	return true;
}

static void put(struct pickler *p, struct value *v);

static void put_items(struct pickler *p, const struct value *v, size_t from,
		      size_t to)
{
	for (size_t i = from; i < to; i++)
		put(p, v->items[i]);
}

/* Items are appended one by one, or in batches, like Python's; those of a list
 * in batches of any size. */
static void put_batches(struct pickler *p, const struct value *v)
{
	const size_t unit = v->kind == DICT ? 2 : 1;
	/* A pair that is a list is recognised by its items, which are set at
	 * once. */
	bool is_pair =
		v->kind == LIST && v->count == 2 && v->items[0]->kind == NUMBER;
	bool one_by_one = !is_pair && chance(p, 3) == 1;

	for (size_t i = 0, n; i < v->count; i += n) {
		n = one_by_one ? unit : v->count - i;
		if (v->kind == LIST && n > 1 && !is_pair && chance(p, 3) == 1)
			n = 1 + chance(p, n);
		if (n == unit && chance(p, 6) != 1) {
			put_items(p, v, i, i + n);
			putc(v->kind == DICT ? 's' : 'a', p->out);
			continue;
		}
		putc('(', p->out);
		put_items(p, v, i, i + n);
		putc(v->kind == DICT ? 'u' : 'e', p->out);
	}
}

static void put_tuple(struct pickler *p, struct value *v)
{
	static const int opcodes[] = { ')', 0x85, 0x86, 0x87 };

	if (v->count <= 3 && chance(p, 3) != 1) {
		put_items(p, v, 0, v->count);
		putc(opcodes[v->count], p->out);
	} else {
		putc('(', p->out);
		put_items(p, v, 0, v->count);
		putc('t', p->out);
	}
	keep(p, v);
}

static void put_container(struct pickler *p, struct value *v)
{
	if (chance(p, 5) == 1) {
		putc('(', p->out);
		put_items(p, v, 0, v->count);
		putc(v->kind == DICT ? 'd' : 'l', p->out);
		keep(p, v);
		return;
	}
	putc(v->kind == DICT ? '}' : ']', p->out);
	keep(p, v);
	put_batches(p, v);
}

static void put_float(struct pickler *p, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	putc('G', p->out);
	for (int i = 7; i >= 0; i--)
		putc((int)(bits >> 8 * i & 255), p->out);
}

static void put(struct pickler *p, struct value *v)
{
	if (v->kind >= TEXT && put_again(p, v))
		return;
	switch (v->kind) {
	case NONE: putc('N', p->out); return;
	case TRUE: putc(0x88, p->out); return;
	case FALSE: putc(0x89, p->out); return;
	case NUMBER: put_number(p, v); return;
	case FLOAT: put_float(p, v->real); return;
	case TEXT:
		put_text(p, v->text);
		keep(p, v);
		return;
	case TUPLE: put_tuple(p, v); return;
	default: put_container(p, v); return;
	}
}

static void forget(struct value *v)
{
	v->kept = 0;
	for (size_t i = 0; v->kind >= LIST && i < v->count; i++)
		forget(v->items[i]);
}

static void pickle(FILE *out, struct value *v, struct style style)
{
	struct pickler p = { .out = out, .style = style };

	forget(v);
	putc(0x80, out);
	putc(style.protocol, out);
	/* Data after frames has its own length. */
	if (style.protocol >= 4) {
		putc(0x95, out);
		put_bytes(&p, 1000, 8);
	}
	put(&p, v);
	putc('.', out);
}

/* ---- comparisons ---- */

struct reading {
	enum gp_status status;
	struct gp_trace *trace;
	struct gp_diag diag;
};

static struct reading read_json(const struct value *v, bool is_wide)
{
	struct reading reading = { 0 };
	FILE *file = tmpfile();

	json(file, v, is_wide);
	reading.status = try_stream(file, &reading.trace, &reading.diag);
	fclose(file);
	return reading;
}

static struct reading read_pickle(struct value *v, struct style style)
{
	struct reading reading = { 0 };
	FILE *file = tmpfile();

	pickle(file, v, style);
	reading.status = try_stream(file, &reading.trace, &reading.diag);
	fclose(file);
	return reading;
}

static void same_message(const struct gp_diag *a, const struct gp_diag *b)
{
	ck_assert_str_eq(a->what, b->what);
	ck_assert_str_eq(a->record, b->record);
}

static void same_reading(const struct reading *a, const struct reading *b,
			 unsigned round)
{
	ck_assert_msg(a->status == b->status, "round %u: \"%s\" and \"%s\"",
		      round, a->diag.what, b->diag.what);
	if (!a->status)
		ck_assert_msg(gp_trace_equal(a->trace, b->trace),
			      "round %u: two traces", round);
	/* Errors of the JSON parser itself have a line. */
	if (!strncmp(a->diag.record, "line ", 5))
		ck_assert_str_ne(b->diag.what, "");
	else
		same_message(&a->diag, &b->diag);
	gp_trace_destroy(b->trace);
}

static bool compare(struct value *v, unsigned round)
{
	struct reading first = read_json(v, false), other;

	other = read_json(v, true);
	same_reading(&first, &other, round);
	for (int i = 0; i < 4; i++) {
		other = read_pickle(
			v, (struct style){ i > 1, round * 4 + (unsigned)i,
					   i % 2 ? 4 : 2 + (int)round % 4 });
		same_reading(&first, &other, round);
	}
	gp_trace_destroy(first.trace);
	return !first.status;
}

#define ROUNDS 400

/* One of the values of a snapshot is odd, or none. */
static struct value *make_round(struct maker *m, unsigned round)
{
	struct maker all = { .seed = round, .odd = UINT32_MAX };

	m->seed = round;
	if (round % 3) {
		make_snapshot(&all);
		gp_arena_release(&all.arena);
		m->odd = 1 + round * 7919 % (UINT32_MAX - all.odd);
	}
	m->shuffles = round % 4 == 1;
	return make_snapshot(m);
}

START_TEST(all_forms_say_the_same)
{
	unsigned read = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct maker m = { .odd = 0 };

		read += compare(make_round(&m, round), round);
		gp_arena_release(&m.arena);
	}
	ck_assert_uint_gt(read, ROUNDS / 3);
	ck_assert_uint_lt(read, ROUNDS * 9 / 10);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ all_forms_say_the_same, 0 },
	};

	return suite_run("snapshot object", tests, COUNT_OF(tests));
}
