/* SPDX-License-Identifier: MIT */
/*
 * Any text as gpupool.json or as its baseline is understood, or refused with a
 * reason; a baseline that is understood is written and read again.
 */
#include "fuzz/target.h"
#include "report/gate/gate_report.h"

static struct gp_numbers numbers;

static void read_gate(const char *text, size_t size)
{
	struct gp_gate_config config = { .path = "gpupool.json",
					 .numbers = &numbers };
	struct gp_gate *gate = NULL;
	struct gp_diag diag = { 0 };
	enum gp_status status =
		gp_gate_parse(&config, text, size, &gate, &diag);

	must(status == GP_OK || status == GP_INPUT, "neither read nor refused");
	must(status == GP_OK || diag.what[0], "an error says nothing");
	for (size_t i = 0; gate && i < gate->run_count; i++)
		for (size_t k = 0; k < gate->runs[i].limit_count; k++) {
			const struct gp_limit *l = &gate->runs[i].limits[k];

			must(l->number < numbers.count, "a limit of nothing");
			gp_limit_bound(l, &numbers.items[l->number], INT64_MAX);
		}
	gp_gate_destroy(gate);
}

static void write_again(const struct gp_baseline *baseline)
{
	size_t count = baseline->record_count, size;
	const struct gp_record **records = calloc(count + 1, sizeof(*records));
	struct gp_baseline *again = NULL;
	struct gp_diag diag = { 0 };
	char *text;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < count; i++)
		records[i] = &baseline->records[i];
	gp_baseline_write(records, count, &numbers, out);
	fclose(out);
	must(gp_baseline_parse(text, size, &numbers, &again, &diag) == GP_OK,
	     "a baseline that was written cannot be read");
	must(again->record_count == count, "runs were lost");
	gp_baseline_destroy(again);
	free(records);
	free(text);
}

static void read_baseline(const char *text, size_t size)
{
	struct gp_baseline *baseline = NULL;
	struct gp_diag diag = { 0 };
	enum gp_status status =
		gp_baseline_parse(text, size, &numbers, &baseline, &diag);

	must(status == GP_OK || status == GP_INPUT, "neither read nor refused");
	must(status == GP_OK || diag.what[0], "an error says nothing");
	if (baseline)
		write_again(baseline);
	for (size_t i = 0; baseline && i < baseline->record_count; i++) {
		const struct gp_record *record = &baseline->records[i];

		for (size_t k = 0; k < record->device_count; k++)
			gp_fingerprint_compare(&record->devices[0].fingerprint,
					       &record->devices[k].fingerprint);
	}
	gp_baseline_destroy(baseline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!numbers.count)
		gp_numbers_init(&numbers);
	read_gate((const char *)data, size);
	read_baseline((const char *)data, size);
	return 0;
}
