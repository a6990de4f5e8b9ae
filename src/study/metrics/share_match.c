/* SPDX-License-Identifier: MIT */
/*
 * Pairing the holders of two live sets: by name or size, then those whose line
 * moved within their function.
 */
#include "study/metrics/change.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_names(const char *a, const char *b)
{
	/* Blocks without a name sort first. */
	return strcmp(a, b);
}

static int compare_shares(const void *a, const void *b)
{
	const struct gp_share *x = a, *y = b;

	if (x->floor != y->floor)
		return x->floor < y->floor ? -1 : 1;
	return compare_names(x->name, y->name);
}

static uint64_t change_of(const struct gp_share_pair *pair)
{
	uint64_t a = pair->a.requested, b = pair->b.requested;

	return a > b ? a - b : b - a;
}

static const struct gp_share *some_of(const struct gp_share_pair *pair)
{
	return pair->b.blocks ? &pair->b : &pair->a;
}

static int compare_changes(const void *a, const void *b)
{
	uint64_t x = change_of(a), y = change_of(b);

	if (x != y)
		return x > y ? -1 : 1;
	return compare_shares(some_of(a), some_of(b));
}

/* The parts of "train.py:42 forward" around the line number. */
struct place {
	size_t file;	/* length of the file's name */
	const char *at; /* the function, with the blank before it */
	unsigned long line;
};

static bool find_place(const char *name, struct place *place)
{
	for (const char *c = strchr(name, ':'); c; c = strchr(c + 1, ':')) {
		char *end;

		if (!isdigit((unsigned char)c[1]))
			continue;
		place->line = strtoul(c + 1, &end, 10);
		place->file = (size_t)(c - name);
		place->at = end;
		if (!*end || *end == ' ')
			return true;
	}
	return false;
}

static int compare_places(const char *a, const char *b)
{
	struct place x, y;
	int order;

	find_place(a, &x);
	find_place(b, &y);
	order = strncmp(a, b, x.file < y.file ? x.file : y.file);
	if (!order && x.file != y.file)
		order = x.file < y.file ? -1 : 1;
	return order ? order : strcmp(x.at, y.at);
}

/* Sorts by file and function, then by line, then A before B. */
static int compare_moves(const void *a, const void *b)
{
	const struct gp_share_pair *p = *(struct gp_share_pair *const *)a;
	const struct gp_share_pair *q = *(struct gp_share_pair *const *)b;
	int order = compare_places(some_of(p)->name, some_of(q)->name);
	struct place x, y;

	if (order)
		return order;
	find_place(some_of(p)->name, &x);
	find_place(some_of(q)->name, &y);
	if (p->fate != q->fate)
		return p->fate == GP_SHARE_GONE ? -1 : 1;
	return x.line < y.line ? -1 : x.line > y.line;
}

/* Pairs the rows of one function: lines only in A with lines only in B, in
 * order. */
static void pair_function(struct gp_share_pair **rows, size_t count)
{
	size_t gone = 0;

	while (gone < count && rows[gone]->fate == GP_SHARE_GONE)
		gone++;
	for (size_t i = 0; i < gone && gone + i < count; i++) {
		rows[i]->b = rows[gone + i]->b;
		rows[i]->fate = GP_SHARE_MOVED;
		rows[gone + i]->b = (struct gp_share){ 0 };
	}
}

static size_t pair_moves(struct gp_share_pair *pairs, size_t count)
{
	struct gp_share_pair **rows = gp_mem_alloc(count + 1, sizeof(*rows));
	struct place place;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < count; i++)
		if (pairs[i].fate != GP_SHARE_STAYED &&
		    find_place(some_of(&pairs[i])->name, &place))
			rows[n++] = &pairs[i];
	qsort(rows, n, sizeof(*rows), compare_moves);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (compare_places(some_of(rows[i])->name,
					   some_of(rows[end])->name))
				break;
		pair_function(rows + i, end - i);
	}
	free(rows);
	for (size_t i = 0; i < count; i++)
		if (pairs[i].a.blocks || pairs[i].b.blocks)
			pairs[kept++] = pairs[i];
	return kept;
}

static struct gp_share *sorted(const struct gp_share *shares, size_t count)
{
	struct gp_share *copy = gp_mem_alloc(count + 1, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = shares[i];
	qsort(copy, count, sizeof(*copy), compare_shares);
	return copy;
}

static size_t pair_equals(const struct gp_share *a, size_t a_count,
			  const struct gp_share *b, size_t b_count,
			  struct gp_share_pair *pairs)
{
	size_t i = 0, k = 0, n = 0;

	while (i < a_count || k < b_count) {
		int order = i == a_count   ? 1
			    : k == b_count ? -1
					   : compare_shares(&a[i], &b[k]);
		struct gp_share_pair *pair = &pairs[n++];

		pair->fate = order < 0	 ? GP_SHARE_GONE
			     : order > 0 ? GP_SHARE_NEW
					 : GP_SHARE_STAYED;
		if (order <= 0)
			pair->a = a[i++];
		if (order >= 0)
			pair->b = b[k++];
	}
	return n;
}

size_t gp_share_match(const struct gp_share *a, size_t a_count,
		      const struct gp_share *b, size_t b_count,
		      struct gp_share_pair **pairs)
{
	struct gp_share *x = sorted(a, a_count), *y = sorted(b, b_count);
	struct gp_share_pair *all =
		gp_mem_alloc(a_count + b_count + 1, sizeof(*all));
	size_t count = pair_equals(x, a_count, y, b_count, all);

	count = pair_moves(all, count);
	qsort(all, count, sizeof(*all), compare_changes);
	free(x);
	free(y);
	*pairs = all;
	return count;
}
