/* SPDX-License-Identifier: MIT */
/* gpupool explain --details: what the first screen sums up. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/explain_text.h"
#include "report/group.h"

#define UNITS_SHOWN    20
#define HOLDERS_SHOWN  4
#define RELEASES_SHOWN 10
#define FAILURES_SHOWN 20
#define FRAMES_SHOWN   64
#define FRAME_INDENT   4 /* columns */

static void print_part(const struct explain_page *p, const char *label,
		       const struct gp_gap_part *part)
{
	char bytes[GP_BYTES_TEXT], largest[GP_BYTES_TEXT];
	char blocks[GP_COUNT_TEXT];

	if (part->bytes)
		fprintf(p->page.out, "  %-32s%12s%12s%10s\n", label,
			gp_bytes_text(part->bytes, bytes),
			gp_bytes_text(part->largest, largest),
			gp_count_text(part->blocks, blocks));
}

static void print_parts(const struct explain_page *p)
{
	const struct gp_gap *gap = &p->explain->gap;
	const struct gp_trace *trace = p->explain->trace;
	char label[GP_GROUP_LABEL], low[GP_BYTES_TEXT];

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
			 gp_bytes_text(UINT64_C(1) << i, low));
		print_part(p, label, &gap->by_class[i]);
	}
}

static void print_holder(const struct explain_page *p,
			 const struct gp_holder *h)
{
	const struct gp_device_trace *device =
		&p->explain->trace->devices[p->explain->device];
	char size[GP_BYTES_TEXT], share[GP_BYTES_TEXT];
	uint64_t name = device->names ? device->names[h->id] : h->id;

	fprintf(p->page.out,
		"    block %" PRIu64 " at 0x%" PRIx64 ", %s, pins %s\n", name,
		h->addr, gp_bytes_text(h->size, size),
		gp_bytes_text(h->share, share));
}

static void print_units(const struct explain_page *p)
{
	const struct gp_pins *pins = &p->explain->pins;
	char size[GP_BYTES_TEXT], free[GP_BYTES_TEXT], held[GP_PLURAL_TEXT];

	if (!pins->unit_count)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2,
		     "Segments (or pages) that live blocks hold: %zu",
		     pins->unit_count);
	for (size_t i = 0; i < pins->unit_count && i < UNITS_SHOWN; i++) {
		const struct gp_unit *u = &pins->units[i];

		fprintf(p->page.out,
			"  0x%" PRIx64 ", %s: %s free, held by "
			"%s\n",
			u->addr, gp_bytes_text(u->size, size),
			gp_bytes_text(u->free, free),
			gp_plural_text(u->holders, "block", held));
		for (uint32_t k = 0; k < u->holders && k < HOLDERS_SHOWN; k++)
			print_holder(p, &pins->holders[u->first_holder + k]);
	}
}

static void print_releases(const struct explain_page *p, const char *title,
			   const struct gp_releases *releases)
{
	char at[GP_EVENT_TEXT], bytes[GP_BYTES_TEXT], paid[GP_BYTES_TEXT];
	char segments[GP_PLURAL_TEXT];

	if (!releases->count)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2, "%s: %zu", title,
		     releases->count);
	for (size_t i = 0; i < releases->count && i < RELEASES_SHOWN; i++) {
		const struct gp_release *r = &releases->list[i];

		gp_page_line(
			&p->page, GP_TONE_PLAIN, 4,
			"  %s: %s in %s; %s asked for anew",
			gp_event_words_in(p->explain->trace, p->explain->device,
					  &p->explain->steps, r->event, at),
			gp_bytes_text(r->bytes, bytes),
			gp_plural_text(r->segments, "segment", segments),
			gp_bytes_text(r->paid_again, paid));
	}
}

static void print_steps(const struct explain_page *p)
{
	const struct gp_steps *steps = &p->explain->steps;
	char a[GP_BYTES_TEXT], b[GP_BYTES_TEXT], c[GP_BYTES_TEXT];
	char d[GP_BYTES_TEXT], at[GP_COUNT_TEXT];
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
			gp_count_text(s->first, at),
			gp_bytes_text(s->reserved, a),
			gp_bytes_text(s->allocated, b),
			gp_bytes_text(s->gap, c),
			gp_bytes_text(s->live_at_end, d));
	}
}

static void print_failure(const struct explain_page *p, size_t i)
{
	const struct gp_explain *e = p->explain;
	const struct gp_oom *oom = &e->result.ooms.list[i];
	const struct gp_failure *f = &e->failures[i];
	char at[GP_EVENT_TEXT], size[GP_BYTES_TEXT], needed[GP_BYTES_TEXT];
	char available[GP_BYTES_TEXT], site[EXPLAIN_SITE];

	gp_page_line(
		&p->page, GP_TONE_PLAIN, 4,
		"  %s, %s%s: with what is live %s of %s%s",
		gp_event_moment(e->trace, e->device, &e->steps, oom->event, at),
		gp_bytes_text(oom->size, size),
		explain_site(e->trace, oom->site, site),
		gp_bytes_text(f->needed, needed),
		gp_bytes_text(f->available, available),
		f->is_too_small ? ": too much for any setting" : "");
}

static void print_failures(const struct explain_page *p)
{
	const struct gp_explain *e = p->explain;

	if (e->failure_count < 2)
		return;
	gp_page_blank(&p->page);
	gp_page_line(&p->page, GP_TONE_TITLE, 2, "Requests without memory: %zu",
		     e->result.ooms.count);
	for (size_t i = 0; i < e->failure_count && i < FAILURES_SHOWN; i++)
		print_failure(p, i);
}

/* Names of templates have no end: cut at the edge, between characters. */
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

/* The whole stack, where it says more than its site. */
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
	bool is_told = false;

	for (size_t i = 0; i < live->count && i < UNITS_SHOWN; i++) {
		uint32_t site = live->list[i].site;

		if (site == GP_NO_SITE ||
		    trace->sites[site].caller == GP_NO_SITE)
			continue;
		if (!is_told) {
			gp_page_blank(&p->page);
			gp_page_line(&p->page, GP_TONE_TITLE, 2,
				     "Stacks of those who hold the memory, "
				     "innermost frame first");
		}
		is_told = true;
		print_stack(p, site);
	}
}

void explain_details(const struct explain_page *p)
{
	print_stacks(p);
	print_failures(p);
	print_parts(p);
	print_units(p);
	print_releases(p, "Requests that made the allocator give memory back",
		       &p->explain->retries);
	print_releases(p, "empty_cache", &p->explain->empty_caches);
	print_steps(p);
}
