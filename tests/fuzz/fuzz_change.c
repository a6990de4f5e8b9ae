/* SPDX-License-Identifier: MIT */
/*
 * Any bytes are a report or an error, and the sums in a report that is read
 * agree; the same for any trace, however its streams and pools are merged.
 */
#include "fuzz/target.h"
#include "report/change_report.h"
#include "gpupool/input.h"
#include "gpupool/knob.h"

static void check(const struct gp_breakdown *breakdown)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < GP_PARTS; i++)
		sum += breakdown->part[i];
	must(sum == breakdown->reserved, "the parts do not add up");
}

static void try_report(const char *path)
{
	struct gp_report_run *runs;
	struct gp_diag diag = { 0 };
	size_t count;
	bool is_one;

	gp_report_is_one(path, &is_one, &diag);
	if (gp_report_read(path, &runs, &count, &diag) != GP_OK) {
		must(*diag.what, "an error says nothing");
		return;
	}
	for (size_t i = 0; i < count; i++)
		check(&runs[i].breakdown);
	gp_report_runs_release(runs, count);
}

static void try_device(const struct gp_trace *trace, uint32_t device)
{
	struct gp_settings settings;
	struct gp_replay_config config = {
		.trace = trace,
		.device = device,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};
	struct gp_replay_result result;
	struct gp_breakdown breakdown;
	struct gp_divergence divergence;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	divergence = gp_divergence_find(trace, device, trace, device);
	must(!divergence.is_there, "a trace parts from itself");
	if (gp_breakdown_take(&config, &breakdown, &result, &diag) != GP_OK)
		return;
	check(&breakdown);
	gp_replay_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = bytes_of(data, size);
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	try_report(bytes.path);
	if (gp_input_read(&(struct gp_input_config){ .path = bytes.path },
			  &trace, &diag) == GP_OK) {
		for (uint32_t i = 0; i < trace->device_count; i++)
			try_device(trace, i);
		gp_trace_destroy(trace);
	}
	close(bytes.fd);
	return 0;
}
