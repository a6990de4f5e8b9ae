/* SPDX-License-Identifier: MIT */
/* A sweep for a person: the line to paste, why, and the table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "base/mem.h"
#include "report/sweep_report.h"
#include "report/head.h"
#include "report/page.h"
#include "report/sweep_rank.h"
#include "report/verdict.h"

#define ROWS	     20 /* of the table; CSV and JSON have all */
#define LISTED_ALIKE 3	/* combinations per reason; more are only counted */

struct scene {
	struct gp_page page;
	const struct gp_sweep_report *sweep;
	struct ranking ranking;
	enum gp_rank_by by;
};

/* ---- what was asked ---- */

/* The memory of the devices of all traces. */
static const char *memory_text(const struct gp_sweep_report *sweep,
			       char text[GP_HEAD_MEMORY])
{
	uint64_t *all = gp_mem_alloc(2 * sweep->trace_count, sizeof(*all));
	size_t count = 0;

	for (size_t t = 0; t < sweep->trace_count; t++) {
		const struct gp_sweep_report_trace *trace = &sweep->traces[t];
		bool is_range = trace->most_capacity;

		all[count++] =
			is_range ? trace->least_capacity : trace->capacity;
		if (is_range)
			all[count++] = trace->most_capacity;
	}
	gp_head_memory(GP_WHAT_IF, all, count, text);
	free(all);
	return text;
}

/* The number of traces that were recorded unlike the first, including those
 * alike. */
static size_t count_otherwise(const struct gp_sweep_report *sweep)
{
	const struct gp_sweep_report_trace *first = sweep->traces;
	size_t n = 0;

	for (size_t t = 1; t < sweep->trace_count; t++)
		n += strcmp(sweep->traces[t].conf, first->conf) != 0 ||
		     strcmp(sweep->traces[t].torch, first->torch) != 0;
	return n;
}

static void print_recorded(const struct scene *s)
{
	const struct gp_sweep_report_trace *trace = &s->sweep->traces[0];
	char memory[GP_HEAD_MEMORY], others[64] = "";
	size_t otherwise = count_otherwise(s->sweep);
	uint64_t all_checked = 0, all_matched = 0;

	for (size_t t = 0; t < s->sweep->trace_count; t++) {
		all_checked += s->sweep->traces[t].checked;
		all_matched += s->sweep->traces[t].matched;
	}
	if (otherwise)
		snprintf(others, sizeof(others), " (%zu of %zu otherwise)",
			 otherwise, s->sweep->trace_count);
	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "Recorded: %s; PyTorch %s%s; memory: %s.",
		     gp_head_settings(trace->conf), trace->torch, others,
		     memory_text(s->sweep, memory));
	if (all_checked)
		gp_page_line(&s->page,
			     all_checked == all_matched ? GP_TONE_PLAIN
							: GP_TONE_BAD,
			     2, "%s of %s addresses as recorded.",
			     GP_COUNT(all_matched), GP_COUNT(all_checked));
}

/* Doubts about the recording, of the first trace that has any. */
static void print_doubts(const struct scene *s)
{
	for (size_t t = 0; t < s->sweep->trace_count; t++) {
		const struct gp_trace doubted = {
			.values = s->sweep->traces[t].values,
			.not_told = s->sweep->traces[t].not_told,
		};

		if (!gp_trace_doubts_path(&doubted) && !doubted.not_told)
			continue;
		gp_head_doubts(&s->page, &doubted);
		return;
	}
}

/* "max_split_size_mb and garbage_collection_threshold" */
static void list_searched(unsigned searched, char *text, size_t room)
{
	int left = __builtin_popcount(searched);

	*text = 0;
	for (int i = 0; i < GP_SPACE_AXES; i++) {
		size_t used = strlen(text);

		if (!(searched >> i & 1))
			continue;
		left--;
		snprintf(text + used, room - used, "%s%s", gp_space_names[i],
			 left > 1    ? ", "
			 : left == 1 ? " and "
				     : "");
	}
}

static void print_classes(const struct scene *s)
{
	const struct gp_classes *classes = &s->sweep->classes;
	char runs[GP_PLURAL_TEXT];
	char names[128], what[64] = "every value";

	if (!classes->searched)
		return;
	list_searched(classes->searched, names, sizeof(names));
	gp_plural_text(classes->runs, "run", runs);
	if (classes->values)
		snprintf(what, sizeof(what), "all %s values",
			 GP_COUNT(classes->values));
	if (classes->is_complete)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2, "%s %s for %s of %s.",
			     runs, classes->runs == 1 ? "stands" : "stand",
			     what, names);
	else
		gp_page_line(
			&s->page, GP_TONE_BAD, 2,
			"Not complete: some values of %s are not represented "
			"by any of the %s; --most-runs %" PRIu64 " tries more.",
			names, runs, classes->runs * 4);
}

static void print_idle(const struct scene *s)
{
	const struct gp_sweep_report *sweep = s->sweep;
	char others[64] = "";

	if (!sweep->idle || !sweep->idle_path)
		return;
	if (sweep->idle > 1)
		snprintf(others, sizeof(others), " and %zu more",
			 sweep->idle - 1);
	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "Without requests, and so only judged by what it holds: "
		     "%.200s%s.",
		     gp_page_name(sweep->idle_path), others);
}

/* The number of ranks that are swept. */
static size_t ranks_of(const struct gp_sweep_report *sweep)
{
	return sweep->files - gp_smaller(sweep->files, sweep->idle);
}

static void print_head(const struct scene *s)
{
	const struct gp_sweep_report *sweep = s->sweep;
	size_t asked = gp_sweep_report_asked(sweep),
	       done = gp_sweep_report_done(sweep);
	size_t files = ranks_of(sweep);
	char runs[GP_PLURAL_TEXT], more[GP_PLURAL_TEXT];

	gp_plural_text(sweep->entry_count, "combination", runs);
	if (files > sweep->trace_count)
		snprintf(more, sizeof(more), "%zu ranks of %zu kinds", files,
			 sweep->trace_count);
	else
		gp_plural_text(sweep->trace_count, "trace", more);
	if (sweep->trace_count == 1)
		gp_page_line(&s->page, GP_TONE_TITLE, 2, "%s: %s of settings",
			     gp_page_name(sweep->traces[0].path), runs);
	else
		gp_page_line(&s->page, GP_TONE_TITLE, 2,
			     "%s: %s of settings; the worst trace counts", more,
			     runs);
	if (sweep->trace_count == 1 && files > 1)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "It represents %zu ranks that are alike.", files);
	if (sweep->unread)
		gp_page_line(&s->page, GP_TONE_BAD, 2,
			     "%s could not be read: the sweep leaves them out.",
			     GP_PLURAL(sweep->unread, "trace"));
	print_idle(s);
	print_recorded(s);
	print_doubts(s);
	print_classes(s);
	if (done < asked)
		gp_page_line(&s->page, GP_TONE_BAD, 2,
			     "Not finished: %zu of %zu runs are done.", done,
			     asked);
	gp_page_blank(&s->page);
}

/* ---- the answer ---- */

/* A trace that does not say how much memory its device has is swept without a
 * limit; the advice may infer one from a refused request. */
static bool has_no_limit(const struct gp_sweep_report *sweep)
{
	for (size_t i = 0; i < sweep->trace_count; i++)
		if (sweep->traces[i].capacity == GP_UNLIMITED)
			return true;
	return false;
}

/* Whether some combinations have another release or device than the advice. */
static bool varies_beside(const struct gp_sweep_report *sweep,
			  const struct gp_verdict *v)
{
	bool is_other = v->capacity != GP_UNLIMITED && has_no_limit(sweep);
	char release[16];

	snprintf(release, sizeof(release), "2.%u", v->release);
	for (size_t i = 0; i < sweep->entry_count; i++) {
		const struct gp_sweep_report_entry *entry = &sweep->entries[i];

		if (gp_engine_is_pytorch(entry->engine) &&
		    (strcmp(entry->torch, release) != 0 ||
		     (entry->capacity ? entry->capacity != v->capacity
				      : is_other)))
			return true;
	}
	return false;
}

static void print_of_which(const struct scene *s, const struct gp_verdict *v)
{
	char capacity[GP_BYTES_TEXT];

	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "Advice for PyTorch 2.%u with memory: %s", v->release,
		     gp_head_capacity(v->capacity, capacity));
}

/* The judge's verdict, which does not depend on the sweep's grid; with several
 * traces, that of the worst, which is named. */
static void print_verdict(const struct scene *s)
{
	const struct gp_sweep_report *sweep = s->sweep;
	size_t worst = gp_verdict_worst(sweep->verdicts, sweep->verdict_count);
	const struct gp_verdict *v = &sweep->verdicts[worst];
	bool is_of_several = sweep->trace_count > 1 || sweep->idle;
	const char *path;

	if (!sweep->verdict_count)
		return;
	path = sweep->verdict_paths[worst];
	if (varies_beside(sweep, v))
		print_of_which(s, v);
	gp_page_line(&s->page, verdict_is_bad(v) ? GP_TONE_BAD : GP_TONE_TITLE,
		     2, "%.200s%s%s", is_of_several ? gp_page_name(path) : "",
		     is_of_several ? ", the worst: " : "",
		     verdict_sentence(v).text);
	verdict_print_line(&s->page, "    ", v);
	if (*verdict_limits(v).text)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2, "%s",
			     verdict_limits(v).text);
}

/* Whether the combination can be advised: another engine cannot. */
static bool is_setting(const struct scene *s, size_t combination)
{
	return gp_engine_is_pytorch(s->sweep->entries[combination].engine);
}

static bool has_others(const struct scene *s)
{
	for (size_t i = 0; i < s->ranking.count; i++)
		if (!is_setting(s, s->ranking.contenders[i].index))
			return true;
	return false;
}

/* The first combination need not be the one that reserves least: time may
 * decide. */
static bool has_clearly_less(const struct scene *s)
{
	const struct ranking *r = &s->ranking;

	for (size_t i = 0; i < r->count; i++) {
		const struct gp_sweep_row *row = r->contenders[i].row;

		if (!row->dropped && is_setting(s, r->contenders[i].index) &&
		    gp_study_is_less(gp_row_peak(row), r->recorded.reserved))
			return true;
	}
	return false;
}

static void print_first(const struct scene *s, const struct gp_sweep_row *first,
			const char *label)
{
	const struct gp_sweep_row *was = &s->ranking.recorded;
	char change[GP_BYTES_CHANGE];

	if (first->dropped)
		gp_page_line(&s->page, GP_TONE_BAD, 2,
			     "None of these combinations serves everything; "
			     "first: %s, with %s not served.",
			     label, GP_PLURAL(first->dropped, "request"));
	else if (*was->failure)
		gp_page_line(&s->page, GP_TONE_GOOD, 2,
			     "First of these combinations: %s, which reserves "
			     "%s at the peak.",
			     label, GP_BYTES(gp_row_peak(first)));
	else if (was->dropped || has_clearly_less(s))
		gp_page_line(&s->page, GP_TONE_GOOD, 2,
			     "First of these combinations: %s, which reserves "
			     "%s at the peak (compared with recorded: %s).",
			     label, GP_BYTES(gp_row_peak(first)),
			     gp_bytes_change(was->reserved, gp_row_peak(first),
					     change));
	else
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "None of these combinations%s reserves clearly "
			     "less than as recorded.",
			     has_others(s) ? " of PyTorch's settings" : "");
}

/* The best setting of the ranking. */
static void print_least(const struct scene *s)
{
	const struct ranking *r = &s->ranking;
	size_t i = 0;
	char *label;

	if (sweep_is_of_part(s->sweep)) {
		gp_page_line(
			&s->page, GP_TONE_BAD, 2,
			"The table is of the requests in the trace, a "
			"part of what was reserved: its order says nothing "
			"of the whole program.");
		return;
	}
	while (i < r->count && !is_setting(s, r->contenders[i].index))
		i++;
	if (i == r->count)
		return;
	label = sweep_label(s->sweep, r->contenders[i].index);
	print_first(s, r->contenders[i].row, label);
	free(label);
}

static void print_spread(const struct scene *s)
{
	const struct gp_sweep_report *sweep = s->sweep;
	const struct gp_sweep_row *row = s->ranking.contenders[0].row;
	bool are_alike = ranks_of(sweep) > sweep->trace_count;

	if (row->devices > 1)
		gp_page_line(
			&s->page, GP_TONE_PLAIN, 2,
			"From %s to %s at the peak, over %" PRIu64
			" devices%s%s%s.",
			GP_BYTES(row->least_reserved), GP_BYTES(row->reserved),
			row->devices, are_alike ? " that differ" : "",
			sweep->trace_count > 1 ? "; the most: " : "",
			sweep->trace_count > 1
				? gp_page_name(sweep->traces[row->worst].path)
				: "");
}

static bool has_estimates(const struct scene *s)
{
	for (size_t i = 0; i < s->ranking.count; i++)
		if (s->ranking.contenders[i].row->estimated)
			return true;
	return false;
}

/* A note for windows: the memory at their start was cached under the recorded
 * settings. */
static void print_window(const struct scene *s)
{
	for (size_t i = 0; i < s->sweep->swept_count; i++) {
		if (s->sweep->verdicts[i].begins != GP_BEGINS_WINDOW ||
		    s->sweep->verdicts[i].recorded)
			continue;
		gp_page_line(
			&s->page, GP_TONE_PLAIN, 2, "%s",
			has_estimates(s)
				? "Under other settings something else "
				  "would have been cached when the window "
				  "begins: such a peak is an estimate for the "
				  "whole program, followed by its bounds."
				: "Peaks under other settings are replays from "
				  "the recorded start, not exact: gpupool "
				  "replay --alloc-conf estimates one with its "
				  "bounds.");
		return;
	}
}

static void print_answer(const struct scene *s)
{
	print_verdict(s);
	if (!s->ranking.count)
		return;
	print_least(s);
	print_window(s);
	print_spread(s);
	gp_page_blank(&s->page);
}

/* ---- the table ---- */

/* The first combination serves the most, the last one the least. */
static bool serve_alike(const struct ranking *r)
{
	return !r->count || r->contenders[0].row->dropped ==
				    r->contenders[r->count - 1].row->dropped;
}

static void print_table(const struct scene *s)
{
	struct gp_table table =
		sweep_table(s->sweep, GP_TABLE_TEXT, s->page.out);
	const struct ranking *r = &s->ranking;
	size_t front = 0;

	gp_table_begin(&table, NULL);
	for (size_t i = 0; i < r->count; i++) {
		bool is_front = gp_rank_is_front(r->contenders, r->count, i);

		front += is_front;
		if (i < ROWS || is_front)
			sweep_table_contender(&table, r, i);
	}
	sweep_table_recorded(&table, r);
	if (r->count > ROWS)
		gp_page_line(
			&s->page, GP_TONE_PLAIN, 2,
			"%zu combinations in all: --format csv lists them.",
			r->count);
	gp_page_blank(&s->page);
	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "* nothing here%s takes less memory without more time, or "
		     "less time without more memory (%zu of %zu, of equal ones "
		     "the first).  = after a place: the same numbers as the "
		     "line above.",
		     serve_alike(r) ? "" : " that serves as many requests",
		     front, r->count);
	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "allocs: allocations from the device. est.: time in all "
		     "its calls, by the prices %s%s; waiting for the device is "
		     "not included.",
		     strcmp(s->sweep->prices, "built in") ? "in " : "",
		     strcmp(s->sweep->prices, "built in") ? s->sweep->prices
							  : "built in");
	if (r->recorded.devices > 1)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "Of %" PRIu64 " devices%s: OOMs are sums, peak "
			     "and gap are of the one that reserves most, the "
			     "rest is the most of any.",
			     r->recorded.devices,
			     ranks_of(s->sweep) > s->sweep->trace_count
				     ? " that differ"
				     : "");
}

/* ---- combinations without a rank ---- */

static void print_title(const struct scene *s, enum sweep_other_kind kind)
{
	gp_page_blank(&s->page);
	if (kind == SWEEP_CUT)
		gp_page_line(&s->page, GP_TONE_TITLE, 2,
			     "Cut short, since they cannot be best: the first "
			     "combination that is possible serves more "
			     "requests, or reserves less. What they might save "
			     "in time is not known.");
	else
		gp_page_line(&s->page,
			     kind == SWEEP_NO_ANSWER ? GP_TONE_BAD
						     : GP_TONE_PLAIN,
			     2, "%s:", sweep_other_titles[kind]);
}

static void print_other(const struct scene *s, const struct sweep_other *other)
{
	const struct gp_sweep_report_entry *entry =
		&s->sweep->entries[other->index];
	bool is_refused = other->kind == SWEEP_IMPOSSIBLE;
	char *label = sweep_label(s->sweep, other->index);

	gp_page_line(&s->page, GP_TONE_PLAIN, 4, "  %s: %s%s%s%s", label,
		     is_refused ? "PyTorch " : "",
		     is_refused ? entry->torch : "", is_refused ? ": " : "",
		     other->why);
	free(label);
}

/* If many combinations have no rank, all for the same reason: their number and
 * the reason; else 0. */
static size_t of_one_reason(const struct ranking *r, enum sweep_other_kind kind,
			    const char **why)
{
	size_t count = 0;

	for (size_t i = 0; i < r->other_count; i++) {
		if (r->others[i].kind != kind)
			continue;
		if (count++ && strcmp(r->others[i].why, *why) != 0)
			return 0;
		*why = r->others[i].why;
	}
	return count > LISTED_ALIKE ? count : 0;
}

static void print_others(const struct scene *s, enum sweep_other_kind kind)
{
	const struct ranking *r = &s->ranking;
	const char *why;
	size_t count = 0, alike = of_one_reason(r, kind, &why);

	if (kind == SWEEP_NO_ANSWER && alike) {
		print_title(s, kind);
		gp_page_line(&s->page, GP_TONE_PLAIN, 4,
			     "  %zu combinations: %s", alike, why);
		return;
	}
	for (size_t i = 0; i < r->other_count; i++) {
		if (r->others[i].kind != kind)
			continue;
		if (!count++)
			print_title(s, kind);
		if (count <= ROWS)
			print_other(s, &r->others[i]);
	}
	if (count > ROWS)
		gp_page_line(&s->page, GP_TONE_PLAIN, 4,
			     "  and %zu more: --format csv lists them.",
			     count - ROWS);
}

static struct scene scene_of(const struct gp_sweep_report *sweep,
			     const struct gp_sweep_report_style *style,
			     FILE *out)
{
	return (struct scene){
		.page = gp_page_make(&style->style, out),
		.sweep = sweep,
		.ranking = ranking_make(sweep, style->by),
		.by = style->by,
	};
}

void gp_sweep_report_answer(const struct gp_sweep_report *sweep,
			    const struct gp_sweep_report_style *style,
			    FILE *out)
{
	struct scene s = scene_of(sweep, style, out);

	print_head(&s);
	print_answer(&s);
	ranking_release(&s.ranking);
}

void gp_sweep_report_text(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_report_style *style, FILE *out)
{
	struct scene s = scene_of(sweep, style, out);

	print_head(&s);
	print_answer(&s);
	if (s.ranking.count)
		print_table(&s);
	for (int kind = 0; kind < SWEEP_OTHERS; kind++)
		print_others(&s, (enum sweep_other_kind)kind);
	ranking_release(&s.ranking);
}
