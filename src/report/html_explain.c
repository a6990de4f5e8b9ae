/* SPDX-License-Identifier: MIT */
/* What gpupool explain finds, on a page. */

#include <inttypes.h>
#include <stdarg.h>

#include "base/bytes.h"
#include "trace/site.h"
#include "report/explain_words.h"
#include "report/group.h"
#include "report/head.h"
#include "report/holders.h"
#include "report/html.h"
#include "report/page.h"
#include "report/svg_parts.h"
#include "report/verdict.h"

#define CULPRITS_SHOWN 12
#define FAILURES_SHOWN 20

struct finding {
	const struct gp_explanation *explanation;
	const struct gp_explain *explain;
	const char *name; /* of the run, before titles */
	FILE *out;
};

/* ---- pieces ---- */

static void paragraph(const struct finding *f, const char *class,
		      struct gp_words words)
{
	if (!*words.text)
		return;
	fprintf(f->out, "<p%s%s>", *class ? " class=" : "", class);
	gp_xml_text(words.text, f->out);
	fputs("</p>\n", f->out);
}

/* A line of code, to be copied. */
static void code(const struct finding *f, const char *before,
		 struct gp_words words)
{
	if (!*words.text)
		return;
	fprintf(f->out, "<p class=use>%s <code>", before);
	gp_xml_text(words.text, f->out);
	fputs("</code></p>\n", f->out);
}

static void title(const struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void title(const struct finding *f, const char *format, ...)
{
	va_list args;

	fprintf(f->out, "<h2>%s", f->name);
	va_start(args, format);
	vfprintf(f->out, format, args);
	va_end(args);
	fputs("</h2>\n", f->out);
}

/* Says how much of a table is not shown. */
static void more(const struct finding *f, uint64_t count, size_t shown,
		 const char *which)
{
	if (count > shown)
		fprintf(f->out, "<p class=about>And %s more%s.</p>\n",
			GP_COUNT(count - shown), which);
}

/* ---- requests without memory ---- */

static void failure_row(const struct finding *f, size_t i)
{
	const struct gp_explain *e = f->explain;
	const struct gp_oom *oom = &e->result.ooms.list[i];
	const struct gp_failure *failure = &e->failures[i];
	char event[GP_EVENT_TEXT], site[GP_SITE_TEXT];

	fprintf(f->out, "<tr><th scope=row data-value=\"%" PRIu64 "\">%s</th>",
		oom->event,
		gp_event_moment(e->trace, e->device, &e->steps, oom->event,
				event));
	gp_html_bytes(f->out, "size", oom->size);
	gp_html_bytes(f->out, "needed", failure->needed);
	gp_html_bytes(f->out, "available", failure->available);
	gp_html_cell(f->out,
		     failure->is_too_small ? "too much for any setting" : "");
	gp_html_cell(f->out, gp_site_text(e->trace, oom->site, site));
	gp_html_row_end(f->out);
}

static void write_failures(const struct finding *f)
{
	const struct gp_explain *e = f->explain;

	if (e->failure_count < 2)
		return;
	title(f, "Requests that failed: %zu", e->result.ooms.count);
	gp_html_table(f->out, "ooms",
		      "when|#size|#needed with what is live|#available||asked "
		      "for by");
	for (size_t i = 0; i < e->failure_count && i < FAILURES_SHOWN; i++)
		failure_row(f, i);
	gp_html_table_end(f->out);
	more(f, e->result.ooms.count, FAILURES_SHOWN, "");
}

/* ---- what was tried ---- */

static void attempt_row(const struct finding *f,
			const struct gp_attempt *attempt)
{
	char fate[EXPLAIN_FATE], name[EXPLAIN_NAME];

	gp_html_name(f->out, explain_name(attempt, name));
	gp_html_bytes(f->out, "peak_reserved", attempt->peak_reserved);
	gp_html_cell(f->out, explain_fate(&f->explain->base, attempt, fate));
	gp_html_count(f->out, "ooms", attempt->ooms);
	gp_html_count(f->out, "retries", attempt->retries);
	gp_html_count(f->out, "mallocs_and_pages", attempt->mallocs_and_pages);
	gp_html_row_end(f->out);
}

static void setting_row(const struct finding *f, const struct gp_trial *trial)
{
	const struct gp_study *study = f->explanation->study;
	size_t index = f->explanation->first_case + f->explain->device;
	const struct gp_verdict *v = &study->verdicts[index];
	const struct gp_trial_case *one = &trial->cases[index];
	bool is_answer = v->conf && trial == &study->trials[v->trial];
	bool is_excluded = trial->is_excluded && trial != study->trials;
	char fate[EXPLAIN_FATE];

	if (*trial->refusal)
		return;
	gp_html_name(f->out, trial == study->trials
				     ? "as it is"
				     : gp_head_settings(trial->conf));
	gp_html_bytes(f->out, "peak_reserved", one->reserved);
	gp_html_cell(f->out,
		     is_answer	      ? "to be used"
		     : is_excluded    ? "must not be used"
		     : one->is_served ? "serves all"
		     : one->ooms      ? "out of memory"
				 : explain_unserved(0, one->has_room, fate));
	gp_html_count(f->out, "ooms", one->ooms);
	gp_html_count(f->out, "retries", one->retries);
	gp_html_count(f->out, "mallocs_and_pages", one->mallocs + one->pages);
	gp_html_row_end(f->out);
}

static void write_trials(const struct finding *f)
{
	const struct gp_explain *e = f->explain;
	const struct gp_study *study = f->explanation->study;
	const struct gp_verdict *v =
		&study->verdicts[f->explanation->first_case + e->device];
	char capacity[GP_BYTES_TEXT];

	if (gp_verdict_is_open(v))
		return;
	title(f, "What was tried, with memory: %s%s%s",
	      gp_head_capacity(v->capacity, capacity),
	      *verdict_part(v) ? ";" : "", verdict_part(v));
	gp_html_table(f->out, "tried",
		      "setting or what-if|#peak reserved|result|#OOMs|#retries|"
		      "#cudaMalloc calls and pages mapped");
	for (size_t i = 0; i < study->count; i++)
		setting_row(f, &study->trials[i]);
	for (size_t i = 0; i < e->attempt_count; i++)
		attempt_row(f, &e->attempts[i]);
	gp_html_table_end(f->out);
	code(f, "More:", explain_command(f->explanation, v));
	code(f, "Or:", explain_what_if(f->explanation, e));
}

/* ---- the gap ---- */

/* One part of the bar; at: where the previous part ends, 0 to 100. */
static void bar_part(const struct finding *f, const char *class, uint64_t bytes,
		     double *at)
{
	double width = 100.0 * (double)bytes / (double)f->explain->gap.reserved;

	if (bytes)
		fprintf(f->out,
			"<rect class=\"k-%s\" x=\"%.3f\" width=\"%.3f\" "
			"height=\"1\"/>",
			class, *at, width);
	*at += bytes ? width : 0;
}

/* A bar of all reserved bytes: those in use, and the others by reason. */
static void write_bar(const struct finding *f)
{
	const struct gp_gap *gap = &f->explain->gap;
	double at = 0;

	fputs("<svg class=bar aria-hidden=true viewBox=\"0 0 100 1\" "
	      "preserveAspectRatio=none>",
	      f->out);
	bar_part(f, "allocated", gap->allocated, &at);
	for (int i = 0; i < GP_GAP_REASONS; i++)
		bar_part(f, explain_reasons[i].key, gap->by_reason[i].bytes,
			 &at);
	fputs("</svg>\n", f->out);
}

static void part_row(const struct finding *f, const char *class,
		     const char *label, const struct gp_gap_part *part,
		     const char *note)
{
	fputs("<tr><th scope=row>", f->out);
	if (*class)
		fprintf(f->out, "<i class=\"k k-%s\"></i>", class);
	gp_xml_text(label, f->out);
	fputs("</th>", f->out);
	gp_html_bytes(f->out, "bytes", part->bytes);
	gp_html_count(f->out, "blocks", part->blocks);
	gp_html_bytes(f->out, "largest", part->largest);
	gp_html_cell(f->out, note);
	gp_html_row_end(f->out);
}

/* The gap by stream and by pool, if there are several. */
static void write_parts(const struct finding *f)
{
	const struct gp_trace *trace = f->explain->trace;
	const struct gp_gap *gap = &f->explain->gap;
	char label[GP_GROUP_LABEL];

	for (size_t i = 0; trace->stream_count > 1 && i < trace->stream_count;
	     i++)
		if (gap->by_stream[i].bytes)
			part_row(f, "",
				 gp_group_label(trace, GP_BY_STREAM,
						(uint32_t)i, label),
				 &gap->by_stream[i], "of the above");
	for (size_t i = 0; trace->pool_count > 1 && i < trace->pool_count; i++)
		if (gap->by_pool[i].bytes)
			part_row(f, "",
				 gp_group_label(trace, GP_BY_POOL, (uint32_t)i,
						label),
				 &gap->by_pool[i], "of the above");
}

static void write_gap(const struct finding *f)
{
	const struct gp_gap *gap = &f->explain->gap;

	if (!gap->bytes)
		return;
	title(f, "Where the %s are that are reserved but not allocated",
	      GP_BYTES(gap->bytes));
	write_bar(f);
	gp_html_table(f->out, "gap",
		      "free memory|#bytes|#pieces|#largest|use of it");
	for (int i = 0; i < GP_GAP_REASONS; i++)
		if (gap->by_reason[i].bytes)
			part_row(f, explain_reasons[i].key,
				 explain_reasons[i].label, &gap->by_reason[i],
				 explain_note(f->explain, i));
	write_parts(f);
	gp_html_table_end(f->out);
	paragraph(f, "about", explain_within(gap));
}

/* ---- blocks ---- */

/* The name, and below it all frames of the stack. */
static void culprit_stack(const struct finding *f, const char *name,
			  uint32_t site)
{
	const struct gp_trace *trace = f->explain->trace;

	fputs("<tr><th scope=row><details><summary>", f->out);
	gp_xml_text(name, f->out);
	fputs("</summary><ol class=stack>", f->out);
	for (; site != GP_NO_SITE; site = trace->sites[site].caller) {
		fputs("<li>", f->out);
		gp_xml_text(trace->texts[trace->sites[site].text], f->out);
		fputs("</li>", f->out);
	}
	fputs("</ol></details></th>", f->out);
}

static void culprit_begin(const struct finding *f, const struct gp_culprit *c,
			  bool has_stack)
{
	const struct gp_trace *trace = f->explain->trace;
	char size[64], site[GP_SITE_TEXT];
	const char *name = size;

	snprintf(size, sizeof(size), "blocks of %s", GP_BYTES(c->least));
	if (c->site != GP_NO_SITE)
		name = gp_site_text(trace, c->site, site);
	if (has_stack && c->site != GP_NO_SITE &&
	    trace->sites[c->site].caller != GP_NO_SITE)
		culprit_stack(f, name, c->site);
	else
		gp_html_name(f->out, name);
	gp_html_count(f->out, "blocks", c->blocks);
	gp_html_bytes(f->out, "smallest", c->least);
	gp_html_bytes(f->out, "largest", c->most);
}

static void culprit_row(const struct finding *f, const struct gp_culprit *c)
{
	culprit_begin(f, c, false);
	gp_html_bytes(f->out, "bytes", c->bytes);
	gp_html_count(f->out, "segments", c->units);
	gp_html_count(f->out, "events", c->events);
	gp_html_row_end(f->out);
}

static void culprit_run_row(const struct finding *f, const struct gp_culprit *c)
{
	culprit_begin(f, c, false);
	gp_html_bytes(f->out, "bytes", c->bytes);
	gp_html_count(f->out, "events", c->events);
	gp_html_row_end(f->out);
}

static void live_row(const struct finding *f, const struct gp_culprit *c)
{
	culprit_begin(f, c, true);
	gp_html_bytes(f->out, "bytes", c->bytes);
	gp_html_row_end(f->out);
}

/* The holders that are missing from the table of who holds the memory. */
static void more_live(const struct finding *f, const struct gp_culprits *live)
{
	uint64_t bytes = 0;
	char which[GP_BYTES_TEXT + 16];

	for (size_t i = CULPRITS_SHOWN; i < live->count; i++)
		bytes += live->list[i].bytes;
	snprintf(which, sizeof(which), ", with %s", GP_BYTES(bytes));
	more(f, live->count, CULPRITS_SHOWN, which);
}

static void write_culprits(const struct finding *f, const char *id,
			   const char *columns,
			   const struct gp_culprits *culprits,
			   void (*row)(const struct finding *,
				       const struct gp_culprit *))
{
	gp_html_table(f->out, id, columns);
	for (size_t i = 0; i < culprits->count && i < CULPRITS_SHOWN; i++)
		row(f, &culprits->list[i]);
	gp_html_table_end(f->out);
}

#define BLOCKS "asked for by|#blocks|#smallest|#largest|"

static void write_blocks(const struct finding *f)
{
	const struct gp_explain *e = f->explain;
	char event[GP_EVENT_TEXT];

	gp_event_moment(e->trace, e->device, &e->steps, e->live_event, event);
	if (e->live.count) {
		title(f, "Who holds the %s in use %s: %s",
		      GP_BYTES(e->live_bytes), gp_holders_moment(e), event);
		if (e->live_bytes > e->capacity)
			fputs("<p class=about>More than the device has: as "
			      "it is with room for every request.</p>\n",
			      f->out);
		write_culprits(f, "in_use", BLOCKS "#bytes", &e->live,
			       live_row);
		more_live(f, &e->live);
	}
	gp_event_moment(e->trace, e->device, &e->steps, e->event, event);
	if (e->now.count) {
		title(f, "What pins free memory at %s", event);
		write_culprits(f, "pins_now",
			       BLOCKS
			       "#pin|#in segments or pages|#oldest, events",
			       &e->now, culprit_row);
		more(f, e->now.count, CULPRITS_SHOWN, "");
	}
	if (e->over_time.count) {
		title(f, "What pins most over the whole trace");
		write_culprits(f, "pins_most",
			       BLOCKS "#pin on average|#for events",
			       &e->over_time, culprit_run_row);
		more(f, e->over_time.count, CULPRITS_SHOWN, "");
	}
}

/* ---- the whole run ---- */

static void field(const struct finding *f, const char *label,
		  struct gp_words words)
{
	if (!*words.text)
		return;
	fprintf(f->out, "<dt>%s</dt><dd>", label);
	gp_xml_text(words.text, f->out);
	fputs("</dd>\n", f->out);
}

static void write_run(const struct finding *f)
{
	const struct gp_explain *e = f->explain;

	if (!e->has_requests)
		return;
	title(f, "The whole run");
	fputs("<dl class=facts>\n", f->out);
	field(f, "Streams", explain_pending(e));
	field(f, "Driver calls", explain_calls(f->explanation, e));
	field(f, "empty_cache", explain_caches(e));
	if (e->steps.count)
		field(f, "Drift", explain_drift(e));
	field(f, "Growth", explain_growth(e));
	fputs("</dl>\n", f->out);
}

void gp_html_verdict(const struct gp_explanation *explanation, size_t device,
		     FILE *out)
{
	const struct gp_explain *e = &explanation->devices[device];
	const struct gp_verdict *v =
		&explanation->study->verdicts[explanation->first_case + device];
	const struct finding f = { explanation, e, "", out };

	fprintf(out, "<div class=\"verdict %s\">\n", gp_verdict_kinds[v->kind]);
	paragraph(&f, "headline", verdict_sentence(v));
	if (v->conf)
		code(&f, "Use:", verdict_line(v->conf));
	if (v->conf)
		paragraph(&f, "about", verdict_other_name(v));
	paragraph(&f, "", verdict_limits(v));
	paragraph(&f, "", explain_moment(e, v));
	paragraph(&f, "", explain_request(e));
	if (v->kind != GP_VERDICT_TOO_SMALL)
		paragraph(&f, "", explain_relief(e));
	paragraph(&f, "", explain_others(e));
	fputs("</div>\n", out);
}

void gp_html_explain(const struct gp_explanation *explanation, size_t device,
		     const char *name, FILE *out)
{
	const struct finding f = { explanation, &explanation->devices[device],
				   name, out };

	write_failures(&f);
	write_trials(&f);
	write_gap(&f);
	write_blocks(&f);
	write_run(&f);
}
