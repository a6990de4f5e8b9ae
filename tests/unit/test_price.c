/* SPDX-License-Identifier: MIT */
/* Prices: points, interpolation between them, and files with prices. */
#include "gpupool/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

#define MIB UINT64_C(0x100000)

static const struct gp_price rows[] = {
	{ GP_PRICE_MALLOC, 2 * MIB, 10, "test" },
	{ GP_PRICE_MALLOC, 12 * MIB, 110, "test" },
	{ GP_PRICE_CREATE, 2 * MIB, 5, "test" },
	{ GP_PRICE_ACCESS, 0, 1, "test" },
	{ GP_PRICE_SYNCHRONIZE, 0, 1000, "test" },
};
static const struct gp_prices prices = { .rows = rows,
					 .count = COUNT_OF(rows) };

START_TEST(test_a_price_lies_on_the_line_between_two_points)
{
	static const struct {
		uint64_t size;
		double us;
	} sizes[] = {
		{ 0, 10 },	 { 2 * MIB, 10 },   { 3 * MIB, 20 },
		{ 7 * MIB, 60 }, { 12 * MIB, 110 }, { 900 * MIB, 110 },
	};

	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		ck_assert_double_eq_tol(
			gp_price_at(&prices, GP_PRICE_MALLOC, sizes[i].size),
			sizes[i].us, 1e-9);
	ck_assert_double_eq(gp_price_at(&prices, GP_PRICE_UNMAP, MIB), 0);
}
END_TEST

START_TEST(test_calls_are_priced_by_size)
{
	struct gp_device *device = gp_sim_create(0, 64 * MIB);
	uint64_t addr;

	ck_assert(device->ops->malloc(device, 3 * MIB, &addr));
	ck_assert(device->ops->malloc(device, 7 * MIB, &addr));
	ck_assert(!device->ops->malloc(device, 90 * MIB, &addr));
	ck_assert(device->ops->reserve(device, 40 * MIB, &addr));
	ck_assert(device->ops->map(device, addr, 8 * MIB, 2 * MIB));
	/* 20 + 60, a failed call at 10, four pages at 5, one range at 1 */
	ck_assert_double_eq_tol(gp_price_of(&prices, &device->calls, 0), 111,
				1e-9);
	ck_assert_double_eq_tol(gp_price_of(&prices, &device->calls, 2), 2111,
				1e-9);
	gp_device_destroy(device);
}
END_TEST

START_TEST(test_built_in_prices_are_ordered_and_have_sources)
{
	const struct gp_prices *built_in = gp_prices_built_in();
	bool is_there[GP_PRICE_CALLS] = { false };

	for (size_t i = 0; i < built_in->count; i++) {
		const struct gp_price *row = &built_in->rows[i];

		is_there[row->call] = true;
		ck_assert_ptr_nonnull(row->source);
		if (i && row[-1].call == row->call)
			ck_assert_uint_lt(row[-1].size, row->size);
		else
			ck_assert(!i || row[-1].call < row->call);
	}
	for (size_t i = 0; i < GP_PRICE_CALLS; i++)
		ck_assert(is_there[i]);
}
END_TEST

static enum gp_status read_text(const char *text, struct gp_prices **read,
				struct gp_diag *diag)
{
	char path[] = "/tmp/gpupool-prices-XXXXXX";
	int fd = mkstemp(path);
	enum gp_status status;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	status = gp_prices_read(path, read, diag);
	unlink(path);
	return status;
}

#define FILE_OF(list)                                                          \
	"{\"format\": \"gpupool-prices\", \"version\": 1, \"prices\": " list "}"

START_TEST(test_a_file_replaces_the_calls_it_lists)
{
	struct gp_diag diag = { 0 };
	struct gp_prices *read;

	ck_assert_int_eq(
		read_text(FILE_OF("[{\"call\": \"cudaMalloc\", \"size\": 4, "
				  "\"us\": 8}, {\"call\": \"cudaMalloc\", "
				  "\"us\": 2.5, \"source\": \"here\"}]"),
			  &read, &diag),
		GP_OK);
	ck_assert_double_eq(gp_price_at(read, GP_PRICE_MALLOC, 0), 2.5);
	ck_assert_double_eq(gp_price_at(read, GP_PRICE_MALLOC, 9), 8);
	ck_assert_double_eq(
		gp_price_at(read, GP_PRICE_CREATE, 9),
		gp_price_at(gp_prices_built_in(), GP_PRICE_CREATE, 9));
	ck_assert_str_eq(read->rows[0].source, "here");
	gp_prices_destroy(read);
}
END_TEST

START_TEST(test_files_with_mistakes_are_refused)
{
	static const struct {
		const char *text, *record, *what;
	} files[] = {
		{ "", "line 1", NULL },
		{ "[]", "", "\"format\" is not \"gpupool-prices\"" },
		{ "{\"format\": \"gpupool-prices\", \"version\": 2}", "",
		  "\"version\" is not 1" },
		{ FILE_OF("{}"), "", "\"prices\" is not a list" },
		{ FILE_OF("[7]"), "price 1", "\"call\" is missing" },
		{ FILE_OF("[{\"call\": \"free\", \"us\": 1}]"), "price 1",
		  "\"call\" is not a call with a price: free" },
		{ FILE_OF("[{\"call\": \"cudaFree\", \"us\": -1}]"), "price 1",
		  "\"us\" is not a time in microseconds" },
		{ FILE_OF("[{\"call\": \"cudaFree\", \"us\": 1, \"size\": "
			  "-1}]"),
		  "price 1", "\"size\" is not a number of bytes" },
		{ FILE_OF("[{\"call\": \"cudaFree\", \"us\": 1}, {\"call\": "
			  "\"cudaFree\", \"us\": 2}]"),
		  "", "cudaFree of 0 bytes has two prices" },
	};

	for (size_t i = 0; i < COUNT_OF(files); i++) {
		struct gp_diag diag = { 0 };
		struct gp_prices *read = NULL;

		ck_assert_int_eq(read_text(files[i].text, &read, &diag),
				 GP_INPUT);
		ck_assert_str_eq(diag.record, files[i].record);
		if (files[i].what)
			ck_assert_str_eq(diag.what, files[i].what);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_price_lies_on_the_line_between_two_points, 0 },
		{ test_calls_are_priced_by_size, 0 },
		{ test_built_in_prices_are_ordered_and_have_sources, 0 },
		{ test_a_file_replaces_the_calls_it_lists, 0 },
		{ test_files_with_mistakes_are_refused, 0 },
	};

	return suite_run("price", tests, COUNT_OF(tests));
}
