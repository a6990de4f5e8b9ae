/* SPDX-License-Identifier: MIT */
/* The settings that people use, and which one is advised. */
#include "gpupool/study.h"

#include <stdlib.h>

#include "suite.h"
#include "trace_text.h"

START_TEST(settings_that_no_candidate_is_about_stay)
{
	static const struct {
		const char *base, *conf, *made;
	} rows[] = {
		{ "", "", "" },
		{ "", "max_split_size_mb:64", "max_split_size_mb:64" },
		{ "backend:native", "", "backend:native" },
		{ "expandable_segments:True", "", "" },
		{ "per_process_memory_fraction:0.5,max_split_size_mb:128",
		  "max_split_size_mb:64",
		  "per_process_memory_fraction:0.5,max_split_size_mb:64" },
		{ "roundup_power2_divisions:[256:1,>:4],backend:native",
		  "max_split_size_mb:64",
		  "backend:native,max_split_size_mb:64" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *conf = gp_candidate_apply(rows[i].base, rows[i].conf);

		ck_assert_str_eq(conf, rows[i].made);
		free(conf);
	}
}
END_TEST

START_TEST(a_setting_is_found_by_its_whole_name)
{
	ck_assert(gp_conf_names("a:1, max_split_size_mb : 4",
				"max_split_size_mb"));
	ck_assert(!gp_conf_names("max_split_size_mb:4", "max_split"));
	ck_assert(!gp_conf_names("roundup:[max:1,a:2]", "a"));
	ck_assert(!gp_conf_names("", "a"));
}
END_TEST

/* 400 MiB, then 300 MiB in two, and a hole of 100 that does not fit 300. */
static struct gp_trace *with_a_hole(void)
{
	return trace_of(
		ONE_DEVICE("{\"op\":\"alloc\",\"id\":1,\"size\":419430400},"
			   "{\"op\":\"free\",\"id\":1},"
			   "{\"op\":\"alloc\",\"id\":2,\"size\":104857600},"
			   "{\"op\":\"alloc\",\"id\":3,\"size\":209715200},"
			   "{\"op\":\"free\",\"id\":2},"
			   "{\"op\":\"alloc\",\"id\":4,\"size\":314572800}"));
}

/* The trace is not needed any more. */
static struct gp_study study_at(const struct gp_trace *trace, uint64_t capacity,
				const char *without)
{
	const struct gp_case one = { .trace = trace, .capacity = capacity };
	struct gp_study_config config = {
		.cases = &one,
		.case_count = 1,
		.release = GP_RELEASE_LAST,
		.conf = "",
		.engine = gp_engine_find("caching"),
		.prices = gp_prices_built_in(),
		.without = &without,
		.without_count = without != NULL,
	};
	struct gp_study study;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_study(&config, &study, &diag), GP_OK);
	return study;
}

#define MIB (UINT64_C(1) << 20)

START_TEST(what_fits_and_needs_little_stays)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\":\"alloc\",\"id\":1,\"size\":419430400}"));
	struct gp_study s = study_at(trace, 800 * MIB, NULL);

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_FITS);
	ck_assert_ptr_null(s.verdicts[0].conf);
	ck_assert_uint_eq(s.verdicts[0].need, 400 * MIB);
	ck_assert_uint_eq(s.verdicts[0].spare, 400 * MIB);
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_fits_and_would_need_less_is_advised_so)
{
	struct gp_trace *trace = with_a_hole();
	struct gp_study s = study_at(trace, 800 * MIB, NULL);

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_FITS);
	ck_assert_str_eq(s.verdicts[0].conf, "expandable_segments:True");
	ck_assert(gp_study_is_less(s.verdicts[0].need,
				   s.verdicts[0].need_as_recorded));
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(another_setting_is_advised_where_one_serves)
{
	struct gp_trace *trace = with_a_hole();
	struct gp_study s = study_at(trace, 560 * MIB, NULL);

	ck_assert_uint_gt(s.trials[0].ooms, 0);
	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_SETTING);
	ck_assert_str_eq(s.verdicts[0].conf, "expandable_segments:True");
	ck_assert_uint_eq(s.trials[s.best].ooms, 0);
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_cannot_be_used_is_not_advised)
{
	struct gp_trace *trace = with_a_hole();
	struct gp_study s = study_at(trace, 560 * MIB, "expandable_segments");

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_SETTING);
	ck_assert(!gp_conf_names(s.verdicts[0].conf, "expandable_segments"));
	ck_assert_str_eq(s.trials[s.unconstrained].conf,
			 "expandable_segments:True");
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_is_live_decides_that_a_device_is_too_small)
{
	struct gp_trace *trace = with_a_hole();
	struct gp_study s = study_at(trace, 400 * MIB, NULL);

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_TOO_SMALL);
	ck_assert_uint_eq(s.verdicts[0].live, 500 * MIB);
	ck_assert_uint_eq(s.verdicts[0].missing,
			  s.verdicts[0].need - 400 * MIB);
	ck_assert_ptr_null(s.verdicts[0].conf);
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_capacity_below_the_start_is_undecided)
{
	struct gp_trace *trace = trace_of(
		"{\"format\":\"gpupool-trace\",\"version\":1,\"devices\":[{"
		"\"device\":0,\"start\":{\"segments\":[{\"address\":"
		"123145302310912,\"total_size\":20971520,\"stream\":0,"
		"\"segment_type\":\"large\",\"blocks\":[{\"size\":20971520,"
		"\"state\":\"inactive\"}]}]},\"events\":["
		"{\"op\":\"alloc\",\"id\":1,\"size\":4096}]}]}");
	struct gp_study s = study_at(trace, 10 * MIB, NULL);

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_UNDECIDED);
	ck_assert(!s.verdicts[0].is_complete);
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ settings_that_no_candidate_is_about_stay, 0 },
		{ a_setting_is_found_by_its_whole_name, 0 },
		{ what_fits_and_needs_little_stays, 0 },
		{ what_fits_and_would_need_less_is_advised_so, 0 },
		{ another_setting_is_advised_where_one_serves, 0 },
		{ what_cannot_be_used_is_not_advised, 0 },
		{ what_is_live_decides_that_a_device_is_too_small, 0 },
		{ a_capacity_below_the_start_is_undecided, 0 },
	};

	return suite_run("judge", tests, COUNT_OF(tests));
}
