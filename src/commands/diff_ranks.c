/* SPDX-License-Identifier: MIT */
/* Which ranks of two jobs gpupool diff compares with each other. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "commands/diff.h"

/* ---- files by name ---- */

struct file {
	const char *path, *name;
	const struct gp_rank_class *class;
};

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int by_name(const void *left, const void *right)
{
	const struct file *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* The caller frees. */
static struct file *list(const struct gp_ranks *ranks)
{
	struct file *files = gp_mem_alloc(ranks->files + 1, sizeof(*files));
	size_t n = 0;

	for (size_t i = 0; i < ranks->count; i++)
		for (size_t k = 0; k < ranks->classes[i].count; k++)
			files[n++] = (struct file){
				.path = ranks->classes[i].paths[k],
				.name = name_of(ranks->classes[i].paths[k]),
				.class = &ranks->classes[i],
			};
	qsort(files, n, sizeof(*files), by_name);
	return files;
}

/* ---- pairs ---- */

static void add(struct gp_diff_pairs *pairs, const struct file *a,
		const struct file *b)
{
	size_t i = 0;

	while (i < pairs->count &&
	       (pairs->items[i].a != a->class || pairs->items[i].b != b->class))
		i++;
	if (i == pairs->count) {
		pairs->items =
			gp_mem_grow(pairs->items, &pairs->room,
				    pairs->count + 1, sizeof(*pairs->items));
		pairs->items[pairs->count++] = (struct gp_diff_pair){
			.a = a->class,
			.b = b->class,
			.a_path = a->path,
			.b_path = b->path,
		};
	}
	pairs->items[i].files++;
}

static void note_single(size_t *count, const char **name,
			const struct file *file)
{
	if (!(*count)++)
		*name = file->name;
}

/* Both are sorted. */
static void pair_by_name(const struct file *a, size_t a_count,
			 const struct file *b, size_t b_count,
			 struct gp_diff_pairs *pairs)
{
	size_t i = 0, k = 0;

	while (i < a_count || k < b_count) {
		int order = i == a_count   ? 1
			    : k == b_count ? -1
					   : by_name(&a[i], &b[k]);

		if (!order)
			add(pairs, &a[i++], &b[k++]);
		else if (order < 0)
			note_single(&pairs->only_a, &pairs->a_name, &a[i++]);
		else
			note_single(&pairs->only_b, &pairs->b_name, &b[k++]);
	}
}

static void pair_files(const struct file *a, size_t a_count,
		       const struct file *b, size_t b_count,
		       struct gp_diff_pairs *pairs)
{
	size_t most = a_count > b_count ? a_count : b_count;

	if (a_count > 1 && b_count > 1)
		pair_by_name(a, a_count, b, b_count, pairs);
	if (pairs->count || (a_count != b_count && a_count > 1 && b_count > 1))
		return;
	*pairs = (struct gp_diff_pairs){ .items = pairs->items,
					 .room = pairs->room };
	for (size_t i = 0; i < most; i++)
		add(pairs, &a[a_count > 1 ? i : 0], &b[b_count > 1 ? i : 0]);
}

enum gp_status gp_diff_pair_ranks(const struct gp_ranks *a,
				  const struct gp_ranks *b,
				  struct gp_diff_pairs *pairs,
				  struct gp_diag *diag)
{
	struct file *left = list(a), *right = list(b ? b : a);

	pair_files(left, a->files, right, b ? b->files : a->files, pairs);
	free(left);
	free(right);
	if (pairs->count)
		return GP_OK;
	gp_diag_hint(diag, "files are compared by their names, or in their "
			   "order where there are as many");
	return gp_diag_set(diag, GP_INPUT,
			   "none of its files is called as one of the others");
}
