/* SPDX-License-Identifier: MIT */
/* gpupool diff: two runs, and what the difference is made of. */
#include "cli/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/outlet.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"

/* All that one call of the command holds. */
struct session {
	const struct gp_options *options;
	const char *a_path, *b_path;
	struct gp_trace *a_trace, *b_trace; /* b: NULL when there is one */
	struct gp_diff_side a, b;
	struct gp_report_run *a_runs, *b_runs;
	size_t a_count, b_count;
	struct gp_change *changes;
	struct gp_parting *partings;
	size_t change_count;
	struct gp_diff_limit limit;
	struct gp_progress progress;
};

static enum gp_status read_trace(struct session *s, const char *path,
				 struct gp_trace **trace, struct gp_diag *diag)
{
	return gp_trace_file_read(path, &s->progress, trace, diag);
}

/* ---- two traces, or one under other settings ---- */

/* The only ones, or those of the same ordinal. */
static bool is_pair(const struct session *s, uint32_t i, uint32_t k)
{
	const struct gp_trace *a = s->a.trace, *b = s->b.trace;

	return (a->device_count == 1 && b->device_count == 1) ||
	       a->devices[i].device == b->devices[k].device;
}

static bool asks_the_same(const struct session *s, uint32_t i, uint32_t k)
{
	struct gp_parting parting;

	if (s->a.trace == s->b.trace)
		return true;
	parting = gp_parting_find(s->a.trace, i, s->b.trace, k);
	return !parting.is_there && !parting.starts_differ;
}

static uint64_t *unset(const struct gp_trace *trace)
{
	uint64_t *moments =
		gp_mem_alloc(trace->device_count + 1, sizeof(*moments));

	for (size_t i = 0; i < trace->device_count; i++)
		moments[i] = GP_AT_FULLEST;
	return moments;
}

/* Runs of the same requests are looked at where the program holds most, each of
 * others where it reserves most. */
static void choose_moments(struct session *s)
{
	const struct gp_trace *a = s->a.trace, *b = s->b.trace;

	s->a.moments = unset(a);
	s->b.moments = unset(b);
	for (uint32_t i = 0; i < a->device_count; i++)
		for (uint32_t k = 0; k < b->device_count; k++)
			if (is_pair(s, i, k) && asks_the_same(s, i, k)) {
				s->a.moments[i] = gp_makeup_moment(a, i);
				s->b.moments[k] = gp_makeup_moment(b, k);
			}
}

/* One trace: A is as recorded.  Two: settings are for both. */
static enum gp_status replay(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *asked =
		gp_plan_is_asked(s->options) ? s->options : NULL;
	bool is_one = !s->b_path;
	enum gp_status status = read_trace(s, s->a_path, &s->a_trace, diag);

	if (status == GP_OK && !is_one)
		status = read_trace(s, s->b_path, &s->b_trace, diag);
	s->a.path = s->a_path;
	s->a.trace = s->a_trace;
	s->b.path = is_one ? s->a_path : s->b_path;
	s->b.trace = is_one ? s->a_trace : s->b_trace;
	if (status == GP_OK)
		choose_moments(s);
	if (status == GP_OK)
		status = gp_diff_side_make(&s->a, is_one ? NULL : asked,
					   &s->progress, diag);
	if (status == GP_OK)
		status = gp_diff_side_make(&s->b, asked, &s->progress, diag);
	return status;
}

static struct gp_change_side side_of(const struct gp_diff_side *side,
				     uint32_t device)
{
	return (struct gp_change_side){
		.path = side->path,
		.conf = side->plan.conf,
		.release = side->plan.settings.release,
		.capacity = side->plan.capacity[device],
		.trace = side->trace,
		.makeup = side->makeups[device],
	};
}

static size_t match(const struct gp_diff_side *a, uint32_t i,
		    const struct gp_diff_side *b, uint32_t k,
		    enum gp_sharing sharing, const struct gp_share_pair **pairs)
{
	struct gp_share *x, *y;
	struct gp_share_pair *matched;
	size_t x_count = gp_share_out(a->trace, i, &a->plan.results[i].peak,
				      sharing, &x);
	size_t y_count = gp_share_out(b->trace, k, &b->plan.results[k].peak,
				      sharing, &y);
	size_t count = gp_share_match(x, x_count, y, y_count, &matched);

	free(x);
	free(y);
	*pairs = matched;
	return count;
}

static void compare_devices(struct session *s, uint32_t i, uint32_t k)
{
	struct gp_change *change = &s->changes[s->change_count];
	struct gp_parting *parting = &s->partings[s->change_count++];

	*change = (struct gp_change){
		.device = s->a.trace->devices[i].device,
		.a = side_of(&s->a, i),
		.b = side_of(&s->b, k),
		.is_same = s->a.moments[i] != GP_AT_FULLEST,
	};
	change->site_count =
		match(&s->a, i, &s->b, k, GP_SHARE_BY_SITE, &change->sites);
	change->size_count =
		match(&s->a, i, &s->b, k, GP_SHARE_BY_SIZE, &change->sizes);
	if (s->a.trace == s->b.trace)
		return;
	*parting = gp_parting_find(s->a.trace, i, s->b.trace, k);
	change->parting = parting;
}

static void compare(struct session *s)
{
	const struct gp_trace *a = s->a.trace, *b = s->b.trace;

	s->changes = gp_mem_alloc(a->device_count + 1, sizeof(*s->changes));
	s->partings = gp_mem_alloc(a->device_count + 1, sizeof(*s->partings));
	for (uint32_t i = 0; i < a->device_count; i++)
		for (uint32_t k = 0; k < b->device_count; k++)
			if (is_pair(s, i, k))
				compare_devices(s, i, k);
}

static enum gp_status diff_traces(struct session *s, struct gp_diag *diag)
{
	enum gp_status status;

	if (!s->b_path && !gp_plan_is_asked(s->options))
		return gp_diag_usage(
			diag, "diff",
			"it takes two traces, or one and settings",
			"for example: gpupool diff TRACE --max-split-mb 128");
	if (s->b_path && !strcmp(s->a_path, "-") && !strcmp(s->b_path, "-"))
		return gp_diag_usage(diag, "diff",
				     "both cannot come from standard input",
				     "give one of them as a file");
	status = replay(s, diag);
	if (status == GP_OK)
		compare(s);
	return status;
}

/* ---- two reports ---- */

static enum gp_status diff_reports(struct session *s, struct gp_diag *diag)
{
	enum gp_status status;

	if (gp_plan_is_asked(s->options))
		return gp_diag_usage(
			diag, "diff", "reports were made under their settings",
			"compare the traces to replay them under others");
	status = gp_report_read(s->a_path, &s->a_runs, &s->a_count, diag);
	if (status == GP_OK)
		status = gp_report_read(s->b_path, &s->b_runs, &s->b_count,
					diag);
	if (status != GP_OK)
		return status;
	s->changes = gp_mem_alloc(s->a_count + 1, sizeof(*s->changes));
	s->change_count = gp_diff_pair_reports(s->a_path, s->a_runs, s->a_count,
					       s->b_path, s->b_runs, s->b_count,
					       s->changes);
	return GP_OK;
}

/* ---- the whole ---- */

static enum gp_status diff(struct session *s, struct gp_diag *diag)
{
	bool a = false, b = false;
	enum gp_status status = gp_report_is_one(s->a_path, &a, diag);

	if (status == GP_OK && s->b_path)
		status = gp_report_is_one(s->b_path, &b, diag);
	if (status != GP_OK)
		return status;
	if (s->b_path ? a != b : a)
		return gp_diag_usage(
			diag, "diff", "a report is compared with a report",
			"make one of the trace: gpupool replay TRACE "
			"--format json -o FILE");
	status = a ? diff_reports(s, diag) : diff_traces(s, diag);
	if (status == GP_OK && !s->change_count) {
		gp_diag_file(diag, s->b.path ? s->b.path : s->b_path);
		status = gp_diag_set(diag, GP_INPUT,
				     "it has no run of a device and settings "
				     "that %.200s has",
				     s->a_path);
	}
	return status;
}

static void write_changes(const struct session *s, FILE *out)
{
	struct gp_report_style style = gp_terminal_style(s->options);

	if (s->options->format == GP_FORMAT_JSON)
		gp_change_json(s->changes, s->change_count, out);
	else
		gp_change_text(s->changes, s->change_count, &style, out);
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	struct gp_output output = { 0 };
	enum gp_status status = GP_OK;

	if (s->options->fail_over)
		status = gp_diff_limit_parse(s->options->fail_over, &s->limit,
					     diag);
	if (status == GP_OK)
		status = diff(s, diag);
	gp_progress_end(&s->progress);
	if (status == GP_OK)
		status = gp_outlet_open_report(
			&output, s->options->output,
			s->options->format == GP_FORMAT_TEXT, diag);
	if (status == GP_OK)
		write_changes(s, output.stream);
	status = gp_outlet_close(&output, status, diag);
	if (status == GP_OK)
		status = gp_diff_limit_hold(&s->limit, s->changes,
					    s->change_count, diag);
	return status;
}

static void release(struct session *s)
{
	for (size_t i = 0; i < s->change_count; i++) {
		free((void *)s->changes[i].sites);
		free((void *)s->changes[i].sizes);
	}
	free(s->changes);
	free(s->partings);
	gp_report_runs_release(s->a_runs, s->a_count);
	gp_report_runs_release(s->b_runs, s->b_count);
	gp_diff_side_release(&s->a);
	gp_diff_side_release(&s->b);
	gp_trace_destroy(s->a_trace);
	gp_trace_destroy(s->b_trace);
}

enum gp_status gp_diff_command(const struct gp_options *options,
			       struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.a_path = options->operands[0],
		.b_path = options->operand_count > 1 ? options->operands[1]
						     : NULL,
		.progress = gp_progress_make(options->quiet),
	};
	enum gp_status status = run(&s, diag);

	release(&s);
	return status;
}
