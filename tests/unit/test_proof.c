/* SPDX-License-Identifier: MIT */
/* A recording compared with its replay. */
#include "commands/plan.h"
#include "suite.h"
#include "trace_text.h"

#define RECORDED(addr, stats)                                                  \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"source\": "         \
	"{\"kind\": \"gpupool-record\", \"torch\": \"2.15\", \"complete\": "   \
	"true}, \"settings\": \"\", \"devices\": [{\"device\": 0, "            \
	"\"total_memory\": 85899345920, \"memory_stats\": {" stats "}, "       \
	"\"events\": [{\"op\": \"segment_alloc\", \"addr\": 4194304, "         \
	"\"size\": 2097152}, {\"op\": \"alloc\", \"id\": 1, \"size\": 512, "   \
	"\"addr\": " addr "}]}]}"

static const struct {
	const char *trace, *text;
	bool is_exact;
} rows[] = {
	{ RECORDED("4194304", "\"allocation.all.current\": 1, "
			      "\"reserved_bytes.all.peak\": 2097152"),
	  "1 of 1 addresses, all 2 counters", true },
	{ RECORDED("4194304", ""), "1 of 1 addresses", true },
	{ RECORDED("4194816", ""), "0 of 1 addresses", false },
	{ RECORDED("4194304", "\"num_ooms\": 1, \"segment.all.freed\": 0"),
	  "1 of 1 addresses, 1 of 2 counters; num_ooms is 0, recorded 1",
	  false },
	/* A counter of another release, or one that does not exist. */
	{ RECORDED("4194304", "\"colours\": 1"), "1 of 1 addresses", true },
};

static void compare(const char *recording, const char *told, bool is_exact)
{
	struct gp_trace *trace = trace_of(recording);
	struct gp_plan plan = { 0 };
	struct gp_diag diag = { 0 };
	char text[GP_PROOF_TEXT];
	struct gp_proof proof;

	ck_assert_int_eq(gp_plan_recorded(&plan, trace, &diag), GP_OK);
	ck_assert_int_eq(gp_plan_play(&plan, NULL, NULL, &diag), GP_OK);
	proof = gp_proof_of(&plan);
	ck_assert_str_eq(gp_proof_text(&proof, text), told);
	ck_assert(gp_proof_is_exact(&proof) == is_exact);
	gp_plan_release(&plan);
	gp_trace_destroy(trace);
}

START_TEST(test_what_differs_is_told)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		compare(rows[i].trace, rows[i].text, rows[i].is_exact);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_differs_is_told, 0 },
	};

	return suite_run("proof", tests, COUNT_OF(tests));
}
