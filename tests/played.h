/* SPDX-License-Identifier: MIT */
/*
 * Runs for tests: what-ifs by the newest release, on a device with unlimited
 * memory, unless a test says otherwise.
 */
#ifndef TESTS_PLAYED_H
#define TESTS_PLAYED_H

#include <check.h>

#include "gpupool/replay.h"
#include "gpupool/knob.h"

/* Sets settings to that release's defaults. */
static inline struct gp_replay_config run_of(const struct gp_trace *trace,
					     struct gp_settings *settings)
{
	gp_settings_init(settings, GP_RELEASE_LAST);
	return (struct gp_replay_config){
		.trace = trace,
		.settings = settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};
}

/* The run must succeed. */
static inline struct gp_replay_result played(
	const struct gp_replay_config *config)
{
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	ck_assert_msg(gp_replay(config, &result, &diag) == GP_OK, "%s: %s",
		      diag.file, diag.what);
	return result;
}

static inline struct gp_replay_result replayed(const struct gp_trace *trace)
{
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);

	return played(&config);
}

static inline uint64_t peak_of(const struct gp_trace *trace)
{
	struct gp_replay_result result = replayed(trace);
	uint64_t peak = result.at_peak.reserved;

	gp_replay_release(&result);
	return peak;
}

#endif
