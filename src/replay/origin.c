/* SPDX-License-Identifier: MIT */
/* Where a trace comes from, as far as it tells: the release that wrote it. */
#include <stdio.h>

#include "gpupool/replay.h"

static bool has_addresses(const struct gp_trace *trace)
{
	for (size_t i = 0; i < trace->device_count; i++) {
		const struct gp_device_trace *t = &trace->devices[i];

		for (size_t k = 0; k < t->event_count; k++)
			if (t->events[k].kind == GP_ALLOC && t->events[k].addr)
				return true;
	}
	return false;
}

/* Verifies all devices under one release; false: its parser refuses conf. */
static bool try_release(const struct gp_trace *trace, const char *conf,
			struct gp_release_choice *choice)
{
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };

	gp_settings_init(&settings, choice->release);
	if (gp_settings_parse(&settings, conf, &ignored) != GP_OK)
		return false;
	for (uint32_t i = 0; i < trace->device_count; i++) {
		struct gp_replay_config config = {
			.trace = trace,
			.device = i,
			.settings = &settings,
			.engine = gp_engine_table(&(size_t){ 0 }),
			.mode = GP_VERIFY,
			.capacity = gp_replay_fit_capacity(trace, i, &settings),
		};
		struct gp_replay_result result;

		if (gp_replay(&config, &result, &ignored) != GP_OK)
			return false;
		choice->checked += result.fidelity.checked;
		choice->matched += result.fidelity.matched;
		gp_replay_release(&result);
	}
	return true;
}

static void explain_keys(const struct gp_trace *trace,
			 struct gp_release_choice *choice)
{
	const struct gp_release_range *range = &trace->release;

	if (range->first == range->last)
		snprintf(choice->why, sizeof(choice->why), "%s", range->why);
	else if (!choice->checked)
		snprintf(choice->why, sizeof(choice->why),
			 "nothing to tell 2.%d to 2.%d apart", range->first,
			 range->last);
	else
		snprintf(choice->why, sizeof(choice->why),
			 "its keys allow 2.%d to 2.%d, and of these 2.%d "
			 "matches %s",
			 range->first, range->last, choice->release,
			 choice->matched == choice->checked ? "every address"
							    : "best");
}

/* Newest first; of releases that decide alike, the newest stands for all. */
static bool choose(const struct gp_trace *trace, const char *conf,
		   struct gp_release_choice *best)
{
	const struct gp_release_range *range = &trace->release;
	bool found = false;

	for (int r = range->last; r >= range->first; r--) {
		struct gp_release_choice choice = { .release = (uint8_t)r };

		if (r < range->last && found &&
		    gp_release_alike((uint8_t)r, (uint8_t)(r + 1)))
			continue;
		if (!try_release(trace, conf, &choice))
			continue;
		if (!found || choice.matched > best->matched)
			*best = choice;
		found = true;
		if (best->matched == best->checked)
			break;
	}
	return found;
}

enum gp_status gp_replay_release_of(const struct gp_trace *trace,
				    const char *conf,
				    struct gp_release_choice *choice,
				    struct gp_diag *diag)
{
	struct gp_settings settings;

	*choice = (struct gp_release_choice){ .release = trace->release.last };
	if (trace->release.first == trace->release.last ||
	    !has_addresses(trace) || !choose(trace, conf, choice)) {
		gp_settings_init(&settings, choice->release);
		explain_keys(trace, choice);
		return gp_settings_parse(&settings, conf, diag);
	}
	explain_keys(trace, choice);
	return GP_OK;
}
