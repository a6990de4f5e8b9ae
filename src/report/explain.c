/* SPDX-License-Identifier: MIT */
/* gpupool explain, for a person: the first screen. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/explain_text.h"
#include "report/head.h"
#include "report/holders.h"
#include "report/ranks.h"
#include "report/verdict.h"

#define NAME		51 /* columns of the table */
#define SETTINGS_SHOWN	3
#define WHAT_IFS_SHOWN	2
#define CULPRITS_SHOWN	2
#define HOLDERS_SHOWN	5
#define HOLDERS_DETAIL	20
#define CULPRITS_DETAIL 20

/* Under a headline; what has nothing to say is no line. */
static void say(const struct explain_page *p, const char *before,
		struct explain_words words)
{
	if (*words.text)
		gp_page_line(&p->page, GP_TONE_PLAIN, 4, "  %s%s", before,
			     words.text);
}

static void print_command(const struct explain_page *p, const char *before,
			  struct explain_words words)
{
	if (*words.text)
		gp_page_command(&p->page, before, words.text);
}

/* ---- the verdict ---- */

static void print_verdict(const struct explain_page *p)
{
	const struct gp_verdict *v = p->verdict;
	struct verdict_text limits = verdict_limits(v);

	gp_page_line(&p->page, verdict_is_bad(v) ? GP_TONE_BAD : GP_TONE_TITLE,
		     2, "%s", verdict_sentence(v).text);
	verdict_print_line(&p->page, "  use:  ", v);
	print_command(p, "  more: ", explain_command(p->explanation, v));
	if (*limits.text)
		gp_page_line(&p->page, GP_TONE_PLAIN, 2, "%s", limits.text);
	say(p, "", explain_moment(p->explain));
	say(p, "", explain_request(p->explain));
	if (v->kind != GP_VERDICT_TOO_SMALL)
		say(p, "", explain_release(p->explain));
	say(p, "", explain_others(p->explain));
	ranks_answer(&p->page, p->explanation->ranks, p->explanation->study,
		     p->explanation->first_case + p->explain->device);
}

/* ---- what was tried ---- */

static void print_tried(const struct explain_page *p, const char *name,
			uint64_t peak, const char *fate)
{
	char text[GP_BYTES_TEXT];

	/* A long name has a line of its own. */
	if (strlen(name) > NAME)
		fprintf(p->page.out, "  %s\n", name);
	fprintf(p->page.out, *fate ? "  %-*s%11s  %s\n" : "  %-*s%11s\n", NAME,
		strlen(name) > NAME ? "" : name, gp_bytes_text(peak, text),
		fate);
}

static void print_attempt(const struct explain_page *p,
			  const struct gp_attempt *attempt)
{
	char text[EXPLAIN_FATE], name[EXPLAIN_NAME];

	print_tried(p, explain_name(attempt, name), attempt->peak_reserved,
		    explain_fate(&p->explain->base, attempt, text));
}

/* What came of a setting on the device that is told of. */
static const struct gp_trial_case *case_of(const struct explain_page *p,
					   const struct gp_trial *trial)
{
	return &trial->cases[p->explanation->first_case + p->explain->device];
}

static void print_setting(const struct explain_page *p,
			  const struct gp_trial *trial)
{
	const struct gp_trial *first = p->explanation->study->trials;
	const struct gp_trial_case *base = case_of(p, first);
	const struct gp_trial_case *one = case_of(p, trial);
	char text[GP_PLURAL_TEXT], fate[GP_PLURAL_TEXT + 2] = "";

	if (*trial->refusal)
		return;
	if (!one->is_served)
		gp_plural_text(one->ooms, "OOM", fate);
	else if (!base->is_served)
		snprintf(fate, sizeof(fate), "no OOM");
	else if (one->reserved != base->reserved)
		snprintf(fate, sizeof(fate), "%c%s",
			 one->reserved > base->reserved ? '+' : '-',
			 gp_bytes_text(one->reserved > base->reserved
					       ? one->reserved - base->reserved
					       : base->reserved - one->reserved,
				       text));
	print_tried(p,
		    trial == first ? "as it is" : gp_head_settings(trial->conf),
		    one->reserved, fate);
}

/* What is possible at all, whatever the settings. */
static void print_floor(const struct explain_page *p)
{
	char bytes[GP_BYTES_TEXT];

	if (!p->explain->floor.packing)
		return;
	fprintf(p->page.out, "  %-51s%11s\n",
		"the least that any allocator needs (gpupool floor)",
		gp_bytes_text(p->explain->floor.bound, bytes));
	if (p->explain->floor.packing != p->explain->floor.bound)
		fprintf(p->page.out, "  %-51s%11s\n",
			"  and a packing that was found",
			gp_bytes_text(p->explain->floor.packing, bytes));
}

/* Serves what is not served as it is, or reserves less. */
static bool setting_helps(const struct explain_page *p,
			  const struct gp_trial *trial)
{
	const struct gp_trial_case *one = case_of(p, trial);
	const struct gp_trial_case *base =
		case_of(p, p->explanation->study->trials);

	return one->is_served &&
	       (!base->is_served || one->reserved < base->reserved);
}

/* The advised setting, and the first of those that help besides. */
static void print_settings(const struct explain_page *p)
{
	const struct gp_study *study = p->explanation->study;
	bool is_all = p->explanation->has_details;
	size_t shown = 0, useless = 0;

	if (p->verdict->conf && !is_all) {
		print_setting(p, &study->trials[p->verdict->trial]);
		shown++;
	}
	for (size_t i = 1; i < study->count; i++) {
		const struct gp_trial *trial = &study->trials[i];
		bool helps = setting_helps(p, trial);

		useless += !helps && !*trial->refusal;
		if (is_all ||
		    (helps && (!p->verdict->conf || i != p->verdict->trial) &&
		     shown++ < SETTINGS_SHOWN))
			print_setting(p, trial);
	}
	if (useless && !is_all)
		gp_page_line(&p->page, GP_TONE_PLAIN, 4,
			     "  %zu other setting%s no less", useless,
			     useless == 1 ? " needs" : "s need");
}

static void print_attempts(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	bool is_all = p->explanation->has_details;
	size_t shown = 0;

	for (size_t i = 0; i < e->attempt_count; i++) {
		const struct gp_attempt *a = &e->attempts[i];

		if (is_all ||
		    (explain_helps(&e->base, a) && shown++ < WHAT_IFS_SHOWN))
			print_attempt(p, a);
	}
}

static void print_trials(const struct explain_page *p)
{
	char capacity[GP_BYTES_TEXT];

	if (p->verdict->kind == GP_VERDICT_UNDECIDED)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "What was tried, with memory: %s; peak reserved",
		     gp_head_capacity(p->verdict->capacity, capacity));
	print_setting(p, p->explanation->study->trials);
	print_settings(p);
	print_attempts(p);
	print_floor(p);
	if (p->explanation->has_details || !p->verdict->conf)
		print_command(p, "  or:   ",
			      explain_what_if(p->explanation, p->explain));
}

/* ---- the gap ---- */

static void print_reason(const struct explain_page *p, enum gp_gap_reason i)
{
	const struct gp_gap *gap = &p->explain->gap;
	struct explain_words words = explain_reason(gap, i);
	char bytes[GP_BYTES_TEXT], label[EXPLAIN_REASON];

	if (gap->by_reason[i].bytes)
		gp_page_line(&p->page, GP_TONE_PLAIN, 13, "%11s  %s: %s",
			     gp_bytes_text(gap->by_reason[i].bytes, bytes),
			     explain_reason_label(p->explain, i, label),
			     words.text);
}

static void print_gap(const struct explain_page *p)
{
	const struct gp_gap *gap = &p->explain->gap;
	char bytes[GP_BYTES_TEXT];

	if (!gap->bytes)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "Where the %s are that are reserved and not allocated",
		     gp_bytes_text(gap->bytes, bytes));
	for (int i = 0; i < GP_GAP_REASONS; i++)
		print_reason(p, (enum gp_gap_reason)i);
	say(p, "", explain_within(gap));
}

/* ---- what holds it, and what is in use ---- */

static void print_culprits(
	const struct explain_page *p, const char *title,
	const struct gp_culprits *culprits,
	struct explain_words (*words)(const struct gp_trace *,
				      const struct gp_culprit *))
{
	bool is_all = p->explanation->has_details;
	size_t shown = is_all ? CULPRITS_DETAIL : CULPRITS_SHOWN;

	if (!is_all)
		shown = explain_worth_telling(culprits, shown);
	if (culprits->count)
		gp_page_line(&p->page, GP_TONE_TITLE, 2, "%s", title);
	for (size_t i = 0; i < culprits->count && i < shown; i++)
		say(p, "", words(p->explain->trace, &culprits->list[i]));
}

/* Do those who pin most at the moment do so over the whole trace? */
static bool is_as_ever(const struct gp_explain *e)
{
	const struct gp_culprit *now = e->now.list;
	const struct gp_culprit *ever = e->over_time.list;

	return e->now.count && e->over_time.count && now->site == ever->site &&
	       (now->site != GP_NO_SITE || now->least == ever->least);
}

static void print_blocks(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	bool is_too_small = p->verdict->kind == GP_VERDICT_TOO_SMALL;

	if (e->live.count)
		gp_page_blank(&p->page);
	gp_report_holders(&p->page, e,
			  p->explanation->has_details ? HOLDERS_DETAIL
						      : HOLDERS_SHOWN);
	/* Too little memory: what takes it matters, not what lies between. */
	if (is_too_small && !p->explanation->has_details)
		return;
	if (e->live.count && e->now.count)
		gp_page_blank(&p->page);
	print_culprits(p, "What pins free memory, at that moment", &e->now,
		       explain_culprit_now);
	if (p->explanation->has_details || !is_as_ever(e))
		print_culprits(p, "What pins most over the whole trace",
			       &e->over_time, explain_culprit_over_time);
}

/* ---- the whole run ---- */

static void print_field(const struct explain_page *p, const char *label,
			struct explain_words words)
{
	if (*words.text)
		gp_page_field(&p->page, label, "%s", words.text);
}

static void print_run(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;

	if (!e->has_requests)
		return;
	gp_page_blank(&p->page);
	print_field(p, "Streams", explain_waiting(e));
	print_field(p, "Calls", explain_calls(e));
	print_field(p, "", explain_caches(e));
	if (e->steps.count || p->explanation->has_details)
		print_field(p, "Drift", explain_drift(e));
	print_field(p, "", explain_growth(e));
}

/* ---- the page ---- */

static void print_device(const struct explain_page *p)
{
	print_verdict(p);
	ranks_table(&p->page, p->explanation->ranks, p->explanation->study);
	print_trials(p);
	print_gap(p);
	print_blocks(p);
	print_run(p);
	if (p->explanation->has_details)
		explain_details(p);
	else
		gp_page_line(&p->page, GP_TONE_PLAIN, 4,
			     "More: --details, or --format html -o page.html");
}

void gp_report_explain_text(const struct gp_explanation *explanation,
			    const struct gp_report_style *style, FILE *out)
{
	struct explain_page p = { .page = gp_page_make(style, out),
				  .explanation = explanation };
	const struct gp_verdict *verdicts =
		explanation->study->verdicts + explanation->first_case;
	size_t worst = gp_verdict_worst(verdicts, explanation->count);
	char title[RANKS_TITLE];

	ranks_title(explanation->ranks, explanation->path, title);
	if (!explanation->count) {
		gp_page_line(&p.page, GP_TONE_TITLE, 0, "%s", title);
		gp_head_nothing(&p.page);
	}
	for (size_t i = 0; i < explanation->count; i++) {
		p.explain = &explanation->devices[i];
		p.verdict = &verdicts[i];
		if (i != worst && !explanation->has_details)
			continue;
		gp_page_line(&p.page, GP_TONE_TITLE, 0,
			     "%s: %s; PyTorch 2.%u; device %u", title,
			     gp_head_settings(explanation->conf),
			     explanation->settings->release,
			     p.explain->trace->devices[i].device);
		gp_head_what_ifs(&p.page, explanation->what_ifs);
		ranks_head(&p.page, explanation->ranks, RANKS_ONE_SETTING);
		print_device(&p);
	}
	if (explanation->count > 1 && !explanation->has_details)
		gp_page_line(&p.page, GP_TONE_PLAIN, 2,
			     "%zu other device%s: --details tells of all.",
			     explanation->count - 1,
			     explanation->count > 2 ? "s" : "");
}
