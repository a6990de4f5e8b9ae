/* SPDX-License-Identifier: MIT */
/* Objects of reports, by the table of their keys: a written object is read
 * back, and one that disagrees with the table is refused by name. */
#include "report/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_sink.h"
#include "gpupool/knob.h"
#include "report/sweep_report.h"
#include "suite.h"

static json_t *written(const char *object, const void *value)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink) };
	json_t *read;
	char *text;

	gp_emit_object(&json, NULL, object, value, GP_EMIT_FLAT);
	text = gp_text_sink_close(&sink, json.out);
	read = json_loads(text, 0, NULL);
	ck_assert_msg(read != NULL, "no JSON: %s", text);
	free(text);
	return read;
}

START_TEST(test_a_verdict_comes_back)
{
	static char conf[] = "expandable_segments:True";
	/* Static, so that the bytes between members are 0, too. */
	static const struct gp_verdict v = {
		.kind = GP_VERDICT_SETTING,
		.cause = GP_BY_FRAGMENTATION,
		.conf = conf,
		.release = 15,
		.capacity = UINT64_C(80) << 30,
		.live = 1,
		.need = 2,
		.spare = 3,
		.searched = 4,
		.is_complete = true,
		.begins = GP_BEGINS_WINDOW,
		.ends = GP_ENDS_FAILURE,
	};
	json_t *json = written("verdict", &v);
	struct gp_arena arena = { 0 };
	static struct gp_verdict back;

	ck_assert_ptr_null(gp_object_read(json, "verdict", &back, &arena));
	ck_assert_str_eq(back.conf, conf);
	back.conf = v.conf;
	ck_assert_mem_eq(&back, &v, sizeof(v));
	json_decref(json);
	gp_arena_release(&arena);
}
END_TEST

/* null stands for unknown and for unlimited values. */
START_TEST(test_none_is_null_and_comes_back)
{
	const struct gp_verdict v = {
		.kind = GP_VERDICT_NO_SETTING,
		.capacity = GP_UNLIMITED,
		.missing = GP_UNLIMITED,
	};
	static const char *const nulls[] = {
		"cause",   "alloc_conf", "capacity", "need", "need_as_recorded",
		"missing", "spare",	 "low",	     "high",
	};
	json_t *json = written("verdict", &v);
	struct gp_verdict back = { .need = 1, .spare = 1 };

	for (size_t i = 0; i < COUNT_OF(nulls); i++)
		ck_assert_msg(json_is_null(json_object_get(json, nulls[i])),
			      "%s", nulls[i]);
	ck_assert_ptr_null(gp_object_read(json, "verdict", &back, NULL));
	ck_assert(back.capacity == GP_UNLIMITED);
	ck_assert(back.missing == GP_UNLIMITED);
	ck_assert_uint_eq(back.need, 0);
	ck_assert_int_eq(back.cause, GP_BY_NONE);
	json_decref(json);
}
END_TEST

START_TEST(test_what_may_be_absent_is_so_where_there_is_none)
{
	struct gp_sweep_row row = { .reserved = 5, .allocated = 3 };
	json_t *json = written("summary", &row);

	ck_assert_int_eq(json_integer_value(json_object_get(json, "gap_bytes")),
			 2);
	ck_assert_ptr_null(json_object_get(json, "estimated_bytes"));
	json_decref(json);
	row.estimated = 9;
	json = written("summary", &row);
	ck_assert_int_eq(
		json_integer_value(json_object_get(json, "estimated_bytes")),
		9);
	json_decref(json);
}
END_TEST

static const struct {
	const char *key, *value; /* in place of the right value */
	bool may_be_absent;
} wrong[] = {
	{ "kind", "\"perhaps\"", false },
	{ "kind", "null", false },
	{ "live", "-1", false },
	{ "live", "\"1\"", false },
	{ "searched", "4294967296", false },
	{ "torch", "\"newest\"", false },
	{ "complete", "1", false },
	{ "alloc_conf", "7", true },
};

START_TEST(test_what_is_not_as_the_table_has_it_is_named)
{
	const struct gp_verdict v = { .kind = GP_VERDICT_FITS, .release = 9 };
	struct gp_arena arena = { 0 };
	struct gp_verdict back;

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		json_t *json = written("verdict", &v);
		const char *named;

		json_object_set_new(
			json, wrong[i].key,
			json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
		named = gp_object_read(json, "verdict", &back, &arena);
		ck_assert_msg(named && !strcmp(named, wrong[i].key), "%s: %s",
			      wrong[i].key, wrong[i].value);
		json_object_del(json, wrong[i].key);
		named = gp_object_read(json, "verdict", &back, &arena);
		ck_assert(wrong[i].may_be_absent == !named);
		json_decref(json);
	}
	gp_arena_release(&arena);
}
END_TEST

START_TEST(test_no_limit_is_a_word_of_its_own)
{
	const struct gp_sweep_report_entry entry = {
		.conf = "",
		.torch = "2.15",
		.engine = "caching",
		.capacity = GP_UNLIMITED,
	};
	json_t *json = written("combination", &entry);
	struct gp_arena arena = { 0 };
	struct gp_sweep_report_entry back = { 0 };

	ck_assert_str_eq(json_string_value(json_object_get(json, "capacity")),
			 "unlimited");
	ck_assert_ptr_null(gp_object_read(json, "combination", &back, &arena));
	ck_assert(back.capacity == GP_UNLIMITED);
	ck_assert_str_eq(back.torch, "2.15");
	ck_assert_ptr_null(back.reason);
	json_decref(json);
	gp_arena_release(&arena);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_verdict_comes_back, 0 },
		{ test_none_is_null_and_comes_back, 0 },
		{ test_what_may_be_absent_is_so_where_there_is_none, 0 },
		{ test_what_is_not_as_the_table_has_it_is_named, 0 },
		{ test_no_limit_is_a_word_of_its_own, 0 },
	};

	return suite_run("report_object", tests, COUNT_OF(tests));
}
