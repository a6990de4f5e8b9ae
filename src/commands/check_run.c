/* SPDX-License-Identifier: MIT */
/* One run of the gate: played, recorded and judged. */
#include "commands/check_run.h"

#include <stdio.h>
#include <string.h>

#include "commands/plan.h"
#include "gpupool/input.h"

struct session {
	const struct gp_check_config *config;
	const struct gp_gate_run *run;
	struct gp_gate_result *result;
	struct gp_trace *trace;
	struct gp_plan plan;
	struct gp_record *record;
	struct gp_print_maker *makers; /* per device */
};

static enum gp_status read_trace(struct session *s)
{
	struct gp_input_config config = {
		.path = s->run->path,
		.most_bytes = s->config->max_input,
	};

	return gp_input_read(&config, &s->trace, &s->result->diag);
}

static enum gp_status make_plan(struct session *s)
{
	const struct gp_gate_asked *asked = &s->run->asked;
	struct gp_options options = {
		.command = "check",
		.alloc_conf = asked->settings,
		.torch = asked->torch,
		.engine = asked->engine,
		.capacity = asked->capacity,
	};
	struct gp_diag *diag = &s->result->diag;
	enum gp_status status =
		gp_plan_make(&s->plan, s->trace, &options, diag);

	if (status == GP_OK && asked->capacity)
		status = gp_replay_decides(s->trace, asked->capacity, diag);

	/* No flag, but a file has it wrong. */
	if (status == GP_USAGE) {
		gp_diag_file(diag, s->config->gate->path);
		status = GP_INPUT;
	}
	return status;
}

static enum gp_status play_device(struct session *s, uint32_t d)
{
	struct gp_record_device *now = &s->record->devices[d];
	const struct gp_record_device *then;
	struct gp_print_maker *maker = &s->makers[d];
	struct gp_replay_config config = gp_plan_config(&s->plan, d);

	now->device = s->trace->devices[d].device;
	then = gp_record_find(s->result->baseline, now->device);
	gp_print_begin(maker, s->trace, d,
		       then && !s->config->is_update ? then->print.spacing : 0,
		       &now->print);
	maker->has_addresses = s->plan.mode == GP_WHAT_IF;
	if (then)
		maker->reserved_bound = gp_gate_reserved_bound(
			s->run, s->config->numbers, then->readings);
	config.action = gp_print_action;
	config.action_arg = maker;
	return gp_replay(&config, &s->plan.results[d], &s->result->diag);
}

static enum gp_status play(struct session *s)
{
	enum gp_status status = GP_OK;
	struct gp_arena *arena = s->config->arena;
	size_t count = s->trace->device_count;

	s->record = gp_arena_alloc(arena, 1, sizeof(*s->record));
	s->record->devices =
		gp_arena_alloc(arena, count, sizeof(*s->record->devices));
	s->record->device_count = count;
	s->makers = gp_arena_alloc(arena, count, sizeof(*s->makers));
	for (uint32_t d = 0; d < count && status == GP_OK; d++) {
		status = play_device(s, d);
		gp_print_end(&s->makers[d]);
	}
	return status;
}

/* A what-if compares no addresses: the trace's fidelity is that of the run as
 * recorded, where there is one. */
static void read_fidelity(struct session *s, size_t d, struct gp_plan *recorded)
{
	size_t fidelity = gp_numbers_find(s->config->numbers, "fidelity");
	struct gp_reading *all;
	struct gp_run run;

	if (!recorded->results)
		return;
	run = gp_plan_run(recorded);
	all = gp_arena_alloc(s->config->arena, s->config->numbers->count,
			     sizeof(*all));
	gp_numbers_read(s->config->numbers, s->trace, &run, d, all);
	s->record->devices[d].readings[fidelity] = all[fidelity];
}

static void play_recorded(struct session *s, struct gp_plan *recorded)
{
	struct gp_diag ignored = { 0 };

	if (s->plan.mode == GP_VERIFY)
		return;
	if (gp_plan_recorded(recorded, s->trace, &ignored) != GP_OK ||
	    recorded->mode != GP_VERIFY ||
	    gp_plan_play(recorded, NULL, NULL, &ignored) != GP_OK)
		gp_plan_release(recorded);
}

static void read_numbers(struct session *s)
{
	const struct gp_numbers *numbers = s->config->numbers;
	struct gp_run run = gp_plan_run(&s->plan);
	struct gp_plan recorded = { 0 };

	play_recorded(s, &recorded);
	for (size_t d = 0; d < s->record->device_count; d++) {
		struct gp_reading *readings = gp_arena_alloc(
			s->config->arena, numbers->count, sizeof(*readings));

		gp_numbers_read(numbers, s->trace, &run, d, readings);
		s->record->devices[d].readings = readings;
		read_fidelity(s, d, &recorded);
	}
	gp_plan_release(&recorded);
}

static void fill_record(struct session *s)
{
	struct gp_arena *arena = s->config->arena;
	char torch[16];

	snprintf(torch, sizeof(torch), "2.%u", s->plan.settings.release);
	s->record->name = s->run->name;
	s->record->trace = s->run->trace;
	s->record->asked = s->run->asked;
	s->record->conf =
		gp_arena_text(arena, s->plan.conf, strlen(s->plan.conf));
	s->record->torch = gp_arena_text(arena, torch, strlen(torch));
	s->result->now = s->record;
}

/* ---- judging ---- */

static enum gp_status check_devices(const struct session *s)
{
	const struct gp_record *then = s->result->baseline;
	bool is_same = then->device_count == s->record->device_count;

	for (size_t d = 0; d < s->record->device_count && is_same; d++)
		is_same = gp_record_find(then, s->record->devices[d].device);
	if (is_same)
		return GP_OK;
	gp_diag_hint(&s->result->diag, "see what it comes to now, then: "
				       "gpupool check --update");
	return gp_diag_set(&s->result->diag, GP_INPUT,
			   "the baseline is stale: the trace has other devices "
			   "than then");
}

/* What the run's own actions do not tell is looked for in a second one. */
static enum gp_status look_again(struct session *s, size_t d,
				 const struct gp_gate_device *device,
				 struct gp_gate_watch *watch)
{
	struct gp_replay_config config = gp_plan_config(&s->plan, (uint32_t)d);
	struct gp_replay_result result;
	enum gp_status status;

	if (!gp_gate_watch_begin(watch, s->config->numbers, device->verdicts,
				 device->verdict_count))
		return GP_OK;
	config.look = gp_gate_watch_look;
	config.look_arg = watch;
	status = gp_replay(&config, &result, &s->result->diag);
	if (status == GP_OK)
		gp_replay_release(&result);
	return status;
}

static enum gp_status judge_device(struct session *s, size_t d)
{
	struct gp_gate_device *device = &s->result->devices[d];
	const struct gp_record_device *now = &s->record->devices[d];
	const struct gp_record_device *then =
		gp_record_find(s->result->baseline, now->device);
	struct gp_gate_watch watch;
	enum gp_status status;
	bool is_worse = false;

	device->device = now->device;
	device->verdicts = gp_arena_alloc(s->config->arena, s->run->limit_count,
					  sizeof(*device->verdicts));
	status = gp_gate_judge(s->run, s->config->numbers, then->readings,
			       now->readings, device->verdicts,
			       &device->verdict_count, &s->result->diag);
	if (status != GP_OK)
		return status;
	status = look_again(s, d, device, &watch);
	if (status != GP_OK)
		return status;
	device->parting = gp_print_part(&then->print, &now->print);
	for (size_t i = 0; i < device->verdict_count; i++) {
		gp_verdict_locate(&device->verdicts[i], s->config->numbers,
				  &s->plan.results[d], &s->makers[d], &watch);
		is_worse |= device->verdicts[i].is_worse;
	}
	return is_worse ? GP_FAILED : GP_OK;
}

static enum gp_status judge(struct session *s)
{
	enum gp_status worst = GP_OK, status = check_devices(s);

	if (status != GP_OK)
		return status;
	s->result->device_count = s->record->device_count;
	s->result->devices =
		gp_arena_alloc(s->config->arena, s->result->device_count,
			       sizeof(*s->result->devices));
	for (size_t d = 0; d < s->result->device_count; d++) {
		status = judge_device(s, d);
		if (status > worst)
			worst = status;
	}
	return worst;
}

/* A baseline keeps the numbers that have limits; it is read in diffs. */
static void forget_others(struct session *s)
{
	const struct gp_numbers *numbers = s->config->numbers;

	for (size_t d = 0; d < s->record->device_count; d++) {
		struct gp_reading *kept = gp_arena_alloc(
			s->config->arena, numbers->count, sizeof(*kept));

		for (size_t i = 0; i < s->run->limit_count; i++) {
			const struct gp_limit *limit = &s->run->limits[i];

			if (limit->kind != GP_LIMIT_NONE)
				kept[limit->number] =
					s->record->devices[d]
						.readings[limit->number];
		}
		s->record->devices[d].readings = kept;
	}
}

void gp_check_run(const struct gp_check_config *config,
		  const struct gp_gate_run *run, struct gp_gate_result *result)
{
	struct session s = { .config = config, .run = run, .result = result };
	enum gp_status status = GP_OK;

	*result = (struct gp_gate_result){ .run = run };
	result->baseline = gp_baseline_find(config->baseline, run->name);
	if (!config->is_update)
		status = gp_record_check(result->baseline, run, &result->diag);
	if (status != GP_OK)
		gp_diag_file(&result->diag, config->gate->baseline_path);
	if (status == GP_OK)
		status = read_trace(&s);
	if (status == GP_OK)
		status = make_plan(&s);
	if (status == GP_OK)
		status = play(&s);
	if (status == GP_OK) {
		read_numbers(&s);
		fill_record(&s);
		forget_others(&s);
	}
	if (status == GP_OK && !config->is_update) {
		status = judge(&s);
		gp_diag_file(&result->diag, config->gate->path);
	}
	if (status > GP_FAILED && !*result->diag.file)
		gp_diag_file(&result->diag, run->path);
	result->status = status;
	gp_plan_release(&s.plan);
	gp_trace_destroy(s.trace);
}
