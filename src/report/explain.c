/* gpupool explain, for a person: the first screen. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/explain_text.h"
#include "report/group.h"
#include "report/head.h"

#define SETTINGS_SHOWN 3
#define CULPRITS_SHOWN 2

/* ---- the verdict ---- */

static const struct gp_attempt *best_of(const struct gp_explain *explain,
					bool is_setting)
{
	for (size_t i = 0; i < explain->trial_count; i++)
		if (explain->trials[i].is_setting == is_setting)
			return &explain->trials[i];
	return NULL;
}

static void print_cure(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	const struct gp_attempt *cure = best_of(e, true);
	char event[GP_COUNT_TEXT], more[96] = "";
	bool is_setting = cure && cure->serves;

	if (!is_setting)
		cure = &e->trials[0];
	if (!cure->no_oom)
		snprintf(more, sizeof(more), ", but not that of event %s",
			 gp_count_text(cure->oom_event, event));
	gp_page_line(&p->page, GP_TONE_BAD, 2,
		     is_setting ? "FRAGMENTATION: %s serves this request with "
				  "the same memory%s."
				: "FRAGMENTATION: no setting that was tried "
				  "serves this request, but %s does%s.",
		     cure->name, more);
}

static void print_headline(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	char needed[GP_BYTES_TEXT], available[GP_BYTES_TEXT];

	gp_bytes_text(e->needed, needed);
	gp_bytes_text(e->available, available);
	switch (e->verdict) {
	case GP_FITS: break;
	case GP_TOO_SMALL:
		if (e->needed > e->available)
			gp_page_line(&p->page, GP_TONE_BAD, 2,
				     "CAPACITY: live tensors and this request "
				     "need %s, and there are %s. No setting "
				     "can help.",
				     needed, available);
		else
			gp_page_line(&p->page, GP_TONE_BAD, 2,
				     "CAPACITY: nothing that was tried serves "
				     "this request; live tensors and it need "
				     "%s of %s, before rounding.",
				     needed, available);
		break;
	case GP_FRAGMENTED: print_cure(p); break;
	case GP_FRAGMENTED_STILL:
		gp_page_line(&p->page, GP_TONE_BAD, 2,
			     "FRAGMENTATION: %s of %s are needed, but nothing "
			     "that was tried serves this request.",
			     needed, available);
		break;
	}
}

static void print_request(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	const struct gp_oom *oom = &e->result.first_oom;
	const struct gp_event *event =
		&e->trace->devices[e->device].events[oom->event];
	char size[GP_BYTES_TEXT], held[GP_BYTES_TEXT], left[GP_BYTES_TEXT];
	char largest[GP_BYTES_TEXT], own[GP_BYTES_TEXT], site[EXPLAIN_SITE];
	char stream[GP_GROUP_LABEL], pool[GP_GROUP_LABEL];
	char at[GP_COUNT_TEXT], streams[GP_BYTES_TEXT], pools[GP_BYTES_TEXT];

	gp_page_line(
		&p->page, GP_TONE_PLAIN, 2,
		"  Event %s asked for %s%s, for %s in the %s. Free: %s "
		"reserved but unallocated, %s left on the device. In "
		"that stream and pool %s, the largest piece %s; other "
		"streams %s, other pools %s.",
		gp_count_text(oom->event, at), gp_bytes_text(oom->size, size),
		explain_site(e->trace, oom->site, site),
		gp_group_label(e->trace, GP_BY_STREAM, event->stream, stream),
		gp_group_label(e->trace, GP_BY_POOL, event->pool, pool),
		gp_bytes_text(e->gap.bytes, held),
		gp_bytes_text(oom->device_free, left),
		gp_bytes_text(e->free_its_own, own),
		gp_bytes_text(oom->largest_free, largest),
		gp_bytes_text(e->free_other_stream, streams),
		gp_bytes_text(e->free_other_pool, pools));
}

static void print_release(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	char segments[GP_PLURAL_TEXT], blocks[GP_PLURAL_TEXT];
	char bytes[GP_BYTES_TEXT];

	if (!e->to_release.segments)
		return;
	gp_page_line(
		&p->page, GP_TONE_PLAIN, 2,
		"  Without %s (%s) %s would go back to the device, and "
		"serve it.",
		gp_plural_text(e->to_release.blocks, "block", blocks),
		gp_bytes_text(e->to_release.bytes, bytes),
		gp_plural_text(e->to_release.segments, "segment", segments));
}

static void print_peak(const struct explain_page *p)
{
	const struct gp_gap *gap = &p->explain->gap;
	char reserved[GP_BYTES_TEXT], allocated[GP_BYTES_TEXT];
	char bytes[GP_BYTES_TEXT], percent[GP_PERCENT_TEXT], at[GP_COUNT_TEXT];

	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "No request failed. At the peak, event %s: %s reserved, "
		     "%s allocated, a gap of %s (%s).",
		     gp_count_text(p->explain->event, at),
		     gp_bytes_text(gap->reserved, reserved),
		     gp_bytes_text(gap->allocated, allocated),
		     gp_bytes_text(gap->bytes, bytes),
		     gp_percent_text(gap->reserved
					     ? (double)gap->bytes /
						       (double)gap->reserved
					     : 0,
				     percent));
}

static void print_verdict(const struct explain_page *p)
{
	if (p->explain->verdict == GP_FITS) {
		print_peak(p);
		return;
	}
	print_headline(p);
	print_request(p);
	print_release(p);
}

/* ---- what was tried ---- */

/* The command that shows more of a setting. */
static void print_command(const struct explain_page *p, const char *setting)
{
	const struct gp_explanation *x = p->explanation;

	gp_page_line(&p->page, GP_TONE_PLAIN, 4,
		     "  more: gpupool replay %s --alloc-conf %s%s%s%s%s "
		     "--compare",
		     x->path, x->conf, *x->conf ? "," : "", setting,
		     x->given ? " --capacity " : "", x->given ? x->given : "");
}

/* The best settings, and all that is not a setting. */
static void print_trials(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	const struct gp_attempt *best = best_of(e, true);
	char capacity[GP_BYTES_TEXT];
	size_t settings = 0;

	if (!e->trial_count)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "What was tried, with memory: %s; peak reserved",
		     gp_head_capacity(e->capacity, capacity));
	explain_trial(p, &e->base);
	for (size_t i = 0; i < e->trial_count; i++)
		if (!e->trials[i].is_setting || settings++ < SETTINGS_SHOWN ||
		    p->explanation->has_details)
			explain_trial(p, &e->trials[i]);
	if (best && (best->peak_reserved < e->base.peak_reserved ||
		     (best->serves && !e->base.serves)))
		print_command(p, best->name);
}

/* ---- the gap ---- */

static void print_reason(const struct explain_page *p, enum gp_gap_reason i)
{
	const struct gp_gap_part *part = &p->explain->gap.by_reason[i];
	char bytes[GP_BYTES_TEXT], largest[GP_BYTES_TEXT];
	char pieces[GP_PLURAL_TEXT], note[192];

	if (!part->bytes)
		return;
	snprintf(note, sizeof(note), "%s, largest %s: %s",
		 gp_plural_text(part->blocks, "piece", pieces),
		 gp_bytes_text(part->largest, largest),
		 explain_reasons[i].note);
	gp_page_row(&p->page,
		    &(struct gp_page_row){ explain_reasons[i].label,
					   gp_bytes_text(part->bytes, bytes),
					   note, GP_TONE_PLAIN });
}

static void print_gap(const struct explain_page *p)
{
	const struct gp_gap *gap = &p->explain->gap;
	char bytes[GP_BYTES_TEXT], rounding[GP_BYTES_TEXT];
	char unsplit[GP_BYTES_TEXT];

	if (!gap->bytes)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "Where the %s are that are reserved and not allocated",
		     gp_bytes_text(gap->bytes, bytes));
	for (int i = 0; i < GP_GAP_REASONS; i++)
		print_reason(p, (enum gp_gap_reason)i);
	if (gap->rounding + gap->unsplit)
		gp_page_line(&p->page, GP_TONE_PLAIN, 4,
			     "  and within what is allocated: %s by rounding "
			     "up, %s by blocks not cut",
			     gp_bytes_text(gap->rounding, rounding),
			     gp_bytes_text(gap->unsplit, unsplit));
}

/* ---- what holds it ---- */

static void print_culprits(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;
	size_t shown = p->explanation->has_details ? 20 : CULPRITS_SHOWN;

	if (e->now.count) {
		gp_page_blank(&p->page);
		gp_page_line(&p->page, GP_TONE_TITLE, 2,
			     "What holds it there, at that moment");
		for (size_t i = 0; i < e->now.count && i < shown; i++)
			explain_culprit_now(p, &e->now.list[i]);
	}
	if (e->over_time.count) {
		gp_page_line(&p->page, GP_TONE_TITLE, 2,
			     "What strands most over the whole trace");
		for (size_t i = 0; i < e->over_time.count && i < shown; i++)
			explain_culprit_over_time(p, &e->over_time.list[i]);
	}
}

/* ---- the page ---- */

static void print_device(const struct explain_page *p)
{
	print_verdict(p);
	print_trials(p);
	print_gap(p);
	print_culprits(p);
	explain_run(p);
	if (p->explanation->has_details)
		explain_details(p);
	else
		gp_page_line(&p->page, GP_TONE_PLAIN, 4,
			     "More: gpupool explain %s --details",
			     p->explanation->path);
}

/* The one that ran out of memory, else with the largest gap. */
static size_t worst_of(const struct gp_explanation *explanation)
{
	size_t worst = 0;

	for (size_t i = 1; i < explanation->count; i++) {
		const struct gp_explain *e = &explanation->devices[i];
		const struct gp_explain *w = &explanation->devices[worst];
		bool fails = e->verdict != GP_FITS;

		if (fails != (w->verdict != GP_FITS)
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
		print_device(&p);
	}
	if (explanation->count > 1 && !explanation->has_details)
		gp_page_line(&p.page, GP_TONE_PLAIN, 2,
			     "%zu other devices: --details has them.",
			     explanation->count - 1);
}
