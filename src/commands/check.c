/* SPDX-License-Identifier: MIT */
/* gpupool check: compares runs with their limits and their baseline. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "commands/command.h"
#include "commands/nearest.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/studying.h"
#include "gpupool/input.h"
#include "report/gate/gate_report.h"
#include "study/sweep/thread_pool.h"

#define DEFAULT_GATE "gpupool.json"

/* What a run is checked against. */
struct holding {
	const struct gp_gate *gate;
	const struct gp_numbers *numbers;
	const struct gp_baseline *baseline;
	struct gp_arena *arena; /* owns what the result points to */
	uint64_t max_input;	/* struct gp_input_config's most_bytes */
	bool is_update;		/* nothing is judged */
};

/* ---- one run, played, recorded and judged ---- */

struct held_run {
	const struct holding *config;
	const struct gp_gate_run *run;
	struct gp_gate_result *result;
	struct gp_trace *trace;
	struct gp_plan plan;
	struct gp_record *record;
	struct gp_fingerprint_maker *makers; /* per device */
};

/* A folder of ranks has no baseline of its own: its files have theirs. */
static enum gp_status refuse_folder(struct gp_diag *diag)
{
	gp_diag_hint(diag, "a run has one trace: give each rank's file a run "
			   "of its own, or compare the folders: gpupool diff "
			   "BEFORE AFTER --fail-over 2%%");
	return gp_diag_set(diag, GP_INPUT, "it is a folder");
}

static enum gp_status read_trace(struct held_run *s)
{
	struct gp_input_config config = {
		.path = s->run->path,
		.most_bytes = s->config->max_input,
	};

	if (gp_file_is_folder(config.path))
		return refuse_folder(&s->result->diag);
	return gp_input_read(&config, &s->trace, &s->result->diag);
}

static enum gp_status make_plan(struct held_run *s)
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

	/* The error is in the file, not on the command line. */
	if (status == GP_USAGE) {
		gp_diag_file(diag, s->config->gate->path);
		status = GP_INPUT;
	}
	return status;
}

static enum gp_status play_device(struct held_run *s, uint32_t d)
{
	struct gp_record_device *now = &s->record->devices[d];
	const struct gp_record_device *then;
	struct gp_fingerprint_maker *maker = &s->makers[d];
	struct gp_replay_config config = gp_plan_config(&s->plan, d);

	now->device = s->trace->devices[d].device;
	then = gp_record_find(s->result->baseline, now->device);
	gp_fingerprint_begin(
		maker, s->trace, d,
		then && !s->config->is_update ? then->fingerprint.spacing : 0,
		&now->fingerprint);
	maker->has_addresses = s->plan.mode == GP_WHAT_IF;
	if (then)
		maker->reserved_bound = gp_gate_reserved_bound(
			s->run, s->config->numbers, then->readings);
	config.action = gp_fingerprint_action;
	config.action_arg = maker;
	return gp_replay(&config, &s->plan.results[d], &s->result->diag);
}

static enum gp_status play(struct held_run *s)
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
		gp_fingerprint_end(&s->makers[d]);
	}
	return status;
}

/* A what-if compares no addresses: fidelity is read from a replay as recorded,
 * if there is one. */
static void read_fidelity(struct held_run *s, size_t d,
			  struct gp_plan *recorded)
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

static void play_recorded(struct held_run *s, struct gp_plan *recorded)
{
	struct gp_diag ignored = { 0 };

	if (s->plan.mode == GP_VERIFY)
		return;
	if (gp_plan_recorded(recorded, s->trace, &ignored) != GP_OK ||
	    recorded->mode != GP_VERIFY ||
	    gp_plan_play(recorded, NULL, NULL, &ignored) != GP_OK)
		gp_plan_release(recorded);
}

static void read_numbers(struct held_run *s)
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

static void fill_record(struct held_run *s)
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

static enum gp_status check_devices(const struct held_run *s)
{
	const struct gp_record *then = s->result->baseline;
	bool is_same = then->device_count == s->record->device_count;

	for (size_t d = 0; d < s->record->device_count && is_same; d++)
		is_same = gp_record_find(then, s->record->devices[d].device);
	if (is_same)
		return GP_OK;
	gp_diag_hint(
		&s->result->diag,
		"look at its new numbers, then run: gpupool check --update");
	return gp_diag_set(
		&s->result->diag, GP_INPUT,
		"the baseline is stale: the trace now has other devices");
}

/* Fails a program that recorded nothing: it would be within every limit. */
static enum gp_status check_requests(const struct held_run *s)
{
	uint64_t then = 0, now = 0;

	for (size_t d = 0; d < s->record->device_count; d++) {
		now += s->record->devices[d].fingerprint.requests;
		then += s->result->baseline->devices[d].fingerprint.requests;
	}
	if (now || !then)
		return GP_OK;
	gp_diag_hint(&s->result->diag,
		     "look whether the program ran; if this is intended: "
		     "gpupool check --update");
	return gp_diag_set(&s->result->diag, GP_INPUT,
			   "%s makes no requests, its baseline %" PRIu64,
			   s->run->trace, then);
}

/* Finds, in a second replay, what the actions of the first do not show. */
static enum gp_status look_again(struct held_run *s, size_t d,
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

/* False for "../x", "./x", "a//b" and paths outside this folder: such a path is
 * not the file's usual name. */
static bool is_plain_path(const char *path)
{
	for (;;) {
		size_t length = strcspn(path, "/");

		if (!length || (path[0] == '.' && length <= 2 &&
				(length == 1 || path[1] == '.')))
			return false;
		if (!path[length])
			return true;
		path += length + 1;
	}
}

/* A recorded path may be from another machine. It is taken to mean the file
 * below the working directory that shares the longest end with it; installed
 * packages are skipped. */
static void find_source(struct gp_gate_verdict *v)
{
	const char *at = v->source;
	struct stat info;

	if (!v->line || strstr(at, "-packages/"))
		return;
	for (; at; at = strchr(at, '/')) {
		at += strspn(at, "/");
		if (!is_plain_path(at) || stat(at, &info) ||
		    !S_ISREG(info.st_mode))
			continue;
		memmove(v->source, at, strlen(at) + 1);
		v->is_here = true;
		return;
	}
}

static enum gp_status judge_device(struct held_run *s, size_t d)
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
	device->divergence =
		gp_fingerprint_compare(&then->fingerprint, &now->fingerprint);
	for (size_t i = 0; i < device->verdict_count; i++) {
		gp_verdict_locate(&device->verdicts[i], s->config->numbers,
				  &s->plan.results[d], &s->makers[d], &watch);
		find_source(&device->verdicts[i]);
		is_worse |= device->verdicts[i].is_worse;
	}
	return is_worse ? GP_FAILED : GP_OK;
}

static enum gp_status estimate(struct held_run *s)
{
	struct gp_estimate *estimates;
	enum gp_status status = gp_estimating_make(
		&s->plan, s->trace, &estimates, &s->result->diag);

	for (size_t d = 0; estimates && d < s->result->device_count; d++)
		s->result->devices[d].estimate = estimates[d];
	free(estimates);
	return status;
}

static enum gp_status judge(struct held_run *s)
{
	enum gp_status worst = GP_OK, status = check_devices(s);

	if (status == GP_OK)
		status = check_requests(s);
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
	/* A run is judged as a whole or not at all. */
	if (worst > GP_FAILED)
		s->result->device_count = 0;
	status = estimate(s);
	return status > worst ? status : worst;
}

/* Removes numbers without limits from a record: baselines are kept short, so
 * that their diffs can be read. */
static void forget_others(struct held_run *s)
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

/* Adds the file's name to a hint about writing the baseline again, unless it is
 * the default one. */
static void name_gate(struct gp_diag *diag, const char *path)
{
	static const char update[] = "check --update";
	char hint[sizeof(diag->hint)], quoted[PATH_MAX + 8];
	char *at = strstr(diag->hint, update);
	int head;

	if (!at || !strcmp(path, DEFAULT_GATE))
		return;
	at += sizeof(update) - 1;
	head = (int)(at - diag->hint);
	gp_quote_shell(path, quoted, sizeof(quoted));
	memcpy(hint, diag->hint, sizeof(hint));
	gp_diag_hint(diag, "%.*s %s%s", head, hint, quoted, hint + head);
}

/* Runs on any thread. Fills result; its status and diag say what failed. */
static void check_run(const struct holding *config,
		      const struct gp_gate_run *run,
		      struct gp_gate_result *result)
{
	struct held_run s = { .config = config, .run = run, .result = result };
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
	name_gate(&result->diag, config->gate->path);
	result->status = status;
	gp_plan_release(&s.plan);
	gp_trace_destroy(s.trace);
}

/* One gpupool.json. */
struct file {
	struct gp_gate *gate;
	struct gp_baseline *baseline;
	struct gp_gate_result *results;
	struct gp_arena *arenas; /* one per result: each has one thread */
	size_t count;
};

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_numbers numbers;
	struct gp_progress progress;
	struct file *files;
	size_t count;
};

/* ---- files ---- */

static enum gp_status read_baseline(struct session *s, struct file *file,
				    struct gp_diag *diag)
{
	const struct gp_options *options = s->options;
	const char *path = file->gate->baseline_path;
	enum gp_status status = gp_baseline_read(
		path, &s->numbers, options->update, &file->baseline, diag);

	/* With --update, an invalid baseline is replaced, unless only some runs
	 * are. */
	if (status == GP_INPUT && options->update && !options->only) {
		*diag = (struct gp_diag){ 0 };
		status = gp_baseline_read("", &s->numbers, true,
					  &file->baseline, diag);
	}
	if (status != GP_OK)
		name_gate(diag, file->gate->path);
	return status;
}

static void choose_runs(const struct session *s, struct file *file)
{
	const struct gp_gate *gate = file->gate;
	const char *only = s->options->only;

	file->results = gp_mem_alloc(gate->run_count, sizeof(*file->results));
	file->arenas = gp_mem_alloc(gate->run_count, sizeof(*file->arenas));
	for (size_t i = 0; i < gate->run_count; i++)
		if (!only || !strcmp(gate->runs[i].name, only))
			file->results[file->count++].run = &gate->runs[i];
}

static enum gp_status read_file(struct session *s, const char *path,
				struct file *file, struct gp_diag *diag)
{
	struct gp_gate_config config = {
		.path = path,
		.numbers = &s->numbers,
		.nearest = gp_nearest,
	};
	enum gp_status status;

	if (!strcmp(path, "-")) {
		gp_diag_hint(diag, "traces are named relative to this file");
		return gp_diag_set(diag, GP_USAGE,
				   "it takes the name of a file, not standard "
				   "input");
	}
	status = gp_gate_read(&config, &file->gate, diag);
	if (status == GP_OK)
		status = read_baseline(s, file, diag);
	if (status == GP_OK)
		choose_runs(s, file);
	return status;
}

static enum gp_status read_files(struct session *s, struct gp_diag *diag)
{
	static const char *const by_default[] = { DEFAULT_GATE };
	const char *const *paths = s->options->operands;
	enum gp_status status = GP_OK;

	s->count = s->options->operand_count;
	if (!s->count) {
		paths = by_default;
		s->count = 1;
	}
	s->files = gp_mem_alloc(s->count, sizeof(*s->files));
	for (size_t i = 0; i < s->count && status == GP_OK; i++)
		status = read_file(s, paths[i], &s->files[i], diag);
	return status;
}

static const struct gp_gate_run *find_run(const struct gp_gate *gate,
					  const char *name)
{
	for (size_t i = 0; i < gate->run_count; i++)
		if (!strcmp(gate->runs[i].name, name))
			return &gate->runs[i];
	return NULL;
}

static enum gp_status no_such_run(const struct session *s, struct gp_diag *diag)
{
	const struct gp_gate *gate = s->files[0].gate;
	const char **names = gp_mem_alloc(gate->run_count, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < gate->run_count; i++)
		names[i] = gate->runs[i].name;
	near = gp_nearest(s->options->only, names, gate->run_count);
	if (near)
		gp_diag_hint(diag, "did you mean %s?", near);
	free(names);
	gp_diag_file(diag, gate->path);
	return gp_diag_set(diag, GP_USAGE, "there is no run %s",
			   s->options->only);
}

static enum gp_status check_only(const struct session *s, struct gp_diag *diag)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->options->only ||
		    find_run(s->files[i].gate, s->options->only))
			return GP_OK;
	return no_such_run(s, diag);
}

/* Reports runs in the baseline that the file no longer lists. */
static enum gp_status check_leftovers(const struct session *s,
				      struct gp_diag *diag)
{
	if (s->options->only || s->options->update)
		return GP_OK;
	for (size_t i = 0; i < s->count; i++) {
		const struct file *file = &s->files[i];

		for (size_t k = 0; k < file->baseline->record_count; k++) {
			const char *name = file->baseline->records[k].name;

			if (find_run(file->gate, name))
				continue;
			gp_diag_file(diag, file->gate->baseline_path);
			gp_diag_record(diag, "run %.80s", name);
			gp_diag_hint(diag, "gpupool check --update");
			name_gate(diag, file->gate->path);
			return gp_diag_set(diag, GP_INPUT,
					   "the baseline is stale: %.200s has "
					   "no such run",
					   file->gate->path);
		}
	}
	return GP_OK;
}

/* ---- runs ---- */

/* The argument of the thread pool's callbacks. */
struct work {
	const struct session *session;
	struct file *file;
	struct gp_progress *progress;
	size_t done;
};

static void do_run(void *arg, size_t piece)
{
	const struct work *work = arg;
	struct gp_gate_result *result = &work->file->results[piece];
	struct holding config = {
		.gate = work->file->gate,
		.numbers = &work->session->numbers,
		.baseline = work->file->baseline,
		.arena = &work->file->arenas[piece],
		.max_input = work->session->options->max_input,
		.is_update = work->session->options->update,
	};

	check_run(&config, result->run, result);
}

static void notify_done(void *arg, size_t piece)
{
	struct work *work = arg;
	char what[64];

	(void)piece;
	snprintf(what, sizeof(what), "%zu of %zu runs", ++work->done,
		 work->file->count);
	gp_progress_step(work->progress, what);
}

/* Each running job holds a trace, which may be large. */
#define MOST_THREADS 8

static size_t thread_count(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (cores < 1)
		return 1;
	return cores > MOST_THREADS ? MOST_THREADS : (size_t)cores;
}

static void run_file(struct session *s, struct file *file)
{
	struct work work = { s, file, &s->progress, 0 };
	struct gp_thread_pool_config pool = {
		.threads = thread_count(),
		.count = file->count,
		.work = do_run,
		.done = notify_done,
		.arg = &work,
	};

	gp_thread_pool_run(&pool);
}

/* ---- --update ---- */

/* Runs that were not replayed keep their old record. */
static void write_baseline(const struct session *s, const struct file *file,
			   FILE *out)
{
	const struct gp_gate *gate = file->gate;
	const struct gp_record **records =
		gp_mem_alloc(gate->run_count, sizeof(*records));
	size_t count = 0;

	for (size_t i = 0; i < gate->run_count; i++) {
		const struct gp_record *record =
			gp_baseline_find(file->baseline, gate->runs[i].name);

		for (size_t k = 0; k < file->count; k++)
			if (file->results[k].run == &gate->runs[i])
				record = file->results[k].now;
		if (record)
			records[count++] = record;
	}
	gp_baseline_write(records, count, &s->numbers, out);
	free(records);
}

static enum gp_status update_file(const struct session *s,
				  const struct file *file, struct gp_diag *diag)
{
	struct gp_gate_file done = { file->gate, file->results, file->count,
				     file->baseline };
	struct gp_report_style style = gp_terminal_style(s->options);
	struct gp_output output = { 0 };
	enum gp_status status =
		gp_outlet_open(&output, file->gate->baseline_path, diag);

	if (status == GP_OK)
		write_baseline(s, file, output.stream);
	status = gp_outlet_close(&output, status, diag);
	if (status == GP_OK && !s->options->quiet)
		gp_report_update(&done, &s->numbers, &style,
				 gp_outlet_stdout());
	return status;
}

/* ---- the report ---- */

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;
	struct gp_gate_file *files = gp_mem_alloc(s->count, sizeof(*files));
	struct gp_gate_report report = { &s->numbers, files, s->count };

	for (size_t i = 0; i < s->count; i++)
		files[i] = (struct gp_gate_file){ s->files[i].gate,
						  s->files[i].results,
						  s->files[i].count, NULL };
	switch (s->options->format) {
	case GP_FORMAT_JSON: gp_report_gate_json(&report, out); break;
	case GP_FORMAT_MARKDOWN: gp_report_gate_markdown(&report, out); break;
	case GP_FORMAT_CODEQUALITY:
		gp_report_gate_codequality(&report, out);
		break;
	case GP_FORMAT_JUNIT: gp_report_gate_junit(&report, out); break;
	case GP_FORMAT_GITHUB:
		gp_report_gate_github(&report, style, out);
		break;
	default: gp_report_gate_text(&report, style, out);
	}
	free(files);
}

/* The worst status of all runs, with the diag of the first error. */
static enum gp_status verdict(const struct session *s, struct gp_diag *diag)
{
	enum gp_status worst = GP_OK;
	size_t runs = 0, worse = 0;

	for (size_t i = 0; i < s->count; i++)
		for (size_t k = 0; k < s->files[i].count; k++) {
			const struct gp_gate_result *result =
				&s->files[i].results[k];

			runs++;
			worse += result->status == GP_FAILED;
			if (result->status <= worst)
				continue;
			worst = result->status;
			*diag = result->diag;
			if (!*diag->record)
				gp_diag_record(diag, "run %.80s",
					       result->run->name);
		}
	if (worst != GP_FAILED)
		return worst;
	*diag = (struct gp_diag){ 0 };
	if (s->count == 1)
		gp_diag_file(diag, s->files[0].gate->path);
	return gp_diag_set(diag, GP_FAILED,
			   "%zu of %zu run%s got worse than the limits allow",
			   worse, runs, runs == 1 ? "" : "s");
}

static enum gp_status finish(struct session *s, struct gp_diag *diag)
{
	struct gp_diag trouble = { 0 };
	enum gp_status found = verdict(s, &trouble), status = GP_OK;

	/* Baselines are written only if every run was replayed. */
	if (s->options->update && found == GP_OK)
		for (size_t i = 0; i < s->count && status == GP_OK; i++)
			if (s->files[i].count)
				status = update_file(s, &s->files[i], diag);
	if (!s->options->update)
		status = gp_outlet_report_as_is(s->options, write_report, s,
						diag);
	if (status != GP_OK || found == GP_OK)
		return status;
	*diag = trouble;
	return found;
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = read_files(s, diag);

	if (status == GP_OK)
		status = check_only(s, diag);
	if (status == GP_OK)
		status = check_leftovers(s, diag);
	for (size_t i = 0; i < s->count && status == GP_OK; i++)
		run_file(s, &s->files[i]);
	gp_progress_end(&s->progress);
	return status == GP_OK ? finish(s, diag) : status;
}

static enum gp_status check_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status;

	gp_numbers_init(&s.numbers);
	status = run(&s, diag);
	for (size_t i = 0; i < s.count; i++) {
		gp_gate_destroy(s.files[i].gate);
		gp_baseline_destroy(s.files[i].baseline);
		for (size_t k = 0; k < s.files[i].count; k++)
			gp_arena_release(&s.files[i].arenas[k]);
		free(s.files[i].arenas);
		free(s.files[i].results);
	}
	free(s.files);
	gp_numbers_release(&s.numbers);
	return status;
}

static const struct gp_option check_options[] = {
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|markdown|junit|github|codequality",
	  "For people, for programs, for a pull request (short: md), as JUnit "
	  "XML, with GitHub annotations, or as GitLab's code quality report." },
	{ "update", 0, GP_OPTION_FLAG, GP_AT(update), NULL,
	  "Write the current numbers of the runs as the baseline." },
	{ "only", 0, GP_OPTION_TEXT, GP_AT(only), "NAME", "Only this run." },
	{ 0 },
};

const struct gp_command gp_check_command = {
	.name = "check",
	.operands = "[gpupool.json]...",
	.most = SIZE_MAX,
	.sentence = "Check runs against their limits and their baseline.",
	.about = "The file lists runs: {\"runs\": [{\"name\": \"train\", "
		 "\"trace\": \"train.pickle\"}]}. Each is replayed and its "
		 "numbers are compared with those in gpupool.baseline.json "
		 "next to it, which --update writes. A run without limits of "
		 "its own must not get worse in any of these: peak reserved, "
		 "peak allocated, retries, OOMs, requests not served and "
		 "fidelity.\n"
		 "Exit 0: all limits are kept; 1: a run got worse, and the "
		 "report says what, by how much and from which event on; 3: a "
		 "trace or a baseline is missing, stale or not readable. man "
		 "gpupool.json lists the keys of the file.",
	.options = "format update only output color max-input quiet",
	.own = check_options,
	.run = check_command,
};
