/* SPDX-License-Identifier: MIT */
/* Prices from a file: {"format": "gpupool-prices", ...}. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpupool/price.h"

/* More than any table of a person or a benchmark. */
#define MOST_BYTES (1 << 20)
#define MOST_US	   1e9

struct book {
	struct gp_prices prices; /* first: it is what the caller has */
	struct gp_arena arena;
	struct gp_price *rows;
	size_t room;
	bool is_given[GP_PRICE_CALLS];
};

static char *keep(struct book *book, const char *text)
{
	return gp_arena_text(&book->arena, text, strlen(text));
}

static void add(struct book *book, const struct gp_price *row)
{
	struct gp_prices *prices = &book->prices;

	book->rows = gp_mem_grow(book->rows, &book->room, prices->count + 1,
				 sizeof(*book->rows));
	book->rows[prices->count++] = *row;
}

static enum gp_status find_call(const char *name, enum gp_price_call *call,
				struct gp_diag *diag)
{
	for (unsigned i = 0; name && i < GP_PRICE_CALLS; i++)
		if (!strcmp(gp_price_call_name(i), name)) {
			*call = i;
			return GP_OK;
		}
	gp_diag_hint(diag, "for example: cudaMalloc, cudaFree, cuMemCreate, "
			   "cuMemMap, cuMemSetAccess, cuMemUnmap");
	return gp_diag_set(diag, GP_INPUT, "\"call\" is %s%.60s",
			   name ? "not a call with a price: " : "missing",
			   name ? name : "");
}

static enum gp_status read_row(struct book *book, const json_t *object,
			       struct gp_diag *diag)
{
	const json_t *size = json_object_get(object, "size");
	const json_t *us = json_object_get(object, "us");
	const char *source =
		json_string_value(json_object_get(object, "source"));
	struct gp_price row = { .us = json_number_value(us) };

	if (find_call(json_string_value(json_object_get(object, "call")),
		      &row.call, diag) != GP_OK)
		return GP_INPUT;
	if (size && (!json_is_integer(size) || json_integer_value(size) < 0))
		return gp_diag_set(diag, GP_INPUT,
				   "\"size\" is not a number of bytes");
	if (!json_is_number(us) || !(row.us >= 0 && row.us <= MOST_US))
		return gp_diag_set(diag, GP_INPUT,
				   "\"us\" is not a time in microseconds");
	row.size = (uint64_t)json_integer_value(size);
	row.source = source ? keep(book, source) : book->prices.name;
	book->is_given[row.call] = true;
	add(book, &row);
	return GP_OK;
}

static enum gp_status read_rows(struct book *book, const json_t *root,
				struct gp_diag *diag)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	const json_t *list = json_object_get(root, "prices");

	if (!format || strcmp(format, "gpupool-prices") != 0)
		return gp_diag_set(diag, GP_INPUT,
				   "\"format\" is not \"gpupool-prices\"");
	if (json_integer_value(json_object_get(root, "version")) != 1)
		return gp_diag_set(diag, GP_INPUT, "\"version\" is not 1");
	if (!json_is_array(list))
		return gp_diag_set(diag, GP_INPUT, "\"prices\" is not a list");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_row(book, json_array_get(list, i), diag) != GP_OK) {
			gp_diag_record(diag, "price %zu", i + 1);
			return GP_INPUT;
		}
	return GP_OK;
}

static void add_missing(struct book *book)
{
	const struct gp_prices *built_in = gp_prices_built_in();

	for (size_t i = 0; i < built_in->count; i++)
		if (!book->is_given[built_in->rows[i].call])
			add(book, &built_in->rows[i]);
}

static int by_call_and_size(const void *left, const void *right)
{
	const struct gp_price *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

static enum gp_status sort(struct book *book, struct gp_diag *diag)
{
	const struct gp_price *rows = book->rows;

	qsort(book->rows, book->prices.count, sizeof(*rows), by_call_and_size);
	for (size_t i = 1; i < book->prices.count; i++)
		if (!by_call_and_size(&rows[i - 1], &rows[i]))
			return gp_diag_set(diag, GP_INPUT,
					   "%s of %llu bytes has two prices",
					   gp_price_call_name(rows[i].call),
					   (unsigned long long)rows[i].size);
	return GP_OK;
}

static enum gp_status failed(struct gp_diag *diag)
{
	return gp_diag_set(diag, gp_file_status(errno), "%s", strerror(errno));
}

static enum gp_status load(const char *path, json_t **root,
			   struct gp_diag *diag)
{
	char *text = gp_mem_alloc(MOST_BYTES + 1, 1);
	FILE *file = fopen(path, "r");
	enum gp_status status = GP_OK;
	json_error_t error;
	size_t length = 0;

	if (!file)
		status = failed(diag);
	else
		length = fread(text, 1, MOST_BYTES + 1, file);
	if (file && ferror(file))
		status = failed(diag);
	if (length > MOST_BYTES)
		status = gp_diag_set(diag, GP_INPUT,
				     "larger than any list of prices");
	if (status == GP_OK) {
		*root = json_loadb(text, length, JSON_REJECT_DUPLICATES,
				   &error);
		if (!*root) {
			gp_diag_record(diag, "line %d", error.line);
			status = gp_diag_set(diag, GP_INPUT, "%s", error.text);
		}
	}
	if (file)
		fclose(file);
	free(text);
	return status;
}

enum gp_status gp_prices_read(const char *path, struct gp_prices **prices,
			      struct gp_diag *diag)
{
	struct book *book = gp_mem_alloc(1, sizeof(*book));
	json_t *root = NULL;
	enum gp_status status = load(path, &root, diag);

	book->prices.memory = book;
	book->prices.name = keep(book, path);
	if (status == GP_OK)
		status = read_rows(book, root, diag);
	if (status == GP_OK) {
		add_missing(book);
		status = sort(book, diag);
	}
	book->prices.rows = book->rows;
	json_decref(root);
	if (status == GP_OK) {
		*prices = &book->prices;
		return GP_OK;
	}
	gp_diag_file(diag, path);
	gp_prices_destroy(&book->prices);
	return status;
}

void gp_prices_destroy(struct gp_prices *prices)
{
	struct book *book = prices ? prices->memory : NULL;

	if (!book)
		return;
	free(book->rows);
	gp_arena_release(&book->arena);
	free(book);
}
