/* SPDX-License-Identifier: MIT */
/* Studying a plan. */
#include "commands/studying.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum gp_status gp_studying_check(const char *command,
				 const struct gp_options *options,
				 struct gp_diag *diag)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < options->without.count; i++) {
		const char *name = options->without.items[i];
		size_t k = 0;

		while (k < count && strcmp(knobs[k].name, name) != 0)
			k++;
		if (k < count)
			continue;
		gp_diag_file(diag, command);
		gp_diag_hint(diag, "PyTorch's names, such as "
				   "expandable_segments; see: gpupool help "
				   "settings");
		return gp_diag_set(diag, GP_USAGE,
				   "--without %s: there is no such setting",
				   name);
	}
	return GP_OK;
}

/* Where no capacity is known, a request that was refused tells of one. */
static uint64_t capacity_of(struct gp_studying *studying,
			    const struct gp_plan *plan,
			    const struct gp_options *options, uint32_t device)
{
	struct gp_refused_room room;

	if (options->capacity)
		return options->capacity;
	if (plan->capacity[device] != GP_UNLIMITED ||
	    !gp_replay_refused_room(plan->trace, device, &plan->settings,
				    &room))
		return plan->capacity[device];
	if (!device)
		studying->capacity_below = room.below;
	return room.least;
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
			studying->cases[cases++] = (struct gp_case){
				.trace = plans[p].trace,
				.device = d,
				.capacity = capacity_of(studying, &plans[p],
							options, d),
			};
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
		/* What is advised is a setting of PyTorch's allocator. */
		.engine = gp_engine_table(&engines),
		.without = options->without.items,
		.without_count = options->without.count,
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

enum gp_status gp_studying_make(struct gp_studying *studying,
				const struct gp_plan *plan,
				const struct gp_options *options,
				struct gp_progress *progress,
				struct gp_diag *diag)
{
	return gp_studying_of(studying, plan, 1, options, progress, diag);
}

void gp_studying_release(struct gp_studying *studying)
{
	gp_study_release(&studying->study);
	gp_prices_destroy(studying->own_prices);
	free(studying->cases);
	*studying = (struct gp_studying){ 0 };
}
