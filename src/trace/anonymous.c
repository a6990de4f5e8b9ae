/* SPDX-License-Identifier: MIT */
/*
 * Traces without names: source lines and marks become "site 17" and
 * "step-B 12".  What a replay does and what explain finds stay the same.
 */
#include "trace/draft.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "trace/store.h"

enum role { KEPT, SITE, MARK };

struct namer {
	const struct gp_trace *trace;
	uint8_t *roles; /* enum role of each text */
	struct gp_intern stems;
	struct gp_arena *arena;
	uint32_t sites;
};

/* A text that is both a source line and a mark is a mark. */
static void find_roles(struct namer *n)
{
	const struct gp_trace *trace = n->trace;

	for (size_t i = 0; i < trace->site_count; i++)
		n->roles[trace->sites[i].text] = SITE;
	for (size_t d = 0; d < trace->device_count; d++) {
		const struct gp_device_trace *t = &trace->devices[d];

		for (size_t i = 0; i < t->event_count; i++)
			if (t->events[i].kind == GP_MARK)
				n->roles[t->events[i].text] = MARK;
	}
}

/* 0, 1, ... 26: "A", "B", ... "AA": steps are told apart by what is no digit.
 */
static const char *letters(uint32_t number, char text[8])
{
	char *at = text + 7;

	*at = '\0';
	for (number++; number; number = (number - 1) / 26)
		*--at = (char)('A' + (number - 1) % 26);
	return at;
}

/* "ProfilerStep#12" is "ProfilerStep#", and its digits "12": what differs in
 * digits only is one name. */
static size_t part(const char *text, bool digits, char to[64])
{
	size_t n = 0;

	for (; *text && n < 63; text++)
		if (!isdigit((unsigned char)*text) != digits)
			to[n++] = *text;
	to[n] = '\0';
	return n;
}

static const char *mark_name(struct namer *n, const char *text)
{
	char stem[64], digits[64], order[8], name[96];
	uint32_t number = gp_intern(&n->stems, stem, part(text, false, stem));

	part(text, true, digits);
	snprintf(name, sizeof(name), "%s-%s%s%s",
		 strcasestr(text, "step") ? "step" : "mark",
		 letters(number, order), *digits ? " " : "", digits);
	return gp_arena_text(n->arena, name, strlen(name));
}

static const char *site_name(struct namer *n)
{
	char name[24];

	snprintf(name, sizeof(name), "site %u", ++n->sites);
	return gp_arena_text(n->arena, name, strlen(name));
}

static const char *name_text(struct namer *n, size_t i)
{
	switch (n->roles[i]) {
	case SITE: return site_name(n);
	case MARK: return mark_name(n, n->trace->texts[i]);
	default: return n->trace->texts[i];
	}
}

struct gp_trace *gp_trace_anonymous(const struct gp_trace *trace)
{
	struct gp_trace_store *store = gp_trace_store_create();
	struct namer n = { .trace = trace, .arena = &store->arena };
	const char **texts = gp_arena_alloc(&store->arena, trace->text_count,
					    sizeof(*texts));

	n.roles = gp_arena_alloc(&store->arena, trace->text_count, 1);
	find_roles(&n);
	for (size_t i = 0; i < trace->text_count; i++)
		texts[i] = name_text(&n, i);
	gp_intern_release(&n.stems);
	store->trace = *trace;
	store->trace.memory = store;
	store->trace.texts = texts;
	store->trace.source = "gpupool-trace";
	return &store->trace;
}
