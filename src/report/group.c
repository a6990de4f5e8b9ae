/* SPDX-License-Identifier: MIT */
/* Memory by group: the segments of a state summed. */
#include "report/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/mem.h"

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

const char *gp_group_label(const struct gp_trace *trace,
			   enum gp_grouping grouping, uint32_t key,
			   char label[GP_GROUP_LABEL])
{
	static const char *const sizes[] = { "small pool (up to 1 MiB)",
					     "large pool" };
	const char *format = "all";
	uint64_t handle;

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
	case GP_BY_STREAM:
		handle = trace->streams[key];
		if (!handle) {
			format = "stream 0 (default)";
			break;
		}
		snprintf(label, GP_GROUP_LABEL,
			 handle < 1000 ? "stream %" PRIu64
				       : "stream 0x%" PRIx64,
			 handle);
		return label;
	default: break;
	}
	snprintf(label, GP_GROUP_LABEL, "%s", format);
	return label;
}

/* ---- as a table ---- */

#define LABEL 26

enum unit { BYTES, COUNT };

static uint64_t reserved(const struct gp_group *group)
{
	return group->reserved;
}

static uint64_t allocated(const struct gp_group *group)
{
	return group->allocated;
}

static uint64_t unused(const struct gp_group *group)
{
	return group->reserved - group->active;
}

static uint64_t largest_free(const struct gp_group *group)
{
	return group->largest_free;
}

static uint64_t segments(const struct gp_group *group)
{
	return group->segments;
}

/* The first ones are there however narrow the page is. */
static const struct {
	const char *title;
	unsigned width;
	enum unit unit;
	uint64_t (*value)(const struct gp_group *group);
} columns[] = {
	{ "reserved", 10, BYTES, reserved },
	{ "allocated", 11, BYTES, allocated },
	{ "free", 11, BYTES, unused },
	{ "largest free", 13, BYTES, largest_free },
	{ "segments", 9, COUNT, segments },
};

static size_t columns_that_fit(const struct gp_page *page)
{
	unsigned used = LABEL;
	size_t count = 0;

	while (count < sizeof(columns) / sizeof(*columns) &&
	       used + columns[count].width <= page->columns)
		used += columns[count++].width;
	return count;
}

static void print_title(const struct gp_page *page, const char *title)
{
	size_t count = columns_that_fit(page);

	fprintf(page->out, "%-*s", LABEL, title);
	for (size_t i = 0; i < count; i++)
		fprintf(page->out, "%*s", (int)columns[i].width,
			columns[i].title);
	putc('\n', page->out);
}

static void print_group(const struct gp_page *page, const char *label,
			const struct gp_group *group)
{
	size_t count = columns_that_fit(page);
	char bytes[GP_BYTES_TEXT], number[GP_COUNT_TEXT];

	fprintf(page->out, "%-*s", LABEL, label);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = columns[i].value(group);

		fprintf(page->out, "%*s", (int)columns[i].width,
			columns[i].unit == BYTES
				? gp_bytes_text(value, bytes)
				: gp_count_text(value, number));
	}
	putc('\n', page->out);
}

static void print_grouping(const struct gp_page *page,
			   const struct gp_trace *trace,
			   const struct gp_state *state,
			   enum gp_grouping grouping)
{
	char label[GP_GROUP_LABEL];
	struct gp_group *groups;
	size_t count = gp_group_state(trace, state, grouping, &groups);

	for (size_t i = 0; i < count && (count > 1 || groups[i].key); i++)
		print_group(
			page,
			gp_group_label(trace, grouping, groups[i].key, label),
			&groups[i]);
	free(groups);
}

void gp_table_print(const struct gp_page *page, const struct gp_trace *trace,
		    const struct gp_state *state, const char *title)
{
	struct gp_group total = gp_group_total(state);

	if (!state->segment_count)
		return;
	gp_page_blank(page);
	print_title(page, title);
	print_group(page, "all", &total);
	for (unsigned grouping = GP_BY_SIZE; grouping < GP_GROUPINGS;
	     grouping++)
		print_grouping(page, trace, state, grouping);
}
