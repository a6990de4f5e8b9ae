/* SPDX-License-Identifier: MIT */
/* gpupool fit: whether a program fits a device, without one. */
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/larger.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/own_folder.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "commands/recorded.h"
#include "commands/recording.h"
#include "commands/trace_file.h"
#include "commands/vary.h"
#include "report/report.h"
#include "report/page.h"
#include "simcuda/simcuda.h"
#include "trace/draft.h"

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	const struct gp_gpu *gpu;
	char folder[PATH_MAX];	    /* of traces that are not to be kept */
	char output[PATH_MAX];	    /* the trace, as given to record */
	struct gp_options recorded; /* as for record */
	const char **words;	    /* owned; operands, if ranks are added */
	char per_node[40], devices[24];
	struct gp_recording recording;
	struct gp_seeds seeds;
	char *path;    /* owned; the report's, if there are several seeds */
	char **traces; /* owned */
	struct gp_ranking ranking;
	struct gp_studying studying;
	struct gp_explain explain; /* of the device that decides */
	struct gp_progress progress;
	struct gp_fit_report report;

	/* For the run on a device that is full at its size. */
	bool can_read_again; /* the standard input, from this offset on */
	off_t input;
	char again_folder[PATH_MAX];
	struct gp_trace *again; /* owned; NULL: none */
	struct gp_plan again_plan;
};

/* ---- the program ---- */

/* The index at which torchrun is inserted into "python -u train.py", after the
 * interpreter's flags; 0: nowhere. */
static size_t place_of_torchrun(const struct gp_options *options)
{
	const char *const *words = options->operands;
	size_t at = 1;

	if (strncmp(gp_page_name(words[0]), "python", strlen("python")) != 0)
		return 0;
	while (at < options->operand_count && *words[at] == '-' &&
	       strcmp(words[at], "-m") != 0) {
		if (!strncmp(words[at], "-c", 2))
			return 0;
		at += strcmp(words[at], "-W") && strcmp(words[at], "-X") ? 1
									 : 2;
	}
	return at < options->operand_count ? at : 0;
}

static enum gp_status check_ranks(const struct gp_options *options,
				  struct gp_diag *diag)
{
	gp_diag_file(diag, "fit");
	if (options->devices)
		return gp_diag_set(diag, GP_USAGE,
				   "--devices: --ranks has one for each rank");
	if (options->ranks > SIMCUDA_MOST_DEVICES)
		return gp_diag_set(diag, GP_USAGE,
				   "--ranks %" PRIu64 ": it takes 1 to %d",
				   options->ranks, SIMCUDA_MOST_DEVICES);
	if (place_of_torchrun(options))
		return GP_OK;
	gp_diag_hint(diag,
		     "what starts its ranks by itself, such as torchrun, takes "
		     "--devices %" PRIu64,
		     options->ranks);
	return gp_diag_set(diag, GP_USAGE,
			   "--ranks: it starts \"python FILE\" or \"python -m "
			   "MODULE\"");
}

/* Starts a rank on each device, with torchrun. */
static void add_ranks(struct session *s)
{
	const struct gp_options *options = s->options;
	size_t at = place_of_torchrun(options), count = 0;

	/* Room for four more words and NULL. */
	s->words = gp_mem_alloc(options->operand_count + 5, sizeof(*s->words));
	snprintf(s->per_node, sizeof(s->per_node), "--nproc-per-node=%" PRIu64,
		 options->ranks);
	snprintf(s->devices, sizeof(s->devices), "%" PRIu64, options->ranks);
	while (count < at) {
		s->words[count] = options->operands[count];
		count++;
	}
	s->words[count++] = "-m";
	s->words[count++] = "torch.distributed.run";
	s->words[count++] = "--standalone";
	s->words[count++] = s->per_node;
	for (; at < options->operand_count; at++)
		s->words[count++] = options->operands[at];
	s->recorded.operands = s->words;
	s->recorded.operand_count = count;
	s->recorded.devices = s->devices;
}

static enum gp_status record(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	if (s->options->kept)
		snprintf(s->output, sizeof(s->output), "%s", s->options->kept);
	else
		status = gp_own_fresh("fit", s->folder, diag);
	if (status != GP_OK)
		return status;
	if (*s->folder &&
	    (size_t)snprintf(s->output, sizeof(s->output), "%s/trace.jsonl",
			     s->folder) >= sizeof(s->output))
		return gp_diag_set(diag, GP_SYSTEM,
				   "the path of the folder for temporary files "
				   "is too long");
	s->recorded = *s->options;
	s->recorded.output = s->output;
	s->recorded.format = GP_FORMAT_BY_NAME;
	s->recorded.quiet = true;
	s->recorded.stacks = true; /* to know who holds the memory */
	s->recording = (struct gp_recording){
		.options = &s->recorded,
		.is_boundless = true,
		.is_output_aside = true,
	};
	s->seeds.recording = &s->recording;
	if (s->options->ranks)
		add_ranks(s);
	status = gp_record_seeds(&s->seeds, diag);
	if (s->seeds.count && *s->seeds.output)
		memcpy(s->output, s->seeds.output, sizeof(s->output));
	return status;
}

/* ---- its traces, judged ---- */

static void name_traces(struct session *s)
{
	size_t count = s->recording.count;

	s->traces = gp_mem_alloc(count, sizeof(*s->traces));
	if (s->options->from_trace) {
		s->traces[0] = gp_mem_copy_text(s->options->from_trace,
						strlen(s->options->from_trace));
		return;
	}
	for (size_t i = 0; i < count; i++) {
		s->traces[i] = gp_mem_alloc(PATH_MAX, 1);
		gp_recorded_name(s->output, i, count, s->traces[i], PATH_MAX);
	}
}

static bool is_refused(struct session *s, const struct gp_trace *trace)
{
	struct gp_fit_report *r = &s->report;

	if (!gp_study_refused(trace, &r->oom_device, &r->oom))
		return false;
	r->oom_trace = trace;
	return true;
}

/* Whether the worst rank, or else another one, ran out of memory when it was
 * recorded, and whether the program went on: it ended successfully, or, if
 * there is only a trace, it did more than a program that ends because of the
 * error. */
static void look_for_oom(struct session *s)
{
	struct gp_fit_report *r = &s->report;
	const struct gp_ranks *ranks = &s->ranking.ranks;

	if (is_refused(s, r->trace))
		r->went_on = s->options->from_trace
				     ? gp_study_ends(r->trace, r->oom_device) !=
					       GP_ENDS_FAILURE
				     : !gp_recording_status(&s->recording);
	for (size_t i = 0; i < ranks->count && !r->oom_trace; i++)
		is_refused(s, ranks->classes[i].trace);
}

static enum gp_status explain_worst(struct session *s, struct gp_diag *diag)
{
	struct gp_fit_report *r = &s->report;
	const struct gp_ranks *ranks = &s->ranking.ranks;
	size_t index = gp_ranks_class_of(ranks, r->worst);
	const struct gp_rank_class *class = &ranks->classes[index];
	struct gp_replay_config run;
	const struct gp_explain_config config = {
		.run = &run,
		.skip_attempts = true,
		.look_at_fullest = true,
		.look_at_most_use = true,
		.is_too_small = s->studying.study.verdicts[r->worst].kind ==
				GP_VERDICT_TOO_SMALL,
	};

	r->trace = class->trace;
	r->device = (uint32_t)(r->worst - class->first_case);
	look_for_oom(s);
	run = gp_plan_simulated(&s->ranking.plans[index], r->device);
	return gp_explain(&config, &s->explain, diag);
}

/* Memory that PyTorch cannot use is subtracted for the device asked about. What
 * record has written into the trace as such memory of its own device is not
 * subtracted, too. */
static void limit(struct session *s, struct gp_options *options)
{
	const struct gp_ranks *ranks = &s->ranking.ranks;

	options->capacity -= s->report.besides.high;
	for (size_t i = 0; i < ranks->count; i++) {
		struct gp_plan *plan = &s->ranking.plans[i];
		struct gp_trace *alone;

		for (size_t d = 0; d < plan->trace->device_count; d++)
			plan->capacity[d] = options->capacity;
		alone = gp_trace_without_others(plan->trace);
		if (!alone)
			continue;
		s->ranking.what_ifs[i].trace = alone;
		plan->trace = alone;
		gp_plan_foresee(plan);
	}
}

static enum gp_status judge(struct session *s, struct gp_diag *diag)
{
	struct gp_options options = {
		.command = "fit",
		.capacity = s->gpu->capacity,
		.prices = s->options->prices,
		.without = s->options->without,
		.quiet = s->options->quiet,
		.operands = (const char *const *)s->traces,
		.operand_count = s->recording.count,
	};
	const struct gp_ranking_config config = {
		.options = &options,
		.progress = &s->progress,
	};
	const struct gp_study *study = &s->studying.study;
	enum gp_status status = gp_ranking_make(&s->ranking, &config, diag);

	if (status == GP_OK) {
		limit(s, &options);
		status = gp_ranking_study(&s->ranking, s->ranking.plans,
					  &options, &s->studying, &s->progress,
					  diag);
	}
	s->report.worst = gp_verdict_worst(study->verdicts, study->case_count);
	if (status == GP_OK && study->case_count)
		status = explain_worst(s, diag);
	/* A recorded program without traces is reported as not having used a
	 * device. */
	else if (status == GP_OK && s->options->from_trace)
		status = gp_rank_files_requests(&s->ranking.ranks, diag);
	gp_progress_end(&s->progress);
	return status;
}

/* ---- the program, where memory may run out ---- */

/* Whether another run would read the same from its standard input as the
 * first. */
static void look_at_input(struct session *s)
{
	struct pollfd at = { .fd = STDIN_FILENO, .events = POLLIN };
	struct stat info;

	s->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (fstat(STDIN_FILENO, &info) || S_ISREG(info.st_mode) ||
	    S_ISCHR(info.st_mode))
		s->can_read_again = true;
	else /* a pipe, at its end */
		s->can_read_again =
			poll(&at, 1, 0) == 1 && at.revents == POLLHUP;
}

/* A program that does not fit may catch the error and request less. This is not
 * tried if it left a process running, or if several share a device. */
static bool may_do_with_less(const struct session *s)
{
	const struct gp_fit_report *r = &s->report;

	return s->can_read_again && r->study->case_count && !r->exit &&
	       !r->runs_on && !r->sharers && !gp_fit_is(r);
}

static void note_trace(struct session *s, struct gp_trace *trace)
{
	struct gp_fit_again *again = &s->report.again;

	for (uint32_t d = 0; d < trace->device_count; d++) {
		const struct gp_device_trace *t = &trace->devices[d];

		for (size_t i = 0; i < t->event_count; i++) {
			if (!(t->events[i].flags & GP_REFUSED) || again->ooms++)
				continue;
			again->device = d;
			again->event = i;
		}
	}
	/* Keep the first trace in which a request failed, else the first. */
	if (s->again && (!again->ooms || again->trace)) {
		gp_trace_destroy(trace);
		return;
	}
	gp_trace_destroy(s->again);
	s->again = trace;
	again->trace = again->ooms ? trace : NULL;
}

static enum gp_status read_again(struct session *s, size_t count,
				 const char *output, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < count && status == GP_OK; i++) {
		struct gp_trace *trace;
		char path[PATH_MAX];

		gp_recorded_name(output, i, count, path, sizeof(path));
		status = gp_trace_file_read(path, &s->progress, &trace, diag);
		if (status == GP_OK)
			note_trace(s, trace);
	}
	return status;
}

/* Explains who holds the memory in that run, instead of in the first one. */
static enum gp_status explain_again(struct session *s, struct gp_diag *diag)
{
	struct gp_fit_again *again = &s->report.again;
	struct gp_replay_config run;
	const struct gp_explain_config config = {
		.run = &run,
		.skip_attempts = true,
		.look_at_fullest = true,
		.look_at_most_use = true,
	};
	enum gp_status status;

	again->trace = s->again;
	if (!s->again || !s->again->device_count)
		return GP_OK;
	status = gp_plan_recorded(&s->again_plan, s->again, diag);
	if (status != GP_OK)
		return status;
	gp_explain_release(&s->explain);
	s->explain = (struct gp_explain){ 0 };
	s->report.trace = s->again;
	s->report.device = again->device;
	run = gp_plan_simulated(&s->again_plan, again->device);
	return gp_explain(&config, &s->explain, diag);
}

/* If several seeds were asked for, it draws the same values as the run with the
 * largest peak. */
static enum gp_status run_full(struct session *s,
			       struct gp_recording *recording,
			       struct gp_diag *diag)
{
	struct gp_options options = s->recorded;
	char output[PATH_MAX], values[40];
	enum gp_status status = gp_own_fresh("fit", s->again_folder, diag);

	if (status != GP_OK)
		return status;
	if ((size_t)snprintf(output, sizeof(output), "%s/trace.jsonl",
			     s->again_folder) >= sizeof(output))
		return GP_SYSTEM;
	options.output = output;
	if (options.seeds) {
		snprintf(values, sizeof(values), "drawn:%" PRIu64,
			 s->seeds.worst);
		options.values = values;
		options.seeds = 0;
	}
	recording->options = &options;
	if (s->input >= 0)
		lseek(STDIN_FILENO, s->input, SEEK_SET);
	status = gp_record_program(recording, diag);
	recording->options = NULL;
	return status == GP_OK ? read_again(s, recording->count, output, diag)
			       : status;
}

/* If this run cannot be made, the result stays as it is. */
static enum gp_status try_full(struct session *s, struct gp_diag *diag)
{
	struct gp_recording recording = { .is_silent = true };
	struct gp_fit_again *again = &s->report.again;
	struct gp_diag ignored = { 0 };

	if (!may_do_with_less(s))
		return GP_OK;
	if (!s->options->quiet)
		gp_notice("gpupool: %s asks for more than %s has; it is run "
			  "again with that memory, as it may catch the error\n",
			  s->report.program, s->gpu->name);
	if (run_full(s, &recording, &ignored) != GP_OK || !recording.count ||
	    recording.runs_on)
		return GP_OK;
	again->is_there = true;
	again->exit = gp_recording_status(&recording);
	again->reserved = recording.peak_reserved;
	return again->exit ? GP_OK : explain_again(s, diag);
}

/* ---- the answer ---- */

/* The name of the program: "train.py" of "python -u train.py --fast",
 * "my.train" of "python -m my.train". It is the first word that names a Python
 * file or a module, else the program. */
static const char *program_of(const struct gp_options *options)
{
	for (size_t i = 0; i < options->operand_count; i++) {
		const char *word = options->operands[i];
		size_t length = strlen(word);

		if (length > 3 && !strcmp(word + length - 3, ".py"))
			return gp_page_name(word);
		if (!strcmp(word, "-m") && i + 1 < options->operand_count)
			return options->operands[i + 1];
	}
	return gp_page_name(options->from_trace ? options->from_trace
						: options->operands[0]);
}

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;

	if (s->options->format == GP_FORMAT_JSON)
		gp_report_fit_json(&s->report, out);
	else
		gp_report_fit_text(&s->report, style, out);
}

/* "one; other"; NULL: both are NULL. */
static char *join(const char *one, const char *other)
{
	const char *between = one && other ? "; " : "";
	size_t size;
	char *text;

	if (!one && !other)
		return NULL;
	one = one ? one : "";
	other = other ? other : "";
	size = strlen(one) + strlen(between) + strlen(other) + 1;
	text = gp_mem_alloc(size, 1);
	snprintf(text, size, "%s%s%s", one, between, other);
	return text;
}

/* Adds the range of the seeds' peaks. */
static void add_seeds(struct session *s)
{
	char range[GP_SEEDS_TEXT];

	if (s->seeds.count < 2 || !s->report.path)
		return;
	gp_seeds_text(&s->seeds, range);
	s->path = join(s->report.path, range);
	s->report.path = s->path;
}

/* Ranks in a folder may be from several nodes; a recording is from one. */
static void look_for_sharers(struct session *s)
{
	struct gp_fit_report *r = &s->report;
	const uint32_t *used_by = s->ranking.ranks.used_by;

	for (uint32_t i = 0; i < GP_RANK_DEVICES && !r->sharers; i++)
		if (used_by[i] > 1 && !s->options->from_trace) {
			r->sharers = used_by[i];
			r->shared = i;
		}
}

static void fill_in(struct session *s)
{
	struct gp_fit_report *r = &s->report;

	r->program = program_of(s->options);
	r->exit = gp_recording_status(&s->recording);
	r->runs_on = s->recording.runs_on;
	r->kept = s->options->from_trace ? s->options->from_trace
		  : s->recording.count	 ? s->options->kept
					 : NULL;
	if (r->trace && r->trace->values)
		r->path = r->trace->values;
	else if (!s->options->from_trace && s->recording.count)
		r->path = "not known: its Python was not there to follow it";
	add_seeds(s);
	look_for_sharers(s);
	r->gpu = s->gpu;
	r->ranks = gp_ranking_ranks(&s->ranking);
	r->study = &s->studying.study;
	r->explain = &s->explain;
}

static enum gp_status report(struct session *s, struct gp_diag *diag)
{
	struct gp_fit_report *r = &s->report;
	enum gp_status status =
		gp_outlet_report(s->options, write_report, s, diag);

	if (status != GP_OK || gp_fit_is(r))
		return status;
	gp_diag_file(diag, r->program);
	if (r->exit)
		return gp_diag_set(diag, GP_FAILED, "it ended with status %d",
				   r->exit);
	if (gp_fit_is_open(r)) {
		if (r->sharers)
			gp_diag_hint(diag, "a rank has a device to itself as "
					   "cuda:$LOCAL_RANK");
		return gp_diag_set(diag, GP_FAILED,
				   "whether it fits %s is not known",
				   s->gpu->name);
	}
	return gp_diag_set(diag, GP_FAILED, "it does not fit %s", s->gpu->name);
}

static enum gp_status check(struct session *s, struct gp_diag *diag)
{
	if (s->options->from_trace && s->options->operand_count)
		return gp_diag_set(
			diag, GP_USAGE,
			"--trace %s: it takes the place of a COMMAND",
			s->options->from_trace);
	if (s->options->from_trace && (s->options->ranks || s->options->seeds))
		return gp_diag_set(diag, GP_USAGE,
				   "--trace %s: nothing is recorded with %s",
				   s->options->from_trace,
				   s->options->ranks ? "--ranks" : "--seeds");
	if (!s->options->from_trace && !s->options->operand_count) {
		gp_diag_hint(diag, "gpupool fit --gpu a100-40gb -- python "
				   "train.py");
		return gp_diag_set(diag, GP_USAGE, "which COMMAND?");
	}
	if (s->options->ranks && check_ranks(s->options, diag) != GP_OK)
		return GP_USAGE;
	s->gpu = gp_record_gpu(s->options, diag);
	if (!s->gpu)
		return GP_USAGE;
	s->report.besides = gp_gpu_non_pytorch(s->gpu);
	return gp_studying_check(s->options, diag);
}

static void release(struct session *s)
{
	gp_explain_release(&s->explain);
	gp_studying_release(&s->studying);
	gp_ranking_release(&s->ranking);
	for (size_t i = 0; s->traces && i < s->recording.count; i++)
		free(s->traces[i]);
	free(s->traces);
	free(s->path);
	free(s->words);
	gp_plan_release(&s->again_plan);
	gp_trace_destroy(s->again);
	gp_own_remove(s->again_folder);
	gp_own_remove(s->folder);
}

/* Does everything but write the report. */
static enum gp_status find_out(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = check(s, diag);

	if (status == GP_OK && s->options->from_trace)
		s->recording.count = 1;
	else if (status == GP_OK)
		status = record(s, diag);
	if (status == GP_OK && s->recording.count) {
		name_traces(s);
		status = judge(s, diag);
	}
	if (status == GP_OK)
		fill_in(s);
	return status;
}

/* ---- several values of something ---- */

struct varied {
	const struct gp_options *options;
	struct gp_vary vary;
	struct gp_vary_report report;
};

/* Whether a shell reports this status for a process that was ended by a signal;
 * sys.exit(-1) gives another one. */
static bool is_of_signal(int exit)
{
	return exit > 128 && exit <= 128 + SIGRTMAX;
}

/* A program may fail with this value only, so the search goes on; but not if it
 * was ended by a signal. */
static enum gp_status take(const struct session *s, struct varied *v,
			   struct gp_vary_point *point, struct gp_diag *diag)
{
	const struct gp_fit_report *r = &s->report;
	const char *failure = NULL;
	char text[48];

	snprintf(text, sizeof(text), "it ended with status %d", r->exit);
	if (is_of_signal(r->exit)) {
		gp_diag_file(diag, r->program);
		return gp_diag_set(diag, GP_FAILED, "%s, with %s=%" PRIu64,
				   text, v->vary.name, point->value);
	}
	if (r->exit)
		failure = text;
	else if (gp_fit_is_open(r) &&
		 (!gp_fit_needs(r) || r->sharers ||
		  (r->oom_trace && gp_fit_needs(r) <= r->gpu->capacity)))
		failure = r->sharers	 ? "its processes share a device"
			  : r->oom_trace ? "it ran out of memory when recorded"
					 : "it left a process running";
	if (failure) {
		point->failure = gp_mem_copy_text(failure, strlen(failure));
		return GP_OK;
	}
	point->need = gp_fit_needs(r);
	point->fits = gp_fit_is(r);
	point->path = join(r->path, r->trace ? r->trace->not_told : NULL);
	return GP_OK;
}

static enum gp_status measure(void *arg, struct gp_vary_point *point,
			      struct gp_diag *diag)
{
	struct varied *v = arg;
	struct gp_options options =
		gp_vary_options(&v->vary, v->options, point->value);
	struct session s = {
		.options = &options,
		.progress = gp_progress_make(&options),
	};
	enum gp_status status = find_out(&s, diag);

	if (status == GP_OK)
		status = take(&s, v, point, diag);
	v->report.gpu = s.gpu;
	release(&s);
	gp_vary_options_release(&options);
	return status;
}

static void write_varied(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct varied *v = arg;

	if (v->options->format == GP_FORMAT_JSON)
		gp_report_vary_json(&v->report, out);
	else if (v->options->format == GP_FORMAT_HTML)
		gp_report_vary_html(&v->report, out);
	else
		gp_report_vary_text(&v->report, style, out);
}

static enum gp_status vary(const struct gp_options *options,
			   struct gp_diag *diag)
{
	struct varied v = { .options = options };
	const struct gp_vary_point *failed;
	struct gp_diag ignored = { 0 };
	enum gp_status shown = GP_OK;
	enum gp_status status = gp_vary_parse(&v.vary, options, diag);

	if (status == GP_OK)
		status = gp_vary_search(&v.vary, measure, &v, diag);
	v.report.program = program_of(options);
	v.report.name = v.vary.name;
	v.report.first = v.vary.first;
	v.report.last = v.vary.last;
	v.report.points = v.vary.points;
	v.report.count = v.vary.count;
	if (v.vary.count)
		shown = gp_outlet_report(options, write_varied, &v,
					 status == GP_OK ? diag : &ignored);
	if (status == GP_OK)
		status = shown;
	failed = gp_vary_failed(&v.report);
	if (status == GP_OK && (failed || !gp_vary_largest(&v.report))) {
		gp_diag_file(diag, v.report.program);
		status = failed ? gp_diag_set(diag, GP_FAILED,
					      "%s, with %s=%" PRIu64,
					      failed->failure, v.report.name,
					      failed->value)
				: gp_diag_set(diag, GP_FAILED,
					      "it does not fit %s",
					      v.report.gpu->name);
	}
	gp_vary_release(&v.vary);
	return status;
}

static enum gp_status fit_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status;

	if (options->gpu && !strcmp(options->gpu, "help")) {
		gp_record_list_gpus(gp_outlet_stdout());
		return GP_OK;
	}
	if (options->vary.count)
		return vary(options, diag);
	if (options->format == GP_FORMAT_HTML) {
		gp_diag_file(diag, "fit");
		return gp_diag_set(diag, GP_USAGE,
				   "--format html: it is drawn with --vary "
				   "only");
	}
	if (!options->from_trace)
		look_at_input(&s);
	status = find_out(&s, diag);
	if (status == GP_OK)
		status = try_full(&s, diag);
	if (status == GP_OK)
		status = report(&s, diag);
	release(&s);
	return status;
}

static const struct gp_option fit_options[] = {
	{ "gpu", 0, GP_OPTION_TEXT, GP_AT(gpu), "NAME",
	  "The device: h100-80gb, which is the default, or another in any "
	  "usual spelling; help lists them." },
	{ "devices", 0, GP_OPTION_TEXT, GP_AT(devices), "N",
	  "Number of devices that the program sees, 1 to 16; default: 1." },
	{ "ranks", 0, GP_OPTION_SOME, GP_AT(ranks), "N",
	  "Start N of the program, 1 to 16, each on a device of its own, as "
	  "torchrun does on a node." },
	{ "scalar", 0, GP_OPTION_TEXT, GP_AT(scalar), "VALUE",
	  "What the program reads from an unknown scalar on the device, in "
	  "place of 0." },
	GP_VALUES_OPTIONS,
	{ "cudnn", 0, GP_OPTION_TEXT, GP_AT(cudnn), "FILE|none",
	  "The cuDNN library that is asked for plans and their workspaces; "
	  "default: the one installed with PyTorch." },
	{ "trace", 0, GP_OPTION_TEXT, GP_AT(from_trace), "FILE",
	  "Judge this trace, or this folder with the traces of all ranks, in "
	  "place of a program; it may have been recorded on another device." },
	{ "vary", 0, GP_OPTION_LIST, GP_AT(vary), "NAME=1..512",
	  "Find the largest number up to which it fits; {NAME} stands for it "
	  "in the command, or in the name given to --trace." },
	{ "keep", 0, GP_OPTION_TEXT, GP_AT(kept), "FILE",
	  "Keep the trace in this file; its ending selects the format, as for "
	  "convert." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|markdown|html",
	  "For people, for programs, for an issue or a pull request (short: "
	  "md), or, with --vary, as a page with a drawing." },
	{ 0 },
};

const struct gp_command gp_fit_command = {
	.name = "fit",
	.operands = "-- COMMAND...",
	.most = SIZE_MAX,
	.sentence = "Say whether a program fits a device, without one.",
	.about = "Runs the program as record does, on a device that shows the "
		 "memory of --gpu and is never full, and judges what it "
		 "requested: what it needs as it is and with the best setting, "
		 "what nvidia-smi would show, who holds the memory, and the "
		 "smallest device that is large enough. What CUDA and its "
		 "libraries hold besides PyTorch is added.\n"
		 "What the program prints goes to standard error. Exits with 1 "
		 "if the program does not fit, if that is not known, or if it "
		 "fails.",
	.options =
		"gpu trace devices ranks vary values seeds scalar cudnn keep "
		"prices without format output ascii color quiet",
	.own = fit_options,
	.run = fit_command,
};
