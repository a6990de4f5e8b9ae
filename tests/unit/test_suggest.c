/* SPDX-License-Identifier: MIT */
/* Settings that people try, and which one is chosen. */
#include "gpupool/remedy.h"
#include "gpupool/suggest.h"

#include <stdlib.h>

#include "suite.h"
#include "trace_text.h"

START_TEST(settings_that_no_remedy_is_about_stay)
{
	static const struct gp_remedy remedy = { "max_split_size_mb:64", "" };
	static const struct gp_remedy none = { "", "" };
	static const struct {
		const char *recorded;
		const struct gp_remedy *remedy;
		const char *conf;
	} rows[] = {
		{ "", &none, "" },
		{ "", &remedy, "max_split_size_mb:64" },
		{ "backend:native", &none, "backend:native" },
		{ "expandable_segments:True", &none, "" },
		{ "per_process_memory_fraction:0.5,max_split_size_mb:128",
		  &remedy,
		  "per_process_memory_fraction:0.5,max_split_size_mb:64" },
		{ "roundup_power2_divisions:[256:1,>:4],backend:native",
		  &remedy, "backend:native,max_split_size_mb:64" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *conf = gp_remedy_conf(rows[i].recorded, rows[i].remedy);

		ck_assert_str_eq(conf, rows[i].conf);
		free(conf);
	}
}
END_TEST

START_TEST(a_setting_is_found_by_its_whole_name)
{
	ck_assert(gp_remedy_names("a:1, max_split_size_mb : 4",
				  "max_split_size_mb"));
	ck_assert(!gp_remedy_names("max_split_size_mb:4", "max_split"));
	ck_assert(!gp_remedy_names("roundup:[max:1,a:2]", "a"));
	ck_assert(!gp_remedy_names("", "a"));
}
END_TEST

static struct gp_suggestion suggestion_at(uint64_t capacity,
					  const char *const *without, size_t n)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\":\"alloc\",\"id\":1,\"size\":419430400},"
			   "{\"op\":\"free\",\"id\":1},"
			   "{\"op\":\"alloc\",\"id\":2,\"size\":104857600},"
			   "{\"op\":\"alloc\",\"id\":3,\"size\":209715200},"
			   "{\"op\":\"free\",\"id\":2},"
			   "{\"op\":\"alloc\",\"id\":4,\"size\":314572800}"));
	struct gp_suggest_config config = {
		.trace = trace,
		.release = GP_RELEASE_LAST,
		.conf = "",
		.engine = gp_engine_find("caching"),
		.capacity = &capacity,
		.prices = gp_prices_built_in(),
		.without = without,
		.without_count = n,
		.tries = 100,
	};
	struct gp_suggestion suggestion;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_suggest(&config, &suggestion, &diag), GP_OK);
	gp_trace_destroy(trace);
	return suggestion;
}

#define MIB (UINT64_C(1) << 20)

START_TEST(what_fits_stays)
{
	struct gp_suggestion s = suggestion_at(800 * MIB, NULL, 0);

	ck_assert_int_eq(s.verdict, GP_KEEP);
	ck_assert_uint_eq(s.chosen, 0);
	gp_suggestion_release(&s);
}
END_TEST

START_TEST(another_setting_is_chosen_where_one_fits)
{
	struct gp_suggestion s = suggestion_at(560 * MIB, NULL, 0);

	ck_assert_uint_gt(s.trials[0].ooms, 0);
	ck_assert_int_eq(s.verdict, GP_CHANGE);
	ck_assert_str_eq(s.trials[s.chosen].conf, "expandable_segments:True");
	ck_assert_uint_eq(s.trials[s.chosen].ooms, 0);
	gp_suggestion_release(&s);
}
END_TEST

START_TEST(what_cannot_be_used_is_not_chosen)
{
	static const char *const without[] = { "expandable_segments" };
	struct gp_suggestion s = suggestion_at(560 * MIB, without, 1);

	ck_assert_int_eq(s.verdict, GP_CHANGE);
	ck_assert(!gp_remedy_names(s.trials[s.chosen].conf, without[0]));
	ck_assert_str_eq(s.trials[s.unconstrained].conf,
			 "expandable_segments:True");
	gp_suggestion_release(&s);
}
END_TEST

START_TEST(where_none_fits_the_missing_memory_is_told)
{
	struct gp_suggestion s = suggestion_at(400 * MIB, NULL, 0);
	const struct gp_trial *best = &s.trials[s.chosen];

	ck_assert_int_eq(s.verdict, GP_CAPACITY);
	ck_assert_uint_eq(s.live, 500 * MIB);
	ck_assert_uint_ge(best->need, s.live);
	ck_assert_uint_eq(best->missing, best->need - 400 * MIB);
	ck_assert(s.is_exact);
	gp_suggestion_release(&s);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ settings_that_no_remedy_is_about_stay, 0 },
		{ a_setting_is_found_by_its_whole_name, 0 },
		{ what_fits_stays, 0 },
		{ another_setting_is_chosen_where_one_fits, 0 },
		{ what_cannot_be_used_is_not_chosen, 0 },
		{ where_none_fits_the_missing_memory_is_told, 0 },
	};

	return suite_run("suggest", tests, COUNT_OF(tests));
}
