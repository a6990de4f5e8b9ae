/* SPDX-License-Identifier: MIT */
/* Studies, explanations and estimates of plans. */
#include "commands/studying.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "commands/nearest.h"
#include "gpupool/replay.h"

/* ---- a study ---- */

enum gp_status gp_studying_check(const struct gp_options *options,
				 struct gp_diag *diag)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < options->without.count; i++) {
		const char *name = options->without.items[i];
		const char *near = gp_nearest_setting(name);
		size_t k = 0;

		while (k < count && strcmp(knobs[k].name, name) != 0)
			k++;
		if (k < count)
			continue;
		if (near)
			gp_diag_hint(diag, "did you mean %s?", near);
		else
			gp_diag_hint(diag, "PyTorch's names, such as "
					   "expandable_segments; see: gpupool "
					   "help settings");
		return gp_diag_set(diag, GP_USAGE,
				   "--without %s: there is no such setting",
				   name);
	}
	return GP_OK;
}

/* The capacity; if none is known, the one inferred from a refused request. */
static struct gp_case case_of(const struct gp_plan *plan, uint32_t device,
			      const struct gp_options *options)
{
	struct gp_case c = {
		.trace = plan->trace,
		.device = device,
		.capacity = options->capacity ? options->capacity
					      : plan->capacity[device],
	};
	struct gp_refused_room room;

	if (!options->capacity && c.capacity == GP_UNLIMITED &&
	    gp_replay_refused_room(plan->trace, device, &plan->settings,
				   &room)) {
		c.capacity = room.least;
		c.below = room.below;
	}
	return c;
}

static void show(void *arg, const char *what)
{
	gp_progress_step(arg, what);
}

static size_t list_cases(struct gp_studying *studying,
			 const struct gp_plan *plans, size_t count,
			 const struct gp_options *options)
{
	size_t cases = 0;

	for (size_t p = 0; p < count; p++)
		cases += plans[p].trace->device_count;
	studying->cases = gp_mem_alloc(cases + 1, sizeof(*studying->cases));
	cases = 0;
	for (size_t p = 0; p < count; p++)
		for (uint32_t d = 0; d < plans[p].trace->device_count; d++)
			studying->cases[cases++] =
				case_of(&plans[p], d, options);
	return cases;
}

enum gp_status gp_studying_of(struct gp_studying *studying,
			      const struct gp_plan *plans, size_t count,
			      const struct gp_options *options,
			      struct gp_progress *progress,
			      struct gp_diag *diag)
{
	size_t engines;
	struct gp_study_config config = {
		.conf = plans->conf,
		.release = plans->settings.release,
		/* Advice is about PyTorch's allocator, whatever engine is
		   replayed. */
		.engine = gp_engine_table(&engines),
		.without = options->without.items,
		.without_count = options->without.count,
		.threads = gp_options_threads(options),
		.progress = show,
		.progress_arg = progress,
	};
	enum gp_status status = GP_OK;

	*studying = (struct gp_studying){ .prices = gp_prices_built_in() };
	if (options->prices) {
		status = gp_prices_read(options->prices, &studying->own_prices,
					diag);
		studying->prices = studying->own_prices;
	}
	config.case_count = list_cases(studying, plans, count, options);
	config.cases = studying->cases;
	config.prices = studying->prices;
	if (status == GP_OK)
		status = gp_study(&config, &studying->study, diag);
	gp_progress_end(progress);
	return status;
}

void gp_studying_release(struct gp_studying *studying)
{
	gp_study_release(&studying->study);
	gp_prices_destroy(studying->own_prices);
	free(studying->cases);
	*studying = (struct gp_studying){ 0 };
}

/* ---- an explanation ---- */

struct gp_replay_config gp_explaining_run(const struct gp_plan *plan,
					  uint32_t device,
					  const struct gp_verdict *verdict)
{
	struct gp_replay_config run = gp_plan_simulated(plan, device);

	run.capacity =
		gp_verdict_is_open(verdict) ? GP_UNLIMITED : verdict->capacity;
	return run;
}

static enum gp_status explain_device(const struct gp_explaining *explaining,
				     const struct gp_plan *plan,
				     uint32_t device,
				     struct gp_progress *progress,
				     struct gp_explain *explain,
				     struct gp_diag *diag)
{
	const struct gp_verdict *verdict =
		&explaining->studying.study
			 .verdicts[explaining->first_case + device];
	struct gp_replay_config run = gp_explaining_run(plan, device, verdict);
	struct gp_explain_config config = {
		.run = &run,
		.is_too_small = verdict->kind == GP_VERDICT_TOO_SMALL,
		.progress = show,
		.progress_arg = progress,
	};

	return gp_explain(&config, explain, diag);
}

enum gp_status gp_explaining_devices(struct gp_explaining *explaining,
				     const struct gp_plan *plan,
				     struct gp_progress *progress,
				     struct gp_diag *diag)
{
	size_t count = plan->trace->device_count;
	enum gp_status status = GP_OK;

	explaining->explains =
		gp_mem_alloc(count + 1, sizeof(struct gp_explain));
	for (; explaining->count < count; explaining->count++) {
		uint32_t d = (uint32_t)explaining->count;

		status = explain_device(explaining, plan, d, progress,
					&explaining->explains[d], diag);
		if (status != GP_OK)
			break;
	}
	gp_progress_end(progress);
	return status;
}

enum gp_status gp_explaining_make(struct gp_explaining *explaining,
				  const struct gp_plan *plan,
				  const struct gp_options *options,
				  struct gp_progress *progress,
				  struct gp_diag *diag)
{
	const struct gp_options none = { 0 };
	enum gp_status status;

	*explaining = (struct gp_explaining){ 0 };
	status = gp_studying_of(&explaining->studying, plan, 1,
				options ? options : &none, progress, diag);
	if (status == GP_OK)
		status =
			gp_explaining_devices(explaining, plan, progress, diag);
	gp_progress_end(progress);
	return status;
}

/* " --capacity 80GiB" */
static int add_capacity(uint64_t capacity, char text[GP_GIVEN_TEXT])
{
	char bytes[GP_BYTES_TEXT];

	if (!capacity)
		return 0;
	return snprintf(text, GP_GIVEN_TEXT, " --capacity %s",
			capacity == GP_UNLIMITED
				? "unlimited"
				: gp_bytes_exact(capacity, bytes));
}

/* The capacity if it is only inferred from refused requests; else 0. */
static uint64_t concluded(const struct gp_plan *plan, uint32_t device,
			  const struct gp_verdict *verdict)
{
	return plan->capacity[device] == GP_UNLIMITED &&
			       verdict->capacity != GP_UNLIMITED
		       ? verdict->capacity
		       : 0;
}

const char *gp_explaining_given(const struct gp_options *options,
				const struct gp_plan *plan, uint32_t device,
				const struct gp_verdict *verdict,
				char text[GP_GIVEN_TEXT])
{
	uint64_t capacity = options->capacity;
	size_t length;

	*text = '\0';
	if (!capacity && plan)
		capacity = concluded(plan, device, verdict);
	length = (size_t)add_capacity(capacity, text);
	if (options->torch)
		snprintf(text + length, GP_GIVEN_TEXT - length,
			 " --torch %.32s", options->torch);
	return text;
}

void gp_explaining_release(struct gp_explaining *explaining)
{
	while (explaining->count)
		gp_explain_release(&explaining->explains[--explaining->count]);
	free(explaining->explains);
	explaining->explains = NULL;
	gp_studying_release(&explaining->studying);
}

struct gp_explanation gp_explaining_of(struct gp_explaining *explaining,
				       const struct gp_plan *plan,
				       const struct gp_options *options,
				       bool is_asked)
{
	const struct gp_verdict *verdicts = explaining->studying.study.verdicts;

	if (is_asked)
		gp_explaining_given(options, explaining->count ? plan : NULL, 0,
				    verdicts + explaining->first_case,
				    explaining->given);
	return (struct gp_explanation){
		.path = options->operands[0],
		.trace = plan->trace,
		.conf = plan->conf,
		.given = explaining->given,
		.settings = &plan->settings,
		.prices = explaining->studying.prices,
		.devices = explaining->explains,
		.study = &explaining->studying.study,
		.count = explaining->count,
		.has_details = options->details,
		.what_ifs = plan->what_ifs,
	};
}

/* ---- estimates ---- */

uint8_t gp_estimating_release(const struct gp_trace *recorded)
{
	struct gp_release_choice choice;
	struct gp_diag ignored = { 0 };

	if (gp_replay_release_of(recorded, gp_trace_conf(recorded), &choice,
				 &ignored) != GP_OK)
		return recorded->release.last;
	return choice.release;
}

enum gp_status gp_estimating_make(const struct gp_plan *plan,
				  const struct gp_trace *recorded,
				  struct gp_estimate **estimates,
				  struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	struct gp_estimate *made;
	uint8_t release;

	*estimates = NULL;
	if (plan->cuda || plan->mode != GP_WHAT_IF ||
	    !gp_trace_has_start(recorded))
		return GP_OK;
	release = gp_estimating_release(recorded);
	made = gp_mem_alloc(recorded->device_count, sizeof(*made));
	for (uint32_t i = 0; i < recorded->device_count && status == GP_OK;
	     i++) {
		struct gp_replay_config config = gp_plan_simulated(plan, i);

		status = gp_estimate(&config, gp_trace_conf(recorded), release,
				     &made[i], diag);
	}
	if (status == GP_OK)
		*estimates = made;
	else
		free(made);
	return status;
}
