/* The table of real devices. */
#include <string.h>

#include "gpupool/record.h"
#include "suite.h"

#define GIB (UINT64_C(1) << 30)

START_TEST(test_each_device_is_found_by_its_name)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++)
		ck_assert_ptr_eq(gp_gpu_find(gpus[i].name), &gpus[i]);
	ck_assert_ptr_null(gp_gpu_find("h100"));
}
END_TEST

/* What PyTorch, cub and Triton divide by or plan with. */
START_TEST(test_no_device_lacks_a_property)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++) {
		const struct simcuda_properties *p = &gpus[i].properties;
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
		{ test_no_device_lacks_a_property, 0 },
	};

	return suite_run("gpu", tests, COUNT_OF(tests));
}
