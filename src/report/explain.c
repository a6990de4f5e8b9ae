/* SPDX-License-Identifier: MIT */
/* gpupool explain, for a person and for a program. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "gpupool/device.h"
#include "report/emit.h"
#include "report/explain_words.h"
#include "report/group.h"
#include "report/head.h"
#include "report/holders.h"
#include "report/object.h"
#include "report/ranks.h"
#include "report/schema.h"
#include "report/verdict.h"

struct explain_page {
	struct gp_page page;
	const struct gp_explanation *explanation;
	const struct gp_explain *explain;
	const struct gp_verdict *verdict; /* of its device */
};

/* ---- --details: what the first screen summarises ---- */

#define UNITS_SHOWN    20
#define PINS_SHOWN     4
#define RELEASES_SHOWN 10
#define FAILURES_SHOWN 20
#define FRAMES_SHOWN   64
#define FRAME_INDENT   4 /* columns */

/* Says how many items of a list are not shown. */
static void print_more(const struct explain_page *p, size_t count, size_t shown)
{
	if (count > shown)
		gp_page_line(&p->page, GP_TONE_PLAIN, 4, "  and %zu more",
			     count - shown);
}

static void print_part(const struct explain_page *p, const char *label,
		       const struct gp_gap_part *part)
{
	if (part->bytes)
		fprintf(p->page.out, "  %-32s%12s%12s%10s\n", label,
			GP_BYTES(part->bytes), GP_BYTES(part->largest),
			GP_COUNT(part->blocks));
}

static void print_parts(const struct explain_page *p)
{
	const struct gp_gap *gap = &p->explain->gap;
	const struct gp_trace *trace = p->explain->trace;
	char label[GP_GROUP_LABEL];

	gp_page_blank(&p->page);
	fprintf(p->page.out, "%-34s%12s%12s%10s\n",
		"Reserved and not allocated, by", "bytes", "largest", "pieces");
	print_part(p, "small pool (up to 1 MiB)", &gap->small);
	print_part(p, "large pool", &gap->large);
	for (size_t i = 0; i < trace->stream_count; i++)
		print_part(
			p,
			gp_group_label(trace, GP_BY_STREAM, (uint32_t)i, label),
			&gap->by_stream[i]);
	for (size_t i = 0; i < trace->pool_count; i++)
		print_part(
			p,
			gp_group_label(trace, GP_BY_POOL, (uint32_t)i, label),
			&gap->by_pool[i]);
	for (unsigned i = 0; i < GP_SIZE_CLASSES; i++) {
		snprintf(label, sizeof(label), "pieces of %s and up",
			 GP_BYTES(UINT64_C(1) << i));
		print_part(p, label, &gap->by_class[i]);
	}
}

static void print_holder(const struct explain_page *p,
			 const struct gp_holder *h)
{
	const struct gp_device_trace *device =
		&p->explain->trace->devices[p->explain->device];
	uint64_t name = device->names ? device->names[h->id] : h->id;

	fprintf(p->page.out,
		"    block %" PRIu64 " at 0x%" PRIx64 ", %s, pins %s\n", name,
		h->addr, GP_BYTES(h->size), GP_BYTES(h->share));
}

static void print_units(const struct explain_page *p)
{
	const struct gp_pins *pins = &p->explain->pins;

	if (!pins->unit_count)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "Segments (or pages) that live blocks pin: %zu",
		     pins->unit_count);
	for (size_t i = 0; i < pins->unit_count && i < UNITS_SHOWN; i++) {
		const struct gp_unit *u = &pins->units[i];

		fprintf(p->page.out,
			"  0x%" PRIx64 ", %s: %s free, pinned by %s\n", u->addr,
			GP_BYTES(u->size), GP_BYTES(u->free),
			GP_PLURAL(u->holders, "block"));
		for (uint32_t k = 0; k < u->holders && k < PINS_SHOWN; k++)
			print_holder(p, &pins->holders[u->first_holder + k]);
		if (u->holders > PINS_SHOWN)
			fprintf(p->page.out, "    and %s\n",
				GP_PLURAL(u->holders - PINS_SHOWN,
					  "other block"));
	}
	print_more(p, pins->unit_count, UNITS_SHOWN);
}

static void print_releases(const struct explain_page *p, const char *title,
			   const struct gp_releases *releases)
{
	char at[GP_EVENT_TEXT];

	if (!releases->count)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2, "%s: %zu", title,
		     releases->count);
	for (size_t i = 0; i < releases->count && i < RELEASES_SHOWN; i++) {
		const struct gp_release *r = &releases->list[i];

		gp_page_line(
			&p->page, GP_TONE_PLAIN, 4,
			"  %s: %s in %s; %s requested again",
			gp_event_words_in(p->explain->trace, p->explain->device,
					  &p->explain->steps, r->event, at),
			GP_BYTES(r->bytes), GP_PLURAL(r->segments, "segment"),
			GP_BYTES(r->paid_again));
	}
	print_more(p, releases->count, RELEASES_SHOWN);
}

static void print_steps(const struct explain_page *p)
{
	const struct gp_steps *steps = &p->explain->steps;
	size_t stride = steps->count / 20 + 1;

	if (!steps->count)
		return;
	gp_page_blank(&p->page);
	fprintf(p->page.out, "%-8s%12s%12s%12s%12s%12s\n", "Step", "from event",
		"reserved", "allocated", "largest gap", "live at end");
	for (size_t i = 0; i < steps->count; i += stride) {
		const struct gp_step *s = &steps->list[i];

		fprintf(p->page.out, "%-8" PRIu64 "%12s%12s%12s%12s%12s\n",
			gp_step_number(p->explain->trace, p->explain->device,
				       steps, i),
			GP_COUNT(s->first), GP_BYTES(s->reserved),
			GP_BYTES(s->allocated), GP_BYTES(s->gap),
			GP_BYTES(s->live_at_end));
	}
	if (stride > 1)
		gp_page_line(&p->page, GP_TONE_PLAIN, 2,
			     "1 of %zu of the %zu steps; --format json has "
			     "them all.",
			     stride, steps->count);
}

static void print_failure(const struct explain_page *p, size_t i)
{
	const struct gp_explain *e = p->explain;
	const struct gp_oom *oom = &e->result.ooms.list[i];
	const struct gp_failure *f = &e->failures[i];
	char at[GP_EVENT_TEXT], site[EXPLAIN_SITE];

	gp_page_line(
		&p->page, GP_TONE_PLAIN, 4,
		"  %s, %s%s: needs %s with what is live, of %s%s",
		gp_event_moment(e->trace, e->device, &e->steps, oom->event, at),
		GP_BYTES(oom->size), explain_site(e->trace, oom->site, site),
		GP_BYTES(f->needed), GP_BYTES(f->available),
		f->is_too_small ? ": too much for any setting" : "");
}

static void print_failures(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;

	if (e->failure_count < 2)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2, "Requests that failed: %zu",
		     e->result.ooms.count);
	for (size_t i = 0; i < e->failure_count && i < FAILURES_SHOWN; i++)
		print_failure(p, i);
	print_more(p, e->result.ooms.count, FAILURES_SHOWN);
}

/* Names of templates can be very long: they are cut at the edge, between
 * characters. */
static void print_frame(const struct explain_page *p, const char *text)
{
	size_t length = strlen(text), most = p->page.columns - FRAME_INDENT;
	char line[1024];

	if (most >= sizeof(line))
		most = sizeof(line) - 1;
	if (length > most)
		length = most;
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(line, text, length);
	line[length] = '\0';
	gp_page_command(&p->page, "    ", line);
}

/* Prints the whole stack if it has more than the site's own frame. */
static void print_stack(const struct explain_page *p, uint32_t site)
{
	const struct gp_trace *trace = p->explain->trace;
	char text[GP_SITE_TEXT];

	gp_page_line(&p->page, GP_TONE_PLAIN, 4, "  %s",
		     gp_site_text(trace, site, text));
	for (int i = 0; i < FRAMES_SHOWN && site != GP_NO_SITE; i++) {
		print_frame(p, trace->texts[trace->sites[site].text]);
		site = trace->sites[site].caller;
	}
}

static void print_stacks(const struct explain_page *p)
{
	const struct gp_culprits *live = &p->explain->live;
	const struct gp_trace *trace = p->explain->trace;
	bool is_shown = false;

	for (size_t i = 0; i < live->count && i < UNITS_SHOWN; i++) {
		uint32_t site = live->list[i].site;

		if (site == GP_NO_SITE ||
		    trace->sites[site].caller == GP_NO_SITE)
			continue;
		if (!is_shown) {
			gp_page_blank(&p->page);
			gp_page_line(&p->page, GP_TONE_TITLE, 2,
				     "Stacks of the holders of memory, "
				     "innermost frame first");
		}
		is_shown = true;
		print_stack(p, site);
	}
}

static void print_details(const struct explain_page *p)
{
	print_stacks(p);
	print_failures(p);
	print_parts(p);
	print_units(p);
	print_releases(p, "Requests that made the allocator release memory",
		       &p->explain->retries);
	print_releases(p, "empty_cache", &p->explain->empty_caches);
	print_steps(p);
}

/* ---- the first screen ---- */

#define NAME		51 /* columns of the table */
#define SETTINGS_SHOWN	3
#define WHAT_IFS_SHOWN	2
#define CULPRITS_SHOWN	2
#define HOLDERS_SHOWN	5
#define HOLDERS_DETAIL	20
#define CULPRITS_DETAIL 20

/* Prints a line below a headline; nothing for empty words. */
static void say(const struct explain_page *p, const char *before,
		struct gp_words words)
{
	if (*words.text)
		gp_page_line(&p->page, GP_TONE_PLAIN, 4, "  %s%s", before,
			     words.text);
}

static void print_command(const struct explain_page *p, const char *before,
			  struct gp_words words)
{
	if (*words.text)
		gp_page_command(&p->page, before, words.text);
}

/* ---- the verdict ---- */

static void print_verdict(const struct explain_page *p)
{
	const struct gp_verdict *v = p->verdict;
	struct gp_words limits = verdict_limits(v);

	gp_page_line(&p->page, verdict_is_bad(v) ? GP_TONE_BAD : GP_TONE_TITLE,
		     2, "%s", verdict_sentence(v).text);
	verdict_print_line(&p->page, "  use:  ", v);
	print_command(p, "  more: ", explain_command(p->explanation, v));
	if (*limits.text)
		gp_page_line(&p->page, GP_TONE_PLAIN, 2, "%s", limits.text);
	say(p, "", explain_moment(p->explain, v));
	say(p, "", explain_request(p->explain));
	if (v->kind != GP_VERDICT_TOO_SMALL)
		say(p, "", explain_relief(p->explain));
	say(p, "", explain_others(p->explain));
	ranks_answer(&p->page, p->explanation->ranks, p->explanation->study,
		     p->explanation->first_case + p->explain->device);
}

/* ---- what was tried ---- */

static void print_tried(const struct explain_page *p, const char *name,
			uint64_t peak, const char *fate)
{
	/* A long name has a line of its own. */
	if (strlen(name) > NAME)
		fprintf(p->page.out, "  %s\n", name);
	fprintf(p->page.out, *fate ? "  %-*s%11s  %s\n" : "  %-*s%11s\n", NAME,
		strlen(name) > NAME ? "" : name, GP_BYTES(peak), fate);
}

static void print_attempt(const struct explain_page *p,
			  const struct gp_attempt *attempt)
{
	char text[EXPLAIN_FATE], name[EXPLAIN_NAME];

	print_tried(p, explain_name(attempt, name), attempt->peak_reserved,
		    explain_fate(&p->explain->base, attempt, text));
}

/* The result of a trial on the device that is explained. */
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
	char text[GP_PLURAL_TEXT];
	const char *fate = "";

	if (*trial->refusal)
		return;
	if (trial->is_excluded && trial != first)
		fate = "excluded";
	else if (!one->is_served)
		fate = explain_unserved(one->ooms, one->has_room, text);
	else if (!base->is_served)
		fate = explain_served(base->ooms, base->has_room);
	else if (one->reserved != base->reserved)
		fate = gp_bytes_change(base->reserved, one->reserved, text);
	print_tried(p,
		    trial == first ? "as it is" : gp_head_settings(trial->conf),
		    one->reserved, fate);
}

/* What any allocator could reach. The packing comes from a short search, so it
 * is shown only if no setting needs as little. */
static void print_floor(const struct explain_page *p)
{
	uint64_t packing = p->explain->floor.packing;
	uint64_t bound = p->explain->floor.bound, need = p->verdict->need;

	if (!packing)
		return;
	fprintf(p->page.out, "  %-51s%11s\n",
		"the least that any allocator needs (gpupool floor)",
		GP_BYTES(bound));
	if (packing != bound && (!need || packing < need))
		fprintf(p->page.out, "  %-51s%11s\n",
			"  and a packing that was found", GP_BYTES(packing));
}

static bool is_served(const struct explain_page *p,
		      const struct gp_trial *trial)
{
	return case_of(p, trial)->is_served;
}

/* Whether the setting may be used, and serves all requests where the current
 * ones do not, or reserves less. */
static bool setting_helps(const struct explain_page *p,
			  const struct gp_trial *trial)
{
	const struct gp_trial *base = p->explanation->study->trials;

	return !trial->is_excluded && is_served(p, trial) &&
	       (!is_served(p, base) ||
		case_of(p, trial)->reserved < case_of(p, base)->reserved);
}

/* Settings that do not help, by their results. */
struct useless {
	size_t served, out_of_memory, others, excluded;
};

static void count_useless(const struct explain_page *p, struct useless *useless,
			  const struct gp_trial *trial)
{
	if (*trial->refusal || setting_helps(p, trial))
		return;
	if (trial->is_excluded)
		useless->excluded++;
	else if (is_served(p, trial))
		useless->served++;
	else if (case_of(p, trial)->ooms)
		useless->out_of_memory++;
	else
		useless->others++;
}

static void print_count(const struct explain_page *p, size_t count,
			const char *one, const char *several, const char *what)
{
	if (count)
		gp_page_line(&p->page, GP_TONE_PLAIN, 4, "  %s %s%s",
			     GP_PLURAL(count, "other setting"),
			     count == 1 ? one : several, what);
}

static void print_useless(const struct explain_page *p,
			  const struct useless *useless)
{
	bool as_well = !is_served(p, p->explanation->study->trials) &&
		       !useless->others;

	print_count(p, useless->served, "with", "with", " no lower peak");
	print_count(p, useless->out_of_memory, "that runs", "that run",
		    as_well ? " out of memory as well" : " out of memory");
	print_count(p, useless->others, "that leaves", "that leave",
		    " too little to others");
	print_count(p, useless->excluded, "that", "that",
		    " must not be used (--without)");
}

/* Of the settings that help besides the advised one, the least unusual of those
 * that reserve least, but more than `above`; NULL: none. */
static const struct gp_trial *next_that_helps(const struct explain_page *p,
					      uint64_t above)
{
	const struct gp_study *study = p->explanation->study;
	const struct gp_trial *best = NULL;

	for (size_t i = 1; i < study->count; i++) {
		const struct gp_trial *trial = &study->trials[i];
		uint64_t reserved = case_of(p, trial)->reserved;

		if (setting_helps(p, trial) && reserved > above &&
		    (!best || reserved < case_of(p, best)->reserved) &&
		    !(p->verdict->conf &&
		      strstr(trial->conf, p->verdict->conf)))
			best = trial;
	}
	return best;
}

/* The advised setting, and the best few others that help. */
static void print_some(const struct explain_page *p)
{
	const struct gp_study *study = p->explanation->study;
	const struct gp_trial *trial = next_that_helps(p, 0);
	struct useless useless = { 0 };
	size_t advised = p->verdict->conf ? p->verdict->trial : 0;
	size_t helpful = 0, shown = 0, most = SETTINGS_SHOWN - !!advised;

	if (advised)
		print_setting(p, &study->trials[advised]);
	for (; trial && shown < most; shown++) {
		print_setting(p, trial);
		trial = next_that_helps(p, case_of(p, trial)->reserved);
	}
	for (size_t i = 1; i < study->count; i++) {
		if (i == advised)
			continue;
		helpful += setting_helps(p, &study->trials[i]);
		count_useless(p, &useless, &study->trials[i]);
	}
	print_count(p, helpful - shown, "that helps", "that help", ", too");
	print_useless(p, &useless);
}

static void print_settings(const struct explain_page *p)
{
	const struct gp_study *study = p->explanation->study;

	if (!p->explanation->has_details) {
		print_some(p);
		return;
	}
	for (size_t i = 1; i < study->count; i++)
		print_setting(p, &study->trials[i]);
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

	if (gp_verdict_is_open(p->verdict))
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "What was tried, with memory: %s; peak reserved%s",
		     gp_head_capacity(p->verdict->capacity, capacity),
		     verdict_part(p->verdict));
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
	struct gp_words words = explain_reason(p->explain, i);
	char label[EXPLAIN_REASON];

	if (gap->by_reason[i].bytes)
		gp_page_line(&p->page, GP_TONE_PLAIN, 13, "%11s  %s: %s",
			     GP_BYTES(gap->by_reason[i].bytes),
			     explain_reason_label(p->explain, i, label),
			     words.text);
}

static void print_gap(const struct explain_page *p)
{
	const struct gp_gap *gap = &p->explain->gap;

	if (!gap->bytes)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "Where the %s are that are reserved but not allocated",
		     GP_BYTES(gap->bytes));
	for (int i = 0; i < GP_GAP_REASONS; i++)
		print_reason(p, (enum gp_gap_reason)i);
	say(p, "", explain_within(gap));
}

/* ---- what holds it, and what is in use ---- */

static void print_culprits(const struct explain_page *p, const char *title,
			   const struct gp_culprits *culprits,
			   struct gp_words (*words)(const struct gp_trace *,
						    const struct gp_culprit *))
{
	bool is_all = p->explanation->has_details;
	size_t shown = is_all ? CULPRITS_DETAIL : CULPRITS_SHOWN;

	if (!is_all)
		shown = explain_worth_showing(culprits, shown);
	if (culprits->count)
		gp_page_line(&p->page, GP_TONE_TITLE, 2, "%s", title);
	for (size_t i = 0; i < culprits->count && i < shown; i++)
		say(p, "", words(p->explain->trace, &culprits->list[i]));
	if (is_all)
		print_more(p, culprits->count, CULPRITS_DETAIL);
}

/* Whether the sites that pin most at this moment also pin most over the whole
 * trace. */
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
	gp_report_owners(&p->page, e,
			 p->explanation->has_details ? HOLDERS_DETAIL
						     : HOLDERS_SHOWN);
	/* If there is too little memory, its holders matter, and fragmentation
	 * does not. */
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
			struct gp_words words)
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
	print_field(p, "Streams", explain_pending(e));
	print_field(p, "Calls", explain_calls(p->explanation, e));
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
		print_details(p);
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
		gp_head_doubts(&p.page, explanation->trace);
		print_device(&p);
	}
	if (explanation->count > 1 && !explanation->has_details)
		gp_page_line(&p.page, GP_TONE_PLAIN, 2,
			     "%zu other device%s: --details shows all.",
			     explanation->count - 1,
			     explanation->count > 2 ? "s" : "");
}

/* ---- for a program ---- */

#define MOST_CULPRITS 100 /* the rest pins less */

static void write_reasons(struct gp_emit *json, const struct gp_gap *gap)
{
	gp_emit_open(json, "by_reason", '{', GP_EMIT_LINES);
	for (int i = 0; i < GP_GAP_REASONS; i++) {
		gp_emit_object(json, explain_reasons[i].key, "gap_part",
			       &gap->by_reason[i], GP_EMIT_FLAT);
	}
	gp_emit_close(json, '}');
}

static void write_groups(struct gp_emit *json, const struct gp_trace *trace,
			 const struct gp_gap *gap)
{
	gp_emit_open(json, "by_stream", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->stream_count; i++) {
		if (!gap->by_stream[i].bytes)
			continue;
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "stream", trace->streams[i]);
		gp_emit_keys(json, "gap_part", &gap->by_stream[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	gp_emit_open(json, "by_pool", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->pool_count; i++) {
		if (!gap->by_pool[i].bytes)
			continue;
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_pool(json, "pool", trace->pools[i]);
		gp_emit_keys(json, "gap_part", &gap->by_pool[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_classes(struct gp_emit *json, const struct gp_gap *gap)
{
	gp_emit_open(json, "by_size", '[', GP_EMIT_LINES);
	for (unsigned i = 0; i < GP_SIZE_CLASSES; i++) {
		if (!gap->by_class[i].bytes)
			continue;
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "from", UINT64_C(1) << i);
		gp_emit_keys(json, "gap_part", &gap->by_class[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_gap(struct gp_emit *json, const struct gp_explain *e)
{
	const struct gp_gap *gap = &e->gap;

	gp_emit_open(json, "gap", '{', GP_EMIT_LINES);
	gp_emit_count(json, GP_GAP, gap->bytes);
	gp_emit_count(json, GP_RESERVED, gap->reserved);
	gp_emit_count(json, GP_ALLOCATED, gap->allocated);
	write_reasons(json, gap);
	gp_emit_open(json, "by_segment_type", '{', GP_EMIT_LINES);
	gp_emit_object(json, "small", "gap_part", &gap->small, GP_EMIT_FLAT);
	gp_emit_object(json, "large", "gap_part", &gap->large, GP_EMIT_FLAT);
	gp_emit_close(json, '}');
	write_groups(json, e->trace, gap);
	write_classes(json, gap);
	gp_emit_count(json, GP_REQUESTED, gap->requested);
	gp_emit_uint(json, "rounding", gap->rounding);
	gp_emit_uint(json, "unsplit", gap->unsplit);
	gp_emit_close(json, '}');
}

static uint64_t name_of(const struct gp_explain *e, uint32_t id)
{
	const struct gp_device_trace *device = &e->trace->devices[e->device];

	return device->names ? device->names[id] : id;
}

static void write_pins(struct gp_emit *json, const struct gp_explain *e)
{
	gp_emit_open(json, "pinned", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < e->pins.unit_count; i++) {
		const struct gp_unit *u = &e->pins.units[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_keys(json, "pinned", u);
		gp_emit_open(json, "by", '[', GP_EMIT_FLAT);
		for (uint32_t k = 0; k < u->holders; k++)
			gp_emit_uint(
				json, NULL,
				name_of(e, e->pins.holders[u->first_holder + k]
						   .id));
		gp_emit_close(json, ']');
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_attempts(struct gp_emit *json, const struct gp_explain *e)
{
	gp_emit_object(json, "as_it_is", "attempt", &e->base, GP_EMIT_FLAT);
	gp_emit_objects(json, "attempts", "attempt", e->attempts,
			e->attempt_count, sizeof(*e->attempts));
}

static void write_steps(struct gp_emit *json, const struct gp_steps *steps)
{
	static const char *const sources[] = { "none", "marks", "period" };

	gp_emit_text(json, "steps_by", sources[steps->source]);
	gp_emit_objects(json, "steps", "step", steps->list, steps->count,
			sizeof(*steps->list));
}

static void write_request(struct gp_emit *json, const struct gp_explain *e)
{
	const struct gp_oom *oom = &e->result.first_oom;

	if (!oom->is_there) {
		gp_emit_null(json, "request");
		return;
	}
	gp_emit_open(json, "request", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "size", oom->size);
	gp_emit_site(json, e->trace, oom->site);
	gp_emit_uint(json, "needed", e->failures[0].needed);
	gp_emit_uint(json, "available", e->failures[0].available);
	gp_emit_uint(json, "device_free", oom->device_free);
	gp_emit_uint(json, "largest_free", oom->largest_free);
	gp_emit_uint(json, "free_in_its_stream_and_pool", oom->free_its_own);
	gp_emit_uint(json, "free_in_other_streams", oom->free_other_stream);
	gp_emit_uint(json, "free_in_other_pools", oom->free_other_pool);
	if (e->relief.is_told)
		gp_emit_object(json, "to_release", "to_release", &e->relief,
			       GP_EMIT_FLAT);
	else
		gp_emit_null(json, "to_release");
	gp_emit_close(json, '}');
}

static void write_failures(struct gp_emit *json, const struct gp_explain *e)
{
	gp_emit_count(json, GP_NUM_OOMS, e->result.ooms.count);
	gp_emit_open(json, "ooms", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < e->failure_count; i++) {
		const struct gp_oom *oom = &e->result.ooms.list[i];
		const struct gp_failure *f = &e->failures[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "event", oom->event);
		gp_emit_uint(json, "alloc", oom->alloc);
		gp_emit_uint(json, "size", oom->size);
		gp_emit_uint(json, "needed", f->needed);
		gp_emit_uint(json, "available", f->available);
		gp_emit_bool(json, "too_small", f->is_too_small);
		gp_emit_site(json, e->trace, oom->site);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_calls(struct gp_emit *json, const struct gp_prices *prices,
			const struct gp_explain *e)
{
	struct gp_subject run = gp_at_end(&e->result);

	gp_emit_measure(json, GP_DEVICE_ALLOCS, &run);
	gp_emit_measure(json, GP_NUM_DEVICE_FREE, &run);
	gp_emit_measure(json, GP_NUM_RETRIES, &run);
	gp_emit_count(json, GP_DEVICE_TIME,
		      gp_price_whole_us(prices, &e->base_calls,
					e->result.counts.synchronizes));
	gp_emit_objects(json, "released_to_serve", "given_back",
			e->retries.list, e->retries.count,
			sizeof(*e->retries.list));
	gp_emit_objects(json, "released_by_empty_cache", "given_back",
			e->empty_caches.list, e->empty_caches.count,
			sizeof(*e->empty_caches.list));
	gp_emit_object(json, "pending_free", "pending", &e->waiting,
		       GP_EMIT_FLAT);
}

static void write_device(struct gp_emit *json, const struct gp_explanation *x,
			 const struct gp_explain *e)
{
	size_t index = x->first_case + e->device;

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", e->trace->devices[e->device].device);
	gp_emit_rank_of(json, x->ranks, index);
	gp_emit_verdict(json, &x->study->verdicts[index]);
	gp_emit_explained(json, "event", "before", e->event);
	write_request(json, e);
	write_failures(json, e);
	write_attempts(json, e);
	gp_emit_object(json, "floor", "floor_sum", e, GP_EMIT_FLAT);
	write_gap(json, e);
	write_pins(json, e);
	gp_emit_in_use(json, e, MOST_CULPRITS);
	gp_emit_owners(json, e);
	gp_emit_holders(json, "pins_now", e->trace, &e->now, MOST_CULPRITS);
	gp_emit_holders(json, "pins_most", e->trace, &e->over_time,
			MOST_CULPRITS);
	write_calls(json, x->prices, e);
	write_steps(json, &e->steps);
	gp_emit_close(json, '}');
}

void gp_report_explain_json(const struct gp_explanation *explanation, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, explanation->path, explanation->trace);
	gp_emit_ranks(&json, explanation->ranks);
	gp_emit_settings(&json, "settings", explanation->settings);
	gp_emit_release(&json, "torch", explanation->settings->release);
	if (explanation->what_ifs)
		gp_emit_what_ifs(&json, "what_ifs", explanation->what_ifs);
	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < explanation->study->case_count; i++) {
		size_t device = i - explanation->first_case;

		if (i >= explanation->first_case && device < explanation->count)
			write_device(&json, explanation,
				     &explanation->devices[device]);
		else
			gp_emit_rank_verdict(&json, explanation->ranks,
					     explanation->study, i);
	}
	gp_emit_close(&json, ']');
	gp_emit_trials(&json, explanation->study);
	gp_emit_close(&json, '}');
}
