/* The table of blocks: chunks and a list of spare ones. */
#include "allocator/caching/block.h"

#include <stdlib.h>

#include "base/mem.h"

static void add_chunk(struct block_table *table)
{
	struct block *chunk = gp_mem_alloc(BLOCKS_PER_CHUNK, sizeof(*chunk));

	table->chunks =
		gp_mem_grow(table->chunks, &table->chunk_room,
			    table->chunk_count + 1, sizeof(*table->chunks));
	table->chunks[table->chunk_count++] = chunk;
	for (size_t i = BLOCKS_PER_CHUNK; i-- > 0;) {
		chunk[i].next = table->spare;
		table->spare = &chunk[i];
	}
}

struct block *block_create(struct block_table *table)
{
	struct block *b;

	if (!table->spare)
		add_chunk(table);
	b = table->spare;
	table->spare = b->next;
	/* Marsaglia's xorshift32: tree priorities need no more. */
	table->seed = table->seed ? table->seed : 2463534242u;
	table->seed ^= table->seed << 13;
	table->seed ^= table->seed >> 17;
	table->seed ^= table->seed << 5;
	*b = (struct block){ .priority = table->seed,
			     .is_mapped = true,
			     .is_object = true };
	return b;
}

void block_destroy(struct block_table *table, struct block *b)
{
	b->is_object = false;
	b->next = table->spare;
	table->spare = b;
}

void block_table_release(struct block_table *table)
{
	for (size_t i = 0; i < table->chunk_count; i++)
		free(table->chunks[i]);
	free(table->chunks);
	*table = (struct block_table){ 0 };
}
