/* SPDX-License-Identifier: MIT */
/* Memory by group: the segments of a state summed. */
#include "report/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "report/table.h"

static uint32_t key_of(const struct gp_segment *segment,
		       enum gp_grouping grouping)
{
	switch (grouping) {
	case GP_BY_SIZE: return !segment->is_small;
	case GP_BY_STREAM: return segment->stream;
	case GP_BY_POOL: return segment->pool;
	default: return 0;
	}
}

static size_t keys_of(const struct gp_trace *trace, enum gp_grouping grouping)
{
	switch (grouping) {
	case GP_BY_SIZE: return 2;
	case GP_BY_STREAM: return trace->stream_count;
	case GP_BY_POOL: return trace->pool_count;
	default: return 1;
	}
}

static void add_block(struct gp_group *group, const struct gp_block *block)
{
	group->blocks++;
	if (block->state == GP_INACTIVE) {
		if (block->size > group->largest_free)
			group->largest_free = block->size;
		return;
	}
	group->active += block->size;
	group->requested += block->requested;
	if (block->state == GP_ACTIVE)
		group->allocated += block->size;
}

static void add_segment(struct gp_group *group, const struct gp_state *state,
			const struct gp_segment *segment)
{
	group->segments++;
	group->reserved += segment->size;
	for (uint32_t i = 0; i < segment->blocks; i++)
		add_block(group, &state->blocks[segment->first_block + i]);
}

size_t gp_group_state(const struct gp_trace *trace,
		      const struct gp_state *state, enum gp_grouping grouping,
		      struct gp_group **groups)
{
	size_t keys = keys_of(trace, grouping), count = 0;
	struct gp_group *all = gp_mem_alloc(keys ? keys : 1, sizeof(*all));

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *segment = &state->segments[i];

		add_segment(&all[key_of(segment, grouping)], state, segment);
	}
	for (size_t key = 0; key < keys; key++) {
		if (!all[key].segments)
			continue;
		all[count] = all[key];
		all[count++].key = (uint32_t)key;
	}
	*groups = all;
	return count;
}

struct gp_group gp_group_total(const struct gp_state *state)
{
	struct gp_group total = { 0 };

	for (size_t i = 0; i < state->segment_count; i++)
		add_segment(&total, state, &state->segments[i]);
	return total;
}

const char *gp_group_stream(uint64_t handle, char label[GP_GROUP_LABEL])
{
	if (!handle)
		snprintf(label, GP_GROUP_LABEL, "stream 0 (default)");
	else
		snprintf(label, GP_GROUP_LABEL,
			 handle < 1000 ? "stream %" PRIu64
				       : "stream 0x%" PRIx64,
			 handle);
	return label;
}

const char *gp_group_label(const struct gp_trace *trace,
			   enum gp_grouping grouping, uint32_t key,
			   char label[GP_GROUP_LABEL])
{
	static const char *const sizes[] = { "small pool (up to 1 MiB)",
					     "large pool" };
	const char *format = "all";

	switch (grouping) {
	case GP_BY_SIZE: format = sizes[key]; break;
	case GP_BY_POOL:
		if (!key) {
			format = "default pool";
			break;
		}
		snprintf(label, GP_GROUP_LABEL,
			 "private pool (%" PRIu64 ", %" PRIu64 ")",
			 trace->pools[key].first, trace->pools[key].second);
		return label;
	case GP_BY_STREAM: return gp_group_stream(trace->streams[key], label);
	default: break;
	}
	snprintf(label, GP_GROUP_LABEL, "%s", format);
	return label;
}

/* ---- as a table ---- */

enum { LABEL, RESERVED, ALLOCATED, UNUSED, LARGEST_FREE, SEGMENTS, COLUMNS };

#define BOTH(name)                                                             \
	{                                                                      \
		name, NULL, NULL, name                                         \
	}

/* On a narrow page, the last columns are left out. */
static const struct gp_column columns[COLUMNS] = {
	[LABEL] = { { "", NULL, NULL, "memory" }, -26, NULL },
	[RESERVED] = { BOTH("reserved"), 9, "" },
	[ALLOCATED] = { BOTH("allocated"), 10, "" },
	[UNUSED] = { BOTH("free"), 10, "" },
	[LARGEST_FREE] = { BOTH("largest free"), 12, "" },
	[SEGMENTS] = { BOTH("segments"), 8, "" },
};

static size_t columns_that_fit(const struct gp_page *page)
{
	int used = -columns[LABEL].width;
	size_t count = 1;

	while (count < COLUMNS &&
	       used + 1 + columns[count].width <= (int)page->columns)
		used += 1 + columns[count++].width;
	return count;
}

static void put_group(const struct gp_table *table, const char *label,
		      const struct gp_group *group)
{
	const struct gp_cell cells[COLUMNS] = {
		[LABEL] = { GP_CELL_WORD, 0, label },
		[RESERVED] = { GP_CELL_BYTES, group->reserved, NULL },
		[ALLOCATED] = { GP_CELL_BYTES, group->allocated, NULL },
		[UNUSED] = { GP_CELL_BYTES, group->reserved - group->active,
			     NULL },
		[LARGEST_FREE] = { GP_CELL_BYTES, group->largest_free, NULL },
		[SEGMENTS] = { GP_CELL_COUNT, group->segments, NULL },
	};

	gp_table_row(table, cells);
}

/* In text, a grouping with a single group is left out: it equals the total. */
static void put_grouping(const struct gp_table *table,
			 const struct gp_trace *trace,
			 const struct gp_state *state,
			 enum gp_grouping grouping)
{
	bool is_text = table->format == GP_TABLE_TEXT;
	char label[GP_GROUP_LABEL];
	struct gp_group *groups;
	size_t count = gp_group_state(trace, state, grouping, &groups);

	for (size_t i = 0; i < count; i++)
		if (!is_text || count > 1 || groups[i].key)
			put_group(table,
				  gp_group_label(trace, grouping, groups[i].key,
						 label),
				  &groups[i]);
	free(groups);
}

static void put_table(const struct gp_table *table,
		      const struct gp_trace *trace,
		      const struct gp_state *state)
{
	struct gp_group total = gp_group_total(state);

	gp_table_begin(table, "groups");
	put_group(table, "all", &total);
	for (unsigned grouping = GP_BY_SIZE; grouping < GP_GROUPINGS;
	     grouping++)
		put_grouping(table, trace, state, (enum gp_grouping)grouping);
	gp_table_end(table);
}

void gp_group_print(const struct gp_page *page, const struct gp_trace *trace,
		    const struct gp_state *state, const char *title)
{
	struct gp_column titled[COLUMNS];
	struct gp_table table = { GP_TABLE_TEXT, titled, columns_that_fit(page),
				  page->out };

	if (!state->segment_count)
		return;
	memcpy(titled, columns, sizeof(columns));
	titled[LABEL].title[GP_TABLE_TEXT] = title;
	gp_page_blank(page);
	put_table(&table, trace, state);
}

void gp_group_html(const struct gp_trace *trace, const struct gp_state *state,
		   FILE *out)
{
	struct gp_table table = { GP_TABLE_HTML, columns, COLUMNS, out };

	put_table(&table, trace, state);
}
