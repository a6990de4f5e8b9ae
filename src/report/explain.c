/* SPDX-License-Identifier: MIT */
/* gpupool explain, for a person: the first screen. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/explain_text.h"
#include "report/head.h"
#include "report/holders.h"

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

/* ---- the verdict ---- */

static void print_verdict(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;

	gp_page_line(&p->page,
		     e->result.first_oom.is_there ? GP_TONE_BAD : GP_TONE_TITLE,
		     2, "%s", explain_verdict(e).text);
	say(p, "", explain_request(e));
	say(p, "", explain_release(e));
	say(p, "", explain_others(e));
}

/* ---- what was tried ---- */

static void print_trial(const struct explain_page *p,
			const struct gp_attempt *trial)
{
	char peak[GP_BYTES_TEXT], text[EXPLAIN_FATE], name[EXPLAIN_NAME];
	const char *fate = explain_fate(&p->explain->base, trial, text);

	fprintf(p->page.out, *fate ? "  %-51s%11s  %s\n" : "  %-51s%11s\n",
		explain_name(trial, name),
		gp_bytes_text(trial->peak_reserved, peak), fate);
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

static void print_useless(const struct explain_page *p, size_t useless)
{
	bool is_one = useless == 1, fits = p->explain->base.no_oom;

	if (useless)
		gp_page_line(&p->page, GP_TONE_PLAIN, 4, "  %zu other%s %s%s",
			     useless, is_one ? "" : "s", fits ? "need" : "fail",
			     !fits    ? is_one ? "s as well" : " as well"
			     : is_one ? "s as much or more"
				      : " as much or more");
}

/* The best settings, and the what-ifs that help most. */
static void print_trials(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	bool is_all = p->explanation->has_details;
	char capacity[GP_BYTES_TEXT];
	size_t settings = 0, what_ifs = 0, useless = 0;

	if (!e->trial_count)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "What was tried, with memory: %s; peak reserved",
		     gp_head_capacity(e->capacity, capacity));
	print_trial(p, &e->base);
	for (size_t i = 0; i < e->trial_count; i++) {
		const struct gp_attempt *t = &e->trials[i];
		bool helps = explain_helps(&e->base, t);

		useless += !helps;
		if (is_all ||
		    (helps && (t->is_setting ? settings++ < SETTINGS_SHOWN
					     : what_ifs++ < WHAT_IFS_SHOWN)))
			print_trial(p, t);
	}
	if (!is_all)
		print_useless(p, useless);
	print_floor(p);
	say(p, "use:  ", explain_use(e));
	say(p, "more: ", explain_command(p->explanation, e));
	if (is_all || !gp_explain_cure(e))
		say(p, "or:   ", explain_what_if(p->explanation, e));
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

/* Do those who strand most at the moment do so over the whole trace? */
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

	if (e->live.count)
		gp_page_blank(&p->page);
	gp_report_holders(&p->page, e,
			  p->explanation->has_details ? HOLDERS_DETAIL
						      : HOLDERS_SHOWN);
	/* Too little memory: what takes it matters, not what lies between. */
	if (e->verdict == GP_TOO_SMALL && !p->explanation->has_details)
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

	if (e->verdict == GP_NO_REQUESTS)
		return;
	gp_page_blank(&p->page);
	print_field(p, "Streams", explain_waiting(e));
	print_field(p, "Calls", explain_churn(e));
	print_field(p, "", explain_caches(e));
	if (e->steps.count || p->explanation->has_details)
		print_field(p, "Drift", explain_drift(e));
	print_field(p, "", explain_growth(e));
}

/* ---- the page ---- */

static void print_device(const struct explain_page *p)
{
	print_verdict(p);
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

/* The one that ran out of memory, else with the largest gap. */
static size_t worst_of(const struct gp_explanation *explanation)
{
	size_t worst = 0;

	for (size_t i = 1; i < explanation->count; i++) {
		const struct gp_explain *e = &explanation->devices[i];
		const struct gp_explain *w = &explanation->devices[worst];
		bool fails = e->result.first_oom.is_there;

		if (fails != w->result.first_oom.is_there
			    ? fails
			    : e->gap.bytes > w->gap.bytes)
			worst = i;
	}
	return worst;
}

void gp_report_explain_text(const struct gp_explanation *explanation,
			    const struct gp_report_style *style, FILE *out)
{
	struct explain_page p = { .page = gp_page_make(style, out),
				  .explanation = explanation };
	size_t worst = worst_of(explanation);

	if (!explanation->count) {
		gp_page_line(&p.page, GP_TONE_TITLE, 0, "%s",
			     gp_page_name(explanation->path));
		gp_head_nothing(&p.page);
	}
	for (size_t i = 0; i < explanation->count; i++) {
		p.explain = &explanation->devices[i];
		if (i != worst && !explanation->has_details)
			continue;
		gp_page_line(&p.page, GP_TONE_TITLE, 0,
			     "%s: %s; PyTorch 2.%u; device %u",
			     gp_page_name(explanation->path),
			     gp_head_settings(explanation->conf),
			     explanation->settings->release,
			     p.explain->trace->devices[i].device);
		gp_head_what_ifs(&p.page, explanation->what_ifs);
		print_device(&p);
	}
	if (explanation->count > 1 && !explanation->has_details)
		gp_page_line(&p.page, GP_TONE_PLAIN, 2,
			     "%zu other device%s: --details tells of all.",
			     explanation->count - 1,
			     explanation->count > 2 ? "s" : "");
}
