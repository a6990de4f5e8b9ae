/* SPDX-License-Identifier: MIT */
/*
 * A custom engine beside PyTorch's: its blocks have sizes of powers of two.
 * Freed blocks are kept by size, and are never split or returned to the device.
 *
 *	cc engine.c $(pkg-config --cflags --libs gpupool) -o engine
 *	./engine snapshot.pickle
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gpupool/gpupool.h>

#define CLASSES 64 /* by the power of two */

/* Memory from the device, in the order in which it was allocated. */
struct piece {
	uint64_t addr;
	uint32_t id; /* GP_NO_ID: free */
	unsigned bits;
	uint32_t next; /* next free piece of the same size */
};

struct powers {
	struct gp_allocator head; /* must be first */
	struct gp_device *device;
	struct piece *pieces;
	uint32_t count;
	uint32_t *piece_of;	/* by block id: its piece's index + 1; or 0 */
	uint32_t free[CLASSES]; /* likewise */
	struct gp_level levels[GP_STAT_COUNT];
	struct gp_stats stats;
};

static struct powers *powers_of(struct gp_allocator *allocator)
{
	return (struct powers *)allocator;
}

static void count(struct powers *p, enum gp_stat_id id, int64_t amount)
{
	struct gp_stat *stat = &p->stats.by_pool[id][GP_STAT_ALL];

	stat->current += amount;
	if (amount > 0)
		stat->allocated += amount;
	else
		stat->freed -= amount;
	if (stat->current > stat->peak)
		stat->peak = stat->current;
	p->levels[id] =
		(struct gp_level){ stat->peak, stat->peak - stat->current };
}

static void count_block(struct powers *p, unsigned bits, int64_t sign)
{
	int64_t bytes = sign * (INT64_C(1) << bits);

	count(p, GP_STAT_ALLOCATION, sign);
	count(p, GP_STAT_ACTIVE, sign);
	count(p, GP_STAT_ALLOCATED_BYTES, bytes);
	count(p, GP_STAT_ACTIVE_BYTES, bytes);
	count(p, GP_STAT_REQUESTED_BYTES, bytes);
}

/* The index + 1 of a new piece; 0: the device has no memory. */
static uint32_t ask_device(struct powers *p, unsigned bits)
{
	struct piece piece = { .id = GP_NO_ID, .bits = bits };

	if (!p->device->ops->malloc(p->device, UINT64_C(1) << bits,
				    &piece.addr)) {
		p->stats.num_ooms++;
		return 0;
	}
	p->stats.num_device_alloc++;
	count(p, GP_STAT_SEGMENT, 1);
	count(p, GP_STAT_RESERVED_BYTES, INT64_C(1) << bits);
	p->pieces[p->count++] = piece;
	return p->count;
}

static enum gp_answer powers_alloc(struct gp_allocator *allocator, uint32_t id,
				   uint64_t size, uint16_t stream,
				   uint16_t pool, uint64_t *addr)
{
	struct powers *p = powers_of(allocator);
	unsigned bits = 9; /* 512 bytes */
	uint32_t piece;

	(void)stream;
	(void)pool;
	if (!size)
		return GP_SERVED;
	while (UINT64_C(1) << bits < size)
		bits++;
	piece = p->free[bits];
	if (piece)
		p->free[bits] = p->pieces[piece - 1].next;
	else
		piece = ask_device(p, bits);
	if (!piece)
		return GP_OUT_OF_MEMORY;
	p->pieces[piece - 1].id = id;
	p->piece_of[id] = piece;
	*addr = p->pieces[piece - 1].addr;
	count_block(p, bits, 1);
	return GP_SERVED;
}

static void powers_free(struct gp_allocator *allocator, uint32_t id)
{
	struct powers *p = powers_of(allocator);
	uint32_t at = p->piece_of[id];
	struct piece *piece = &p->pieces[at - 1];

	if (!at)
		return; /* the request was not served */
	p->piece_of[id] = 0;
	piece->id = GP_NO_ID;
	piece->next = p->free[piece->bits];
	p->free[piece->bits] = at;
	count_block(p, piece->bits, -1);
}

static const struct gp_stats *powers_stats(struct gp_allocator *allocator)
{
	return &powers_of(allocator)->stats;
}

static int by_address(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Each piece is a segment with one block. */
static void powers_state(struct gp_allocator *allocator, struct gp_state *state)
{
	const struct powers *p = powers_of(allocator);
	struct gp_segment *segments = calloc(p->count + 1, sizeof(*segments));
	struct gp_block *blocks = calloc(p->count + 1, sizeof(*blocks));
	struct piece *sorted = calloc(p->count + 1, sizeof(*sorted));

	if (!segments || !blocks || !sorted)
		abort();
	for (uint32_t i = 0; i < p->count; i++)
		sorted[i] = p->pieces[i];
	qsort(sorted, p->count, sizeof(*sorted), by_address);
	for (uint32_t i = 0; i < p->count; i++) {
		const struct piece *piece = &sorted[i];
		uint64_t size = UINT64_C(1) << piece->bits;
		bool is_live = piece->id != GP_NO_ID;

		segments[i] = (struct gp_segment){ .addr = piece->addr,
						   .size = size,
						   .first_block = i,
						   .blocks = 1,
						   .site = GP_NO_SITE };
		blocks[i] = (struct gp_block){ .addr = piece->addr,
					       .size = size,
					       .requested = size,
					       .id = piece->id,
					       .state = is_live ? GP_ACTIVE
								: GP_INACTIVE,
					       .site = GP_NO_SITE };
	}
	free(sorted);
	*state = (struct gp_state){ segments, blocks, p->count, p->count };
}

static void powers_destroy(struct gp_allocator *allocator)
{
	struct powers *p = powers_of(allocator);

	free(p->pieces);
	free(p->piece_of);
	free(p);
}

/* It ignores streams, pools, settings and captures. */
static const struct gp_allocator_ops powers_ops = {
	.name = "powers",
	.alloc = powers_alloc,
	.free = powers_free,
	.stats = powers_stats,
	.state = powers_state,
	.destroy = powers_destroy,
};

static enum gp_status powers_create(const struct gp_allocator_config *config,
				    struct gp_allocator **allocator,
				    struct gp_diag *diag)
{
	struct powers *p;

	if (config->start)
		return gp_diag_set(diag, GP_INPUT,
				   "it begins with memory in use, which the "
				   "engine powers cannot take over");
	p = calloc(1, sizeof(*p));
	if (p) {
		p->pieces = calloc(config->block_ids + 1, sizeof(*p->pieces));
		p->piece_of =
			calloc(config->block_ids + 1, sizeof(*p->piece_of));
	}
	if (!p || !p->pieces || !p->piece_of)
		abort();
	p->head.ops = &powers_ops;
	p->head.levels = p->levels;
	p->device = config->device;
	*allocator = &p->head;
	return GP_OK;
}

static const struct gp_engine powers = {
	.name = "powers",
	.sentence = "blocks of powers of two, kept by size",
	.create = powers_create,
};

static enum gp_status print_peak(const struct gp_trace *trace,
				 const struct gp_engine *engine,
				 struct gp_diag *diag)
{
	const struct gp_replay_config config = { .trace = trace,
						 .engine = engine,
						 .mode = GP_WHAT_IF,
						 .capacity = GP_UNLIMITED };
	struct gp_replay_result result;
	enum gp_status status = gp_replay(&config, &result, diag);

	if (status != GP_OK)
		return status;
	printf("%s %" PRIu64 "\n", engine->name, result.at_peak.reserved);
	gp_replay_release(&result);
	return GP_OK;
}

int main(int argc, char **argv)
{
	struct gp_input_config input = { .path = argc > 1 ? argv[1] : "-" };
	struct gp_diag diag = { 0 };
	struct gp_trace *trace;
	enum gp_status status = gp_input_read(&input, &trace, &diag);

	if (status == GP_OK) {
		status = print_peak(trace, gp_engine_find("caching"), &diag);
		if (status == GP_OK)
			status = print_peak(trace, &powers, &diag);
		gp_trace_destroy(trace);
	}
	if (status != GP_OK)
		fprintf(stderr, "%s: %s\n", diag.file, diag.what);
	return status;
}
