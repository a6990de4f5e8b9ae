/* SPDX-License-Identifier: MIT */
/*
 * What a recorded program would reserve under other settings, and the advice
 * for a device of a given size: the library in one page.
 *
 *	cc need.c $(pkg-config --cflags --libs gpupool) -o need
 *	./need snapshot.pickle max_split_size_mb:128 24
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <gpupool/gpupool.h>

#define GIB (UINT64_C(1) << 30)

/* The first device's peak under these settings, without a limit. */
static enum gp_status replay(const struct gp_trace *trace, const char *conf,
			     struct gp_diag *diag)
{
	const struct gp_replay_config config = {
		.trace = trace,
		.conf = conf,
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};
	struct gp_replay_result result;
	enum gp_status status = gp_replay(&config, &result, diag);

	if (status != GP_OK)
		return status;
	printf("peak_reserved_bytes %" PRIu64 "\n", result.at_peak.reserved);
	gp_replay_release(&result);
	return GP_OK;
}

static enum gp_status judge(const struct gp_trace *trace, uint64_t capacity,
			    struct gp_diag *diag)
{
	const struct gp_case device = { .trace = trace, .capacity = capacity };
	const struct gp_study_config config = {
		.cases = &device,
		.case_count = 1,
		.release = trace->release.last,
	};
	struct gp_study study;
	enum gp_status status = gp_study(&config, &study, diag);

	if (status != GP_OK)
		return status;
	printf("verdict %s\n", gp_verdict_kinds[study.verdicts[0].kind]);
	printf("use %s\n",
	       study.verdicts[0].conf ? study.verdicts[0].conf : "(as it is)");
	gp_study_release(&study);
	return GP_OK;
}

int main(int argc, char **argv)
{
	struct gp_input_config input = { .path = argc > 1 ? argv[1] : "-" };
	const char *conf = argc > 2 ? argv[2] : "";
	uint64_t gib = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	struct gp_diag diag = { 0 };
	struct gp_trace *trace;
	enum gp_status status = gp_input_read(&input, &trace, &diag);

	if (status == GP_OK) {
		status = replay(trace, conf, &diag);
		if (status == GP_OK)
			status = judge(trace, gib ? gib * GIB : GP_UNLIMITED,
				       &diag);
		gp_trace_destroy(trace);
	}
	if (status != GP_OK)
		fprintf(stderr, "%s: %s\n", diag.file, diag.what);
	return status;
}
