/* SPDX-License-Identifier: MIT */
/*
 * The state at the beginning of generated windows: memory in slots, whose
 * owners, blocks and gaps are always known, while a snapshot has only the
 * actions and the end state.
 */
#include "gpupool/trace.h"

#include <inttypes.h>

#include "snapshot_text.h"

#define SLOTS  9
#define BLOCKS 3
#define MIB    (UINT64_C(1) << 20)
#define BASE   (400 * MIB)

enum owner { NOBODY, PAGES_OF_0, PAGES_OF_7, SEGMENT_OF_0, OWNERS };

struct held {
	uint64_t addr, size, requested;
	uint8_t state; /* enum gp_block_state */
	bool was_there;
};

struct slot {
	uint8_t owner;
	struct held blocks[BLOCKS];
	unsigned count;
};

struct window {
	uint64_t seed, unit; /* unit: the bytes of a slot */
	struct slot slots[SLOTS];
	FILE *out;
	/* Blocks of the start that were freed, and those of them with slack. */
	unsigned went, slack;
	/* By owner: its pages, and the lowest of them, until it had none. */
	unsigned pages[OWNERS];
	bool is_gone[OWNERS];
	uint64_t lowest[OWNERS];
	unsigned ids;  /* of blocks at the start, and of later ones */
	unsigned lost; /* frees of blocks that cannot have existed */
	bool was_free[SLOTS];
};

/* A state, built from slots. */
struct image {
	struct gp_segment segments[SLOTS];
	struct gp_block blocks[SLOTS * (2 * BLOCKS + 1)];
	size_t segment_count, block_count;
};

static uint64_t below(struct window *w, uint64_t n)
{
	return next_random(&w->seed) % n;
}

static uint64_t at_slot(const struct window *w, unsigned i)
{
	return BASE + i * w->unit;
}

static bool has_slack(const struct window *w, unsigned i)
{
	return w->slots[i].owner == SEGMENT_OF_0 && w->unit > 2 * MIB;
}

static void say(struct window *w, const char *action, uint64_t addr,
		uint64_t size, unsigned owner)
{
	fprintf(w->out,
		", {\"action\": \"%s\", \"addr\": %" PRIu64
		", \"size\": %" PRIu64 ", \"stream\": %d}",
		action, addr, size, owner == PAGES_OF_7 ? 7 : 0);
}

/* Blocks with gaps; a gap of up to 1 MiB in a large segment belongs to the
 * block. The last block may extend to the end. */
static void lay_blocks(struct window *w, unsigned i, bool is_told)
{
	static const uint64_t gaps[] = { 0, 512, MIB, MIB + 512, 2 * MIB };
	struct slot *s = &w->slots[i];
	uint64_t end = at_slot(w, i + 1), part = w->unit / 16;
	uint64_t scale = w->unit > 2 * MIB ? 1 : 1024;
	uint64_t at = at_slot(w, i) + gaps[below(w, 2) * 4] / scale;
	unsigned most = 1 + (unsigned)below(w, BLOCKS);

	while (s->count < most) {
		struct held *b = &s->blocks[s->count++];
		uint64_t gap = gaps[below(w, 5)] / scale / 512 * 512;

		*b = (struct held){ .addr = at, .state = GP_ACTIVE };
		b->size = part + below(w, part / 512) * 512;
		if (s->count == BLOCKS && below(w, 2))
			b->size = end - at - gap;
		b->requested = b->size - below(w, 512);
		at += b->size + gap;
		if (has_slack(w, i) && gap <= MIB &&
		    (s->count < most || at == end))
			b->size += gap;
		b->was_there = !is_told;
		w->ids++;
		if (is_told)
			say(w, "alloc", b->addr, b->requested, s->owner);
		else if (!below(w, 6))
			b->state = GP_PENDING_FREE;
	}
}

/* The block's free, without its completion if other streams still use it. */
static void end_block(struct window *w, unsigned i, unsigned at, bool is_used)
{
	struct slot *s = &w->slots[i];
	struct held *b = &s->blocks[at];

	bool is_twice = b->was_there && b->state == GP_ACTIVE && !is_used &&
			!below(w, 8);

	if (b->was_there) {
		w->went++;
		w->slack += b->size - b->requested >= 512;
		b->was_there = false;
	}
	if (b->state == GP_ACTIVE) {
		say(w, "free_requested", b->addr, b->requested, s->owner);
		b->state = GP_PENDING_FREE;
		if (is_used)
			return;
	}
	say(w, "free_completed", b->addr, b->requested, s->owner);
	if (is_twice) {
		say(w, "free_requested", b->addr, b->requested, s->owner);
		say(w, "free_completed", b->addr, b->requested, s->owner);
		w->lost++;
	}
	for (s->count--; at < s->count; at++)
		s->blocks[at] = s->blocks[at + 1];
}

/* Returns how many slots from there on have this one's owner, up to a random
 * number, which are then handled together. */
static unsigned alike(struct window *w, unsigned i)
{
	unsigned n = 1, most = 1 + (unsigned)below(w, 3);

	while (n < most && i + n < SLOTS &&
	       w->slots[i + n].owner == w->slots[i].owner)
		n++;
	return n;
}

static void obtain(struct window *w, unsigned i)
{
	unsigned owner = 1 + (unsigned)below(w, OWNERS - 1);
	unsigned n = owner == SEGMENT_OF_0 ? 1 : alike(w, i);

	say(w, owner == SEGMENT_OF_0 ? "segment_alloc" : "segment_map",
	    at_slot(w, i), n * w->unit, owner);
	for (unsigned k = i; k < i + n; k++)
		w->slots[k].owner = (uint8_t)owner;
	w->pages[owner] += n;
	if (!w->is_gone[owner] && at_slot(w, i) < w->lowest[owner])
		w->lowest[owner] = at_slot(w, i);
}

static void give_back(struct window *w, unsigned i)
{
	unsigned owner = w->slots[i].owner;
	unsigned n = owner == SEGMENT_OF_0 ? 1 : alike(w, i);

	for (unsigned k = i; k < i + n; k++)
		while (w->slots[k].count)
			end_block(w, k, 0, false);
	say(w, owner == SEGMENT_OF_0 ? "segment_free" : "segment_unmap",
	    at_slot(w, i), n * w->unit, owner);
	for (unsigned k = i; k < i + n; k++)
		w->slots[k].owner = NOBODY;
	w->pages[owner] -= n;
	w->is_gone[owner] |= !w->pages[owner];
}

/* Entries that contradict the rest, or do not show where memory is. */
static void mislead(struct window *w, unsigned i)
{
	uint64_t addr = at_slot(w, i) + w->unit / 2;

	switch (below(w, 3)) {
	case 0: /* of a segment over one that exists */
		if (i + 1 < SLOTS &&
		    !w->slots[i].owner != !w->slots[i + 1].owner)
			say(w, "segment_free", addr, w->unit, SEGMENT_OF_0);
		break;
	case 1: /* of a block where there was no memory */
		if (w->slots[i].owner || !w->was_free[i])
			break;
		say(w, "free_requested", addr, 512, SEGMENT_OF_0);
		say(w, "free_completed", addr, 512, SEGMENT_OF_0);
		w->lost++;
		break;
	default: /* a refusal, which has free bytes in place of an address */
		addr = at_slot(w, i) + below(w, w->unit / 1024) * 512;
		fprintf(w->out,
			", {\"action\": \"oom\", \"device_free\": %" PRIu64
			", \"size\": 512, \"stream\": 0}",
			addr);
		w->ids++;
	}
}

static void step(struct window *w)
{
	unsigned i = (unsigned)below(w, SLOTS);
	struct slot *s = &w->slots[i];

	if (!below(w, 4))
		mislead(w, i);
	else if (s->owner == NOBODY)
		obtain(w, i);
	else if (!below(w, 3))
		give_back(w, i);
	else if (!s->count)
		lay_blocks(w, i, true);
	else
		end_block(w, i, (unsigned)below(w, s->count), !below(w, 4));
}

static void begin(struct window *w)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *s = &w->slots[i];

		s->owner = (uint8_t)below(w, OWNERS);
		w->was_free[i] = !s->owner;
		if (s->owner && below(w, 4))
			lay_blocks(w, i, false);
		if (!w->pages[s->owner]++)
			w->lowest[s->owner] = at_slot(w, i);
	}
	for (unsigned owner = 0; owner < OWNERS; owner++)
		w->is_gone[owner] = !w->pages[owner];
}

static void put_free(struct image *m, uint64_t addr, uint64_t stop)
{
	struct gp_segment *g = &m->segments[m->segment_count - 1];
	struct gp_block *next = &m->blocks[m->block_count];

	if (addr == stop)
		return;
	if (g->blocks && next[-1].state == GP_INACTIVE) {
		next[-1].size += stop - addr;
		return;
	}
	*next = (struct gp_block){ .addr = addr,
				   .size = stop - addr,
				   .state = GP_INACTIVE };
	m->block_count++;
	g->blocks++;
}

static void put_slot(struct image *m, const struct window *w, unsigned i)
{
	const struct slot *s = &w->slots[i];
	uint64_t at = at_slot(w, i), stop = at_slot(w, i + 1);

	if (s->owner == SEGMENT_OF_0 || !i || w->slots[i - 1].owner != s->owner)
		m->segments[m->segment_count++] = (struct gp_segment){
			.addr = at,
			.stream = s->owner == PAGES_OF_7,
			.is_small = w->unit == 2 * MIB,
			.is_expandable = s->owner != SEGMENT_OF_0,
			.first_block = (uint32_t)m->block_count,
		};
	m->segments[m->segment_count - 1].size += w->unit;
	for (unsigned k = 0; k < s->count; k++) {
		const struct held *b = &s->blocks[k];

		put_free(m, at, b->addr);
		m->blocks[m->block_count++] = (struct gp_block){
			.addr = b->addr,
			.size = b->size,
			.requested = b->requested,
			.state = b->state,
		};
		m->segments[m->segment_count - 1].blocks++;
		at = b->addr + b->size;
	}
	put_free(m, at, stop);
}

static void draw(struct image *m, const struct window *w)
{
	*m = (struct image){ 0 };
	for (unsigned i = 0; i < SLOTS; i++)
		if (w->slots[i].owner)
			put_slot(m, w, i);
}

static void write_end(FILE *out, const struct image *m)
{
	static const char *const states[] = { INACTIVE, ACTIVE,
					      "active_pending_free" };

	for (size_t i = 0; i < m->segment_count; i++) {
		const struct gp_segment *g = &m->segments[i];

		fprintf(out,
			"{\"address\": %" PRIu64 ", \"total_size\": %" PRIu64
			", \"stream\": %d, \"segment_type\": \"%s\", "
			"\"is_expandable\": %s, \"blocks\": [",
			g->addr, g->size, g->stream ? 7 : 0,
			g->is_small ? "small" : "large",
			g->is_expandable ? "true" : "false");
		for (uint32_t k = 0; k < g->blocks; k++) {
			const struct gp_block *b =
				&m->blocks[g->first_block + k];

			fprintf(out,
				"%s{\"size\": %" PRIu64
				", \"requested_size\": %" PRIu64
				", \"state\": \"%s\"}",
				k ? ", " : "", b->size, b->requested,
				states[b->state]);
		}
		fputs("]}, ", out);
	}
}

/* Computes the offset of an expandable segment's first range in its
 * reservation. */
static void find_offsets(struct image *start, const struct window *w)
{
	bool is_found[OWNERS] = { false };

	for (size_t i = 0; i < start->segment_count; i++) {
		struct gp_segment *g = &start->segments[i];
		unsigned owner = g->stream ? PAGES_OF_7 : PAGES_OF_0;

		if (g->is_expandable && !is_found[owner]) {
			g->offset = g->addr - w->lowest[owner];
			is_found[owner] = true;
		}
	}
}

/* The first segment is far away; it only exists so that the window does not
 * begin with half a free. It is on stream 7, which becomes the second stream.
 */
#define FAR                                                                    \
	"{\"address\": 8388608, \"total_size\": 20971520, \"stream\": 7, "     \
	"\"segment_type\": \"large\", \"blocks\": [{\"size\": 20971520, "      \
	"\"state\": \"inactive\"}]}"

/* The window as a snapshot; *start: the state that must be found. */
static struct gp_trace *window_of(struct window *w, struct image *start)
{
	struct image end;
	struct gp_trace *trace;
	char *text;
	size_t length;

	w->out = open_memstream(&text, &length);
	fputs("{\"device_traces\": [[{\"action\": \"segment_alloc\", "
	      "\"addr\": 8388608, \"size\": 20971520, \"stream\": 7}",
	      w->out);
	begin(w);
	draw(start, w);
	for (uint64_t n = below(w, 20); n; n--)
		step(w);
	draw(&end, w);
	fputs("]], \"segments\": [", w->out);
	write_end(w->out, &end);
	fputs(FAR "]}", w->out);
	ck_assert_int_eq(fclose(w->out), 0);
	find_offsets(start, w);
	trace = whole(text);
	free(text);
	return trace;
}

/* A single assertion for all, because each one writes to the test's parent. */
static bool is_found(const struct gp_trace *trace, const struct image *m)
{
	const struct gp_state *s = &trace->devices[0].start;
	bool same = s->segment_count == m->segment_count &&
		    s->block_count == m->block_count;

	for (size_t i = 0; same && i < m->segment_count; i++) {
		const struct gp_segment *a = &s->segments[i];
		const struct gp_segment *b = &m->segments[i];

		same = a->addr == b->addr && a->size == b->size &&
		       trace->streams[a->stream] == (b->stream ? 7 : 0) &&
		       a->is_small == b->is_small &&
		       a->is_expandable == b->is_expandable &&
		       a->offset == b->offset && a->blocks == b->blocks &&
		       a->first_block == b->first_block;
	}
	for (size_t i = 0; same && i < m->block_count; i++)
		same = s->blocks[i].addr == m->blocks[i].addr &&
		       s->blocks[i].size == m->blocks[i].size &&
		       s->blocks[i].requested == m->blocks[i].requested &&
		       s->blocks[i].state == m->blocks[i].state;
	return same;
}

START_TEST(the_start_is_what_was_there)
{
	struct window w = { .unit = _i ? 2 * MIB : 20 * MIB };

	for (w.seed = 0; w.seed < 2000; w.seed++) {
		struct window one = w;
		struct image start;
		struct gp_trace *trace = window_of(&one, &start);
		const struct gp_device_trace *d = &trace->devices[0];
		const struct gp_guesses *g = &d->guesses;

		ck_assert_msg(is_found(trace, &start), "%" PRIu64, w.seed);
		ck_assert_msg(g->start_blocks == one.went &&
				      g->block_slack == one.slack &&
				      g->lost_entries == one.lost &&
				      d->block_ids == one.ids,
			      "%" PRIu64, w.seed);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("start");

	tcase_add_loop_test(tcase, the_start_is_what_was_there, 0, 2);
	return suite_play("start", tcase);
}
