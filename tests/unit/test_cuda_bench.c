/* SPDX-License-Identifier: MIT */
/* Timing of device calls, on the runtime without a device. */
#include "device/bench.h"

#include <stdlib.h>

#include "cuda_stand_in.h"
#include "base/samples.h"

static const struct gp_bench_row *find_row(const struct gp_bench *bench,
					   unsigned call, uint64_t size)
{
	for (size_t i = 0; i < bench->count; i++)
		if (bench->rows[i].call == call && bench->rows[i].size == size)
			return &bench->rows[i];
	return NULL;
}

static enum gp_status measure(uint64_t capacity, struct gp_bench *bench,
			      struct gp_diag *diag)
{
	struct gp_cuda *cuda;
	struct gp_bench_config config = { .repeats = 20, .row_s = 1 };
	size_t before, after, total;
	enum gp_status status;

	simcuda_reset();
	simcuda_set_capacity(0, capacity);
	ck_assert_int_eq(stand_in_open(&cuda, diag), GP_OK);
	ck_assert_int_eq(cudaMemGetInfo(&before, &total), cudaSuccess);
	config.cuda = cuda;
	status = gp_bench_run(&config, bench, diag);
	ck_assert_int_eq(cudaMemGetInfo(&after, &total), cudaSuccess);
	ck_assert_uint_eq(before, after);
	ck_assert_uint_eq(simcuda_calls("cuMemAddressReserve"),
			  simcuda_calls("cuMemAddressFree"));
	gp_cuda_close(cuda);
	return status;
}

START_TEST(test_each_call_is_measured_by_size)
{
	struct gp_diag diag = { 0 };
	struct gp_bench bench;
	bool is_there[GP_BENCH_CALLS] = { false };

	ck_assert_int_eq(measure(UINT64_C(80) << 30, &bench, &diag), GP_OK);
	for (size_t i = 0; i < bench.count; i++) {
		const struct gp_bench_row *row = &bench.rows[i];

		is_there[row->call] = true;
		ck_assert_uint_ge(row->count, 20);
		ck_assert_double_eq_tol(row->p10_us, 1, 1e-6);
		ck_assert_double_eq_tol(row->p90_us, 1, 1e-6);
		if (i && row[-1].call == row->call)
			ck_assert_uint_lt(row[-1].size, row->size);
	}
	for (size_t i = 0; i <= GP_BENCH_REFUSED; i++)
		ck_assert_msg(is_there[i], "%s", gp_bench_call_name(i));
	ck_assert_ptr_nonnull(find_row(&bench, GP_BENCH_REFUSED, 0));
	ck_assert_ptr_nonnull(find_row(&bench, GP_PRICE_CREATE, 20 * MIB));
	gp_bench_release(&bench);
}
END_TEST

/* At most a quarter of the memory is used. */
START_TEST(test_a_small_device_is_measured_as_far_as_it_goes)
{
	struct gp_diag diag = { 0 };
	struct gp_bench bench;

	ck_assert_int_eq(measure(100 * MIB, &bench, &diag), GP_OK);
	ck_assert_ptr_nonnull(find_row(&bench, GP_PRICE_MALLOC, 20 * MIB));
	ck_assert_ptr_null(find_row(&bench, GP_PRICE_MALLOC, 64 * MIB));
	gp_bench_release(&bench);
}
END_TEST

static int refuse(void)
{
	return cudaErrorInvalidValue;
}

static int no_memory(void)
{
	return cudaErrorMemoryAllocation;
}

START_TEST(test_what_fails_is_named_and_the_rest_is_measured)
{
	static const char *const calls[] = {
		"cudaMalloc",	  "cuMemMap",	     "cuMemSetAccess",
		"cudaEventQuery", "cudaMallocAsync",
	};

	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		struct gp_diag diag = { 0 };
		struct gp_bench bench;

		stand_in_own.name = calls[i];
		stand_in_own.own = (void *)refuse;
		ck_assert_int_eq(measure(100 * MIB, &bench, &diag), GP_SYSTEM);
		ck_assert_str_eq(diag.file, calls[i]);
		ck_assert_ptr_nonnull(
			find_row(&bench, GP_PRICE_RESERVE, 20 * MIB));
		gp_bench_release(&bench);
	}
}
END_TEST

/* Other processes may use the memory, so this is no error. */
START_TEST(test_no_memory_ends_a_row_and_not_the_run)
{
	struct gp_diag diag = { 0 };
	struct gp_bench bench;

	stand_in_own.name = "cuMemCreate";
	stand_in_own.own = (void *)no_memory;
	ck_assert_int_eq(measure(100 * MIB, &bench, &diag), GP_OK);
	ck_assert_ptr_null(find_row(&bench, GP_PRICE_CREATE, 2 * MIB));
	ck_assert_ptr_nonnull(find_row(&bench, GP_PRICE_MALLOC, 2 * MIB));
	gp_bench_release(&bench);
}
END_TEST

static int not_supported(void)
{
	return cudaErrorNotSupported;
}

START_TEST(test_what_a_device_does_not_support_is_left_out)
{
	static const struct {
		const char *name;
		unsigned call;
	} rows[] = {
		{ "cudaDeviceGetDefaultMemPool", GP_BENCH_MALLOC_ASYNC },
		{ "cuMemCreate", GP_PRICE_CREATE },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		struct gp_bench bench;

		stand_in_own.name = rows[i].name;
		stand_in_own.own = (void *)not_supported;
		ck_assert_int_eq(measure(100 * MIB, &bench, &diag), GP_OK);
		ck_assert_ptr_null(find_row(&bench, rows[i].call, 2 * MIB));
		ck_assert_ptr_nonnull(
			find_row(&bench, GP_PRICE_MALLOC, 2 * MIB));
		gp_bench_release(&bench);
	}
}
END_TEST

static int no_device(int *count)
{
	*count = 0;
	return cudaErrorNoDevice;
}

START_TEST(test_what_is_missing_is_named)
{
	static const struct {
		const char *name;
		void *own;
		const char *what;
	} rows[] = {
		{ "cuMemCreate", NULL,
		  "it has no cuMemCreate, so it is not a usable CUDA runtime" },
		{ "cudaGetDeviceCount", (void *)no_device,
		  "there is no device: " },
		{ "cudaGetDeviceProperties", (void *)refuse,
		  "cudaErrorInvalidValue (1): " },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		struct gp_cuda *cuda = NULL;

		stand_in_own.name = rows[i].name;
		stand_in_own.own = rows[i].own;
		ck_assert_int_eq(stand_in_open(&cuda, &diag), GP_SYSTEM);
		ck_assert_ptr_null(cuda);
		ck_assert_ptr_nonnull(strstr(diag.what, rows[i].what));
	}
}
END_TEST

START_TEST(test_a_runtime_says_what_it_is)
{
	const struct gp_cuda_about *about;
	struct gp_diag diag = { 0 };
	struct gp_cuda *cuda;

	simcuda_reset();
	ck_assert_int_eq(stand_in_open(&cuda, &diag), GP_OK);
	about = gp_cuda_about(cuda);
	ck_assert_str_eq(about->gpu, "gpupool simulated device");
	ck_assert_uint_eq(about->total_bytes, UINT64_C(80) << 30);
	ck_assert_int_eq(about->runtime, 13000);
	ck_assert(about->is_stand_in);
	gp_cuda_close(cuda);
}
END_TEST

START_TEST(test_percentiles_are_by_nearest_rank)
{
	static const struct {
		size_t count;
		double p10, median, p90, most;
	} rows[] = {
		{ 0, 0, 0, 0, 0 },   { 1, 1, 1, 1, 1 },	   { 2, 1, 1, 2, 2 },
		{ 10, 1, 5, 9, 10 }, { 11, 2, 6, 10, 11 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct samples samples = { 0 };

		for (size_t k = rows[i].count; k; k--)
			samples_add(&samples, (double)k);
		samples_sort(&samples);
		ck_assert_double_eq(samples_at(&samples, 0.1), rows[i].p10);
		ck_assert_double_eq(samples_at(&samples, 0.5), rows[i].median);
		ck_assert_double_eq(samples_at(&samples, 0.9), rows[i].p90);
		ck_assert_double_eq(samples_at(&samples, 1), rows[i].most);
		samples_release(&samples);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_each_call_is_measured_by_size, 0 },
		{ test_a_small_device_is_measured_as_far_as_it_goes, 0 },
		{ test_what_fails_is_named_and_the_rest_is_measured, 0 },
		{ test_no_memory_ends_a_row_and_not_the_run, 0 },
		{ test_what_a_device_does_not_support_is_left_out, 0 },
		{ test_what_is_missing_is_named, 0 },
		{ test_a_runtime_says_what_it_is, 0 },
		{ test_percentiles_are_by_nearest_rank, 0 },
	};

	return suite_run("cuda_bench", tests, COUNT_OF(tests));
}
