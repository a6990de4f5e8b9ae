/* SPDX-License-Identifier: MIT */
/* The baseline of a gate is in the same folder, and is named after it. */
#include <string.h>

#include "report/gate/gate_report.h"
#include "suite.h"

START_TEST(a_baseline_is_named_after_its_gate)
{
	static const struct {
		const char *path, *baseline;
	} rows[] = {
		{ "gpupool.json", "gpupool.baseline.json" },
		{ "ci/gate.json", "ci/gate.baseline.json" },
		{ "a.json", "a.baseline.json" },
		{ ".json", ".json.baseline.json" },
		{ "json", "json.baseline.json" },
		{ "a.jsonl", "a.jsonl.baseline.json" },
		{ "a.JSON", "a.JSON.baseline.json" },
		{ "a.json.json", "a.json.baseline.json" },
		{ "gate", "gate.baseline.json" },
		{ "a", "a.baseline.json" },
	};
	static const char text[] =
		"{\"runs\": [{\"name\": \"a\", \"trace\": \"t.json\", "
		"\"limits\": {\"num_ooms\": 0}}]}";
	struct gp_numbers numbers = { 0 };

	gp_numbers_init(&numbers);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct gp_gate_config config = { .path = rows[i].path,
						       .numbers = &numbers };
		struct gp_gate *gate;
		struct gp_diag diag = { 0 };

		ck_assert_msg(gp_gate_parse(&config, text, strlen(text), &gate,
					    &diag) == GP_OK,
			      "%s", diag.what);
		ck_assert_str_eq(gate->baseline_path, rows[i].baseline);
		gp_gate_destroy(gate);
	}
	gp_numbers_release(&numbers);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_baseline_is_named_after_its_gate, 0 },
	};

	return suite_run("baseline", tests, COUNT_OF(tests));
}
