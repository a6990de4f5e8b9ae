/* SPDX-License-Identifier: MIT */
/* The settings that people use, and which one is recommended. */
#include "gpupool/study.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpupool/knob.h"
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

/* 400 MiB, then 300 MiB in two blocks, and a hole of 100 MiB that cannot serve
 * 300. */
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

static struct gp_study with_conf(const struct gp_trace *trace,
				 uint64_t capacity, const char *conf,
				 const char *without, size_t threads)
{
	const struct gp_case one = { .trace = trace, .capacity = capacity };
	struct gp_study_config config = {
		.cases = &one,
		.case_count = 1,
		.release = GP_RELEASE_LAST,
		.conf = conf,
		.engine = gp_engine_find("caching"),
		.prices = gp_prices_built_in(),
		.without = &without,
		.without_count = without != NULL,
		.threads = threads,
	};
	struct gp_study study;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_study(&config, &study, &diag), GP_OK);
	return study;
}

static struct gp_study on_threads(const struct gp_trace *trace,
				  uint64_t capacity, const char *without,
				  size_t threads)
{
	return with_conf(trace, capacity, "", without, threads);
}

static struct gp_study study_at(const struct gp_trace *trace, uint64_t capacity,
				const char *without)
{
	return on_threads(trace, capacity, without, 1);
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

/* ---- several cases ---- */

#define ALLOC(id, mib) "{\"op\":\"alloc\",\"id\":" #id ",\"size\":" #mib "}"

/* 500 MiB at once, with no hole. */
static struct gp_trace *without_a_hole(void)
{
	return trace_of(ONE_DEVICE(ALLOC(1, 524288000)));
}

static struct gp_study study_of(const struct gp_case *cases, size_t count)
{
	struct gp_study_config config = {
		.cases = cases,
		.case_count = count,
		.release = GP_RELEASE_LAST,
		.conf = "",
		.engine = gp_engine_find("caching"),
		.prices = gp_prices_built_in(),
	};
	struct gp_study study;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_study(&config, &study, &diag), GP_OK);
	return study;
}

START_TEST(what_fits_beside_one_that_does_not_still_fits)
{
	struct gp_trace *plain = without_a_hole(), *hole = with_a_hole();
	const struct gp_case cases[] = {
		{ .trace = plain, .capacity = 560 * MIB },
		{ .trace = hole, .capacity = 560 * MIB },
	};
	struct gp_study s = study_of(cases, COUNT_OF(cases));

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_FITS);
	ck_assert_int_eq(s.verdicts[1].kind, GP_VERDICT_SETTING);
	/* A single setting serves both. */
	ck_assert(s.is_change);
	ck_assert_str_eq(s.verdicts[0].conf, "expandable_segments:True");
	ck_assert_str_eq(s.verdicts[1].conf, "expandable_segments:True");
	ck_assert_uint_eq(gp_verdict_worst(s.verdicts, s.case_count), 1);
	gp_study_release(&s);
	gp_trace_destroy(plain);
	gp_trace_destroy(hole);
}
END_TEST

START_TEST(beside_one_that_is_too_small_the_others_are_judged)
{
	struct gp_trace *plain = without_a_hole(), *hole = with_a_hole();
	const struct gp_case cases[] = {
		{ .trace = plain, .capacity = 400 * MIB },
		{ .trace = hole, .capacity = 560 * MIB },
	};
	struct gp_study s = study_of(cases, COUNT_OF(cases));

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_TOO_SMALL);
	ck_assert_ptr_null(s.verdicts[0].conf);
	ck_assert_uint_eq(s.verdicts[0].missing, 100 * MIB);
	ck_assert_int_eq(s.verdicts[1].kind, GP_VERDICT_SETTING);
	ck_assert_str_eq(s.verdicts[1].conf, "expandable_segments:True");
	ck_assert_uint_eq(gp_verdict_worst(s.verdicts, s.case_count), 0);
	ck_assert(s.trials[0].cases[0].first_oom.is_there);
	ck_assert_uint_ne(s.trials[0].cases[0].first_oom.event,
			  s.trials[0].cases[1].first_oom.event);
	gp_study_release(&s);
	gp_trace_destroy(plain);
	gp_trace_destroy(hole);
}
END_TEST

/* Twenty blocks of 9 MiB, two in each segment of 20 MiB. Of each pair one is
 * freed, and no setting makes room for 60 MiB in 180. */
static struct gp_trace *beyond_help(void)
{
	char text[8192], events[4096] = "";
	size_t n = 0;

	for (int i = 1; i <= 20; i++)
		n += (size_t)snprintf(events + n, sizeof(events) - n,
				      ALLOC(% d, 9437184) ",", i);
	for (int i = 1; i <= 20; i += 2)
		n += (size_t)snprintf(events + n, sizeof(events) - n,
				      "{\"op\":\"free\",\"id\":%d},", i);
	snprintf(text, sizeof(text), ONE_DEVICE("%s" ALLOC(21, 62914560)),
		 events);
	return trace_of(text);
}

START_TEST(what_nothing_serves_keeps_nobody_from_a_setting)
{
	struct gp_trace *hole = with_a_hole(), *lost = beyond_help();
	const struct gp_case alone = { .trace = lost, .capacity = 180 * MIB };
	const struct gp_case cases[] = {
		{ .trace = hole, .capacity = 560 * MIB },
		{ .trace = lost, .capacity = 180 * MIB },
	};
	struct gp_study one = study_of(&alone, 1);
	struct gp_study s = study_of(cases, COUNT_OF(cases));

	ck_assert_int_eq(one.verdicts[0].kind, GP_VERDICT_NO_SETTING);
	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_SETTING);
	ck_assert_str_eq(s.verdicts[0].conf, "expandable_segments:True");
	ck_assert_int_eq(s.verdicts[1].kind, GP_VERDICT_NO_SETTING);
	ck_assert_uint_eq(s.verdicts[1].missing, one.verdicts[0].missing);
	ck_assert(s.verdicts[1].is_complete == one.verdicts[0].is_complete);
	gp_study_release(&one);
	gp_study_release(&s);
	gp_trace_destroy(hole);
	gp_trace_destroy(lost);
}
END_TEST

#define TWO	 ALLOC(1, 33554432) "," ALLOC(2, 25165824)
#define THREE	 TWO "," ALLOC(3, 188743680)
#define FREE_ONE "{\"op\":\"free\",\"id\":1}"
#define TWO_MORE ALLOC(4, 2097152) "," ALLOC(5, 125829120)

/* Only large_segment_size_mb together with another setting would serve with so
 * little memory. */
START_TEST(what_is_missing_is_missing_under_every_setting)
{
	struct gp_trace *t =
		trace_of(ONE_DEVICE(THREE "," FREE_ONE "," TWO_MORE));
	const struct gp_case one = { .trace = t, .capacity = 326 * MIB };
	struct gp_study s = study_of(&one, 1);

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_NO_SETTING);
	ck_assert_uint_eq(s.verdicts[0].live, 326 * MIB);
	ck_assert_uint_eq(s.verdicts[0].missing, 4 * MIB);
	ck_assert(s.verdicts[0].is_complete);
	gp_study_release(&s);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(what_is_undecided_keeps_nobody_from_a_verdict)
{
	struct gp_trace *plain = without_a_hole(),
			*still = trace_of(ONE_DEVICE(""));
	const struct gp_case cases[] = {
		{ .trace = still, .capacity = 560 * MIB },
		{ .trace = plain, .capacity = 400 * MIB },
	};
	struct gp_study s = study_of(cases, COUNT_OF(cases));

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_UNDECIDED);
	ck_assert_int_eq(s.verdicts[1].kind, GP_VERDICT_TOO_SMALL);
	ck_assert_uint_eq(s.verdicts[1].missing, 100 * MIB);
	ck_assert_uint_eq(gp_verdict_worst(s.verdicts, s.case_count), 1);
	gp_study_release(&s);
	gp_trace_destroy(plain);
	gp_trace_destroy(still);
}
END_TEST

/* A window that begins with 300 MiB cached, in blocks that fit no request. */
static struct gp_trace *window(void)
{
	return trace_of(
		"{\"format\":\"gpupool-trace\",\"version\":1,\"devices\":[{"
		"\"device\":0,\"start\":{\"segments\":[{\"address\":"
		"123145302310912,\"total_size\":314572800,\"stream\":0,"
		"\"segment_type\":\"large\",\"blocks\":[{\"size\":314572800,"
		"\"state\":\"inactive\"}]}]},\"events\":[" ALLOC(
			1, 104857600) "," ALLOC(2, 262144000) "]}]}");
}

START_TEST(a_window_spares_nothing_where_a_whole_trace_needs_more)
{
	struct gp_trace *part = window(),
			*whole = trace_of(ONE_DEVICE(ALLOC(1, 2097152000)));
	const struct gp_case cases[] = {
		{ .trace = part, .capacity = 4000 * MIB },
		{ .trace = whole, .capacity = 4000 * MIB },
	};
	struct gp_study s = study_of(cases, COUNT_OF(cases));

	ck_assert_int_eq(s.verdicts[0].begins, GP_BEGINS_WINDOW);
	ck_assert(!s.is_change);
	ck_assert_ptr_null(s.verdicts[0].conf);
	ck_assert_ptr_null(s.verdicts[1].conf);
	gp_study_release(&s);
	gp_trace_destroy(part);
	gp_trace_destroy(whole);
}
END_TEST

/* Sizes in MiB; -N frees the N-th block. */
static struct gp_trace *of_sizes(const int *sizes, size_t count)
{
	char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");
	unsigned id = 0;

	fputs("{\"format\":\"gpupool-trace\",\"version\":1,"
	      "\"devices\":[{\"device\":0}]}\n",
	      out);
	for (size_t i = 0; i < count; i++)
		if (sizes[i] < 0)
			fprintf(out, "{\"op\":\"free\",\"id\":%d}\n",
				-sizes[i]);
		else
			fprintf(out,
				"{\"op\":\"alloc\",\"id\":%u,"
				"\"size\":%llu}\n",
				++id, (unsigned long long)sizes[i] * MIB);
	fclose(out);
	return trace_of(text);
}

/* No setting in the table serves both traces. */
START_TEST(where_no_setting_serves_all_two_together_may)
{
	static const int one[] = { 13, 35, 13, 4, 3, 33, 51, 5, 21, 9, 49 };
	static const int other[] = { 18, 51, 25, 41, 52, -4, 21, -3,
				     3,	 21, 36, 21, -9, 21, 32 };
	struct gp_trace *a = of_sizes(one, COUNT_OF(one));
	struct gp_trace *b = of_sizes(other, COUNT_OF(other));
	const struct gp_case cases[] = {
		{ .trace = a, .capacity = 260 * MIB },
		{ .trace = b, .capacity = 260 * MIB },
	};
	struct gp_study s = study_of(cases, COUNT_OF(cases));

	ck_assert(!s.is_divided);
	ck_assert(s.is_change);
	ck_assert_uint_eq(gp_conf_length(s.verdicts[0].conf), 2);
	ck_assert_str_eq(s.verdicts[1].conf, s.verdicts[0].conf);
	ck_assert(s.trials[s.best].is_served);
	gp_study_release(&s);
	gp_trace_destroy(a);
	gp_trace_destroy(b);
}
END_TEST

/* Equivalent settings share a run, and a run without a limit also answers for
 * any device that is large enough. 24 settings are tried, and the memory needed
 * is measured twice. */
START_TEST(a_study_takes_few_runs)
{
	struct gp_trace *trace = with_a_hole();
	struct gp_study s = study_at(trace, 800 * MIB, NULL);

	ck_assert_uint_le(s.replays, 23);
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

static void check_case(const struct gp_trial_case *a,
		       const struct gp_trial_case *b)
{
	const struct gp_oom *oom = &a->first_oom, *other = &b->first_oom;

	ck_assert_int_eq(a->is_served, b->is_served);
	ck_assert_int_eq(a->has_room, b->has_room);
	ck_assert_uint_eq(a->ooms, b->ooms);
	ck_assert_uint_eq(a->retries, b->retries);
	ck_assert_uint_eq(a->reserved, b->reserved);
	ck_assert_uint_eq(a->mallocs, b->mallocs);
	ck_assert_uint_eq(a->pages, b->pages);
	ck_assert(a->time_us == b->time_us);
	ck_assert_int_eq(oom->is_there, other->is_there);
	ck_assert_uint_eq(oom->event, other->event);
	ck_assert_uint_eq(oom->reserved, other->reserved);
	ck_assert_uint_eq(oom->largest_free, other->largest_free);
	ck_assert_uint_eq(a->need, b->need);
	ck_assert_uint_eq(a->need_above, b->need_above);
	ck_assert_uint_eq(a->estimated, b->estimated);
	ck_assert_uint_eq(a->low, b->low);
	ck_assert_uint_eq(a->high, b->high);
	ck_assert_int_eq(a->is_estimated, b->is_estimated);
}

static void check_equal(const struct gp_study *a, const struct gp_study *b)
{
	const struct gp_verdict *v = a->verdicts, *w = b->verdicts;

	ck_assert_uint_eq(a->replays, b->replays);
	ck_assert_uint_eq(a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		check_case(a->trials[i].cases, b->trials[i].cases);
	ck_assert_int_eq(v->kind, w->kind);
	ck_assert_uint_eq(v->trial, w->trial);
	ck_assert_uint_eq(v->need, w->need);
	ck_assert_uint_eq(v->searched, w->searched);
}

/* The hole needs at least 500 MiB, and 700 under the present settings. Below
 * that, only the settings that people use are tried, not all values. */
START_TEST(no_search_where_the_fraction_leaves_less_than_is_live)
{
	static const struct {
		const char *conf;
		uint64_t capacity, need; /* MiB */
		enum gp_verdict_kind kind;
	} rows[] = {
		{ "per_process_memory_fraction:0.8", 600, 626,
		  GP_VERDICT_NO_SETTING },
		{ "per_process_memory_fraction:0.8", 624, 626,
		  GP_VERDICT_NO_SETTING },
		{ "per_process_memory_fraction:0.8", 626, 626,
		  GP_VERDICT_SETTING },
		{ "per_process_memory_fraction:1", 600, 500,
		  GP_VERDICT_SETTING },
	};
	struct gp_trace *trace = with_a_hole();

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_study s =
			with_conf(trace, rows[i].capacity * MIB, rows[i].conf,
				  "expandable_segments", 1);

		ck_assert_int_eq(s.verdicts[0].kind, rows[i].kind);
		ck_assert_uint_eq(s.verdicts[0].need, rows[i].need * MIB);
		ck_assert_uint_lt(s.verdicts[0].searched, 30);
		ck_assert(s.verdicts[0].is_complete);
		gp_study_release(&s);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* The limit is compared with 50 MiB; then 64 are mapped in pages, and the other
 * requests are served from it. */
START_TEST(whole_pages_may_exceed_the_fraction)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(ALLOC(
		1, 52428800) "," ALLOC(2, 4194304) "," ALLOC(3, 9437184)));
	struct gp_study s = with_conf(
		trace, 66 * MIB, "per_process_memory_fraction:0.8", NULL, 1);

	ck_assert_int_eq(s.verdicts[0].kind, GP_VERDICT_SETTING);
	ck_assert_str_eq(s.verdicts[0].conf,
			 "per_process_memory_fraction:0.8,"
			 "expandable_segments:True,large_segment_size_mb:16");
	ck_assert_uint_eq(s.verdicts[0].need, 64 * MIB);
	gp_study_release(&s);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(threads_change_no_verdict)
{
	struct gp_trace *traces[] = { with_a_hole(), beyond_help(), window() };

	for (size_t i = 0; i < COUNT_OF(traces); i++) {
		for (uint64_t capacity = 300; capacity < 1000; capacity += 100)
			for (size_t threads = 2; threads < 40; threads *= 4) {
				struct gp_study a = on_threads(
					traces[i], capacity * MIB, NULL, 1);
				struct gp_study b =
					on_threads(traces[i], capacity * MIB,
						   NULL, threads);

				check_equal(&a, &b);
				gp_study_release(&a);
				gp_study_release(&b);
			}
		gp_trace_destroy(traces[i]);
	}
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
		{ what_fits_beside_one_that_does_not_still_fits, 0 },
		{ beside_one_that_is_too_small_the_others_are_judged, 0 },
		{ what_nothing_serves_keeps_nobody_from_a_setting, 0 },
		{ what_is_missing_is_missing_under_every_setting, 0 },
		{ what_is_undecided_keeps_nobody_from_a_verdict, 0 },
		{ a_window_spares_nothing_where_a_whole_trace_needs_more, 0 },
		{ where_no_setting_serves_all_two_together_may, 0 },
		{ a_study_takes_few_runs, 0 },
		{ no_search_where_the_fraction_leaves_less_than_is_live, 0 },
		{ whole_pages_may_exceed_the_fraction, 0 },
		{ threads_change_no_verdict, 0 },
	};

	return suite_run("judge", tests, COUNT_OF(tests));
}
