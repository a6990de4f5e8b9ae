/* SPDX-License-Identifier: MIT */
/* Replays on a device beside simulated ones, where that device is another. */
#include "replay/verify/verify.h"

#include <string.h>

#include "suite.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

static const char three_blocks[] =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 0, \"size\": 20971520}, "
		   "{\"op\": \"alloc\", \"id\": 1, \"size\": 41943040}, "
		   "{\"op\": \"free\", \"id\": 0}, "
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 62914560}");

/* It has less than it is thought to have. */
static struct gp_device *make_smaller(void *arg, uint32_t ordinal,
				      uint64_t capacity)
{
	(void)capacity;
	return gp_sim_create(ordinal, *(const uint64_t *)arg);
}

/* Its addresses are its own: of blocks by its number, of reservations as
 * somebody has reserved there before. */
static struct gp_device *make_elsewhere(void *arg, uint32_t ordinal,
					uint64_t capacity)
{
	struct gp_device *device = gp_sim_create(ordinal + 1, capacity);
	uint64_t addr;

	(void)arg;
	ck_assert(device->ops->reserve(device, 64 * MIB, &addr));
	return device;
}

static struct gp_verify_result verify(struct gp_verify_config config)
{
	struct gp_trace *trace = trace_of(three_blocks);
	struct gp_settings settings;
	struct gp_verify_result result;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, 15);
	if (config.conf)
		ck_assert_int_eq(
			gp_settings_parse(&settings, config.conf, &diag),
			GP_OK);
	config.trace = trace;
	config.settings = &settings;
	config.capacity = 1024 * MIB;
	config.engine = gp_engine_find("caching");
	ck_assert_int_eq(gp_verify(&config, &result, &diag), GP_OK);
	gp_trace_destroy(trace);
	return result;
}

START_TEST(test_a_device_that_has_enough_is_equal)
{
	uint64_t bytes = 1024 * MIB;
	struct gp_verify_result result = verify((struct gp_verify_config){
		.make_device = make_smaller, .make_device_arg = &bytes });

	ck_assert(!result.first.is_there);
	ck_assert_uint_gt(result.actions, 4);
	ck_assert_uint_gt(result.counters, 100);
	ck_assert_uint_eq(result.peak, 120 * MIB);
}
END_TEST

START_TEST(test_a_device_that_runs_out_parts_there)
{
	uint64_t bytes = 80 * MIB;
	struct gp_verify_result result = verify((struct gp_verify_config){
		.make_device = make_smaller, .make_device_arg = &bytes });

	ck_assert(result.first.is_there);
	ck_assert_int_eq(result.first.kind, GP_DIFFERENT_ACTION);
	ck_assert_uint_eq(result.first.event, 3);
}
END_TEST

START_TEST(test_addresses_of_a_device_may_be_its_own)
{
	struct gp_verify_config config = { .make_device = make_elsewhere };
	const struct gp_torch_cuda own = { 0 };

	for (int i = 0; i < 2; i++) {
		config.torch_cuda = NULL;
		ck_assert(verify(config).first.is_there);
		config.torch_cuda = &own;
		ck_assert(!verify(config).first.is_there);
		config.conf = "expandable_segments:True";
	}
}
END_TEST

static struct gp_device *make_none(void *arg, uint32_t ordinal,
				   uint64_t capacity)
{
	(void)arg;
	(void)ordinal;
	(void)capacity;
	ck_abort_msg("the device was asked for");
}

START_TEST(test_what_does_not_fit_is_not_run)
{
	struct gp_verify_result result = verify((struct gp_verify_config){
		.make_device = make_none, .room = 119 * MIB });

	ck_assert(result.is_too_large);
	ck_assert(!result.first.is_there);
	ck_assert_uint_eq(result.peak, 120 * MIB);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_device_that_has_enough_is_equal, 0 },
		{ test_a_device_that_runs_out_parts_there, 0 },
		{ test_addresses_of_a_device_may_be_its_own, 0 },
		{ test_what_does_not_fit_is_not_run, 0 },
	};

	return suite_run("verify_device", tests, COUNT_OF(tests));
}
