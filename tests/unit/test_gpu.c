/* SPDX-License-Identifier: MIT */
/* The table of real devices. */
#include <string.h>

#include "device/gpu.h"
#include "suite.h"

#define GIB (UINT64_C(1) << 30)

START_TEST(test_each_device_is_found_by_its_name)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++)
		for (int shown = 0; shown < 2; shown++) {
			const char *name =
				shown ? gpus[i].properties.name : gpus[i].name;
			struct gp_diag diag = { 0 };

			ck_assert_msg(gp_gpu_find(name, &diag) == &gpus[i],
				      "%s: %s", name, diag.what);
		}
}
END_TEST

START_TEST(test_what_pytorch_does_not_see_is_some_hundred_mib)
{
	size_t count, told = 0;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++) {
		struct gp_non_pytorch n = gp_gpu_non_pytorch(&gpus[i]);

		ck_assert_msg(n.low >= 100 << 20 && n.low <= n.high &&
				      n.high <= n.shown &&
				      n.high < gpus[i].capacity / 8,
			      "%s", gpus[i].name);
		told += n.source != NULL;
	}
	ck_assert_uint_eq(told, 13);
}
END_TEST

START_TEST(test_usual_spellings_are_understood)
{
	static const struct {
		const char *spelling, *name;
	} rows[] = {
		{ "h100", "h100-80gb" },
		{ "H100", "h100-80gb" },
		{ "H100 SXM5", "h100-80gb" },
		{ "h100-sxm5-80gb", "h100-80gb" },
		{ "H100 PCIe 80GB", "h100-pcie" },
		{ "NVIDIA H100 80GB HBM3", "h100-80gb" },
		{ "h200 141GB", "h200" },
		{ "A100-40G", "a100-40gb" },
		{ "a100_80gb", "a100-80gb" },
		{ "A100 80 GB", "a100-80gb" },
		{ "NVIDIA A100-SXM4-40GB", "a100-40gb" },
		{ "v100-sxm2-32gb", "v100-32gb" },
		{ "RTX 3090", "rtx-3090" },
		{ "rtx3090", "rtx-3090" },
		{ "RTX3090 Ti", "rtx-3090-ti" },
		{ "GeForce RTX 4090 24GB", "rtx-4090" },
		{ "2080ti", "rtx-2080-ti" },
		{ "4090", "rtx-4090" },
		{ "A6000", "rtx-a6000" },
		{ "rtx6000 ada", "rtx-6000-ada" },
		{ "Tesla T4", "t4" },
		{ "T4 16GB", "t4" },
		{ "L40S", "l40s" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		const struct gp_gpu *gpu = gp_gpu_find(rows[i].spelling, &diag);

		ck_assert_msg(gpu && !strcmp(gpu->name, rows[i].name),
			      "%s is %s %s", rows[i].spelling,
			      gpu ? gpu->name : "none", diag.what);
	}
}
END_TEST

/* An unknown device is never replaced by a known one. */
START_TEST(test_what_is_not_certain_names_the_choices)
{
	static const struct {
		const char *spelling, *hint;
	} rows[] = {
		{ "a100", "write a100-40gb or a100-80gb" },
		{ "V100", "write v100-16gb or v100-32gb" },
		{ "a100 24gb", "write a100-40gb or a100-80gb" },
		{ "A100 80GB PCIe", "write a100-40gb or a100-80gb" },
		{ "h100 94gb", "write h100-80gb or h100-pcie" },
		{ "h200 96gb", "write h200" },
		{ "rtx 4060", "write rtx-4060-laptop" },
		{ "rtx 3090 48GB", "write rtx-3090 or rtx-3090-ti" },
		{ "x", "gpupool record --gpu help lists the devices" },
		{ "", "gpupool record --gpu help lists the devices" },
		{ "NVIDIA", "gpupool record --gpu help lists the devices" },
		{ "80gb", "gpupool record --gpu help lists the devices" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };

		ck_assert_msg(!gp_gpu_find(rows[i].spelling, &diag), "%s",
			      rows[i].spelling);
		ck_assert_str_eq(diag.hint, rows[i].hint);
	}
}
END_TEST

/* A message prints the memory with two decimals. */
START_TEST(test_a_device_is_found_by_its_memory)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);
	const struct gp_gpu *found;

	for (size_t i = 0; i < count; i++) {
		found = gp_gpu_of_capacity(gpus[i].capacity + (1 << 20));
		ck_assert_ptr_nonnull(found);
		ck_assert_uint_eq(found->capacity, gpus[i].capacity);
	}
	found = gp_gpu_of_capacity((uint64_t)(23.69 * (1 << 30)));
	ck_assert_str_eq(found->name, "rtx-3090");
	ck_assert_ptr_null(gp_gpu_of_capacity(1 << 30));
	ck_assert_ptr_null(gp_gpu_of_capacity(0));
}
END_TEST

START_TEST(test_a_long_name_ends_somewhere)
{
	char name[400];
	struct gp_diag diag = { 0 };

	memset(name, '8', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ck_assert_ptr_null(gp_gpu_find(name, &diag));
	for (size_t i = 1; i < sizeof(name) - 1; i += 2)
		name[i] = ' ';
	ck_assert_ptr_null(gp_gpu_find(name, &diag));
	memset(name, 'a', sizeof(name) - 1);
	ck_assert_ptr_null(gp_gpu_find(name, &diag));
}
END_TEST

START_TEST(test_a_capacity_is_a_size_a_device_or_unlimited)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{ "80GB", 80 * GIB },
		{ "80g", 80 * GIB },
		{ "1.5GiB", 3 * GIB / 2 },
		{ "1e9", 1000000000 },
		{ "8.5e10", 85000000000 },
		{ "85899345920", 80 * GIB },
		{ "1048576", 1 << 20 },
		{ "512KiB", 512 << 10 }, /* the unit is given */
		{ "unlimited", UINT64_MAX },
		{ "H100", 85017755648 },
		{ "a100-40gb", 42298834944 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		uint64_t bytes = 0;

		ck_assert_msg(gp_capacity_parse(rows[i].text, &bytes, &diag) ==
				      GP_OK,
			      "%s: %s", rows[i].text, diag.what);
		ck_assert_uint_eq(bytes, rows[i].bytes);
	}
}
END_TEST

START_TEST(test_what_is_no_capacity_says_what_to_type)
{
	static const struct {
		const char *text, *hint;
	} rows[] = {
		{ "80", "write 80GiB" },
		{ "1.5", "write 1.5GiB" },
		{ "24564", "write 24564MiB" },
		{ "4090", "write rtx-4090 for that device" },
		{ "a100", "write a100-40gb or a100-80gb" },
		{ "much", "write a size such as 80GiB, a device such as h100, "
			  "or unlimited" },
		{ "0", "write a size such as 80GiB, a device such as h100, or "
		       "unlimited" },
		{ "9223372036854775808", "write a size such as 80GiB, a device "
					 "such as h100, or unlimited" },
		{ "-1", "write a size such as 80GiB, a device such as h100, or "
			"unlimited" },
		{ "", "write a size such as 80GiB, a device such as h100, or "
		      "unlimited" },
		{ "0x50000000", "write a size such as 80GiB, a device such as "
				"h100, or unlimited" },
		{ "80XB", "write a size such as 80GiB, a device such as h100, "
			  "or unlimited" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		uint64_t bytes = 7;

		ck_assert_int_eq(gp_capacity_parse(rows[i].text, &bytes, &diag),
				 GP_USAGE);
		ck_assert_str_eq(diag.hint, rows[i].hint);
		ck_assert_uint_eq(bytes, 7);
	}
}
END_TEST

/* Properties by which PyTorch, cub and Triton divide or plan. */
START_TEST(test_no_device_lacks_a_property)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++) {
		const struct gp_gpu_properties *p = &gpus[i].properties;
		int capability = 10 * p->major + p->minor;

		ck_assert(*p->name && *gpus[i].source);
		ck_assert_uint_ge(gpus[i].capacity, 5 * GIB);
		ck_assert_int_ge(capability, 60);
		ck_assert_int_gt(p->multiprocessors, 0);
		ck_assert_int_gt(p->l2_bytes, 0);
		ck_assert_int_gt(p->bus_width_bits, 0);
		ck_assert_int_gt(p->blocks_per_sm, 0);
		ck_assert_int_gt(p->clock_khz, 0);
		ck_assert_int_gt(p->memory_clock_khz, 0);
		ck_assert_int_le(p->shared_per_block, 48 << 10);
		ck_assert_int_le(p->shared_per_block_optin, p->shared_per_sm);
		ck_assert_int_eq(p->threads_per_sm % 32, 0);
		ck_assert_int_le(p->compiled_for, capability);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_each_device_is_found_by_its_name, 0 },
		{ test_what_pytorch_does_not_see_is_some_hundred_mib, 0 },
		{ test_usual_spellings_are_understood, 0 },
		{ test_what_is_not_certain_names_the_choices, 0 },
		{ test_a_device_is_found_by_its_memory, 0 },
		{ test_a_long_name_ends_somewhere, 0 },
		{ test_a_capacity_is_a_size_a_device_or_unlimited, 0 },
		{ test_what_is_no_capacity_says_what_to_type, 0 },
		{ test_no_device_lacks_a_property, 0 },
	};

	return suite_run("gpu", tests, COUNT_OF(tests));
}
