/* SPDX-License-Identifier: MIT */
/* Memory of a state by size class, stream and pool, as a table. */
#include "report/table.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "report/group.h"

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
