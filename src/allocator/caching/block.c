/* SPDX-License-Identifier: MIT */
/* The table of blocks: chunks and a list of spare ones. */
#include "allocator/caching/block.h"

#include <stdlib.h>

#include "base/mem.h"

void block_table_grow(struct block_table *table)
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

void block_table_release(struct block_table *table)
{
	for (size_t i = 0; i < table->chunk_count; i++)
		free(table->chunks[i]);
	free(table->chunks);
	*table = (struct block_table){ 0 };
}
