/* SPDX-License-Identifier: MIT */
/* Selecting blocks. */
#include "study/what_if/which.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "trace/site.h"

struct which {
	const struct gp_trace *trace;
	enum {
		WHICH_ALL,
		WHICH_SITE,
		WHICH_SIZE,
		WHICH_EVENT,
		WHICH_ADDR,
		WHICH_ID
	} by;
	uint64_t from, to; /* inclusive */
	bool *sites;	   /* WHICH_SITE; owned; by site */
};

/* ---- by site ---- */

/* Finds a site by its name in reports, with its operation: selects the sites
 * that reports show under that name. */
static bool find_named(struct which *which, const char *name)
{
	const struct gp_trace *trace = which->trace;
	uint32_t *shown = gp_sites_shown(trace);
	char text[GP_SITE_TEXT];
	bool is_found = false;

	/* shown[i] <= i: the first site with a name precedes the others. */
	for (uint32_t i = 0; i < trace->site_count; i++) {
		which->sites[i] =
			shown[i] == i
				? !strcmp(gp_site_text(trace, i, text), name)
				: which->sites[shown[i]];
		is_found |= which->sites[i];
	}
	free(shown);
	return is_found;
}

/* Otherwise selects the sites with any matching frame in their stack. Callers
 * precede callees. */
static void find_sites(struct which *which, const char *pattern)
{
	const struct gp_trace *trace = which->trace;

	which->by = WHICH_SITE;
	which->sites =
		gp_mem_alloc(trace->site_count + 1, sizeof(*which->sites));
	if (find_named(which, pattern))
		return;
	for (size_t i = 0; i < trace->site_count; i++) {
		const struct gp_site *site = &trace->sites[i];

		which->sites[i] =
			(site->caller != GP_NO_SITE &&
			 which->sites[site->caller]) ||
			scene_text_has(trace->texts[site->text], pattern);
	}
}

/* ---- by number ---- */

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*number = strtoull(text, &end, 0);
	return !*end;
}

/* Parses "2MiB" or "1MiB..8MiB". */
static bool parse_sizes(const char *text, struct which *which)
{
	const char *dots = strstr(text, "..");
	char *first;
	bool ok;

	if (!dots) {
		ok = gp_bytes_parse(text, &which->from);
		which->to = which->from;
		return ok;
	}
	first = gp_mem_copy_text(text, (size_t)(dots - text));
	ok = gp_bytes_parse(first, &which->from) &&
	     gp_bytes_parse(dots + 2, &which->to) && which->from <= which->to;
	free(first);
	return ok;
}

static bool parse_one(const char *text, struct which *which)
{
	bool ok = parse_number(text, &which->from);

	which->to = which->from;
	return ok;
}

static enum gp_status parse(struct which *which, const struct scene *scene,
			    const char *text)
{
	*which = (struct which){ .trace = scene->config->trace };
	if (!*text)
		return scene_usage(scene, "it needs to know which blocks");
	if (!strcmp(text, "all"))
		return GP_OK;
	if (!strncmp(text, "size:", 5)) {
		which->by = WHICH_SIZE;
		if (!parse_sizes(text + 5, which))
			return scene_usage(scene, "not a size such as 2MiB, "
						  "or 1MiB..8MiB");
		return GP_OK;
	}
	which->by = !strncmp(text, "event:", 6)	 ? WHICH_EVENT
		    : !strncmp(text, "addr:", 5) ? WHICH_ADDR
		    : !strncmp(text, "id:", 3)	 ? WHICH_ID
						 : WHICH_SITE;
	if (which->by == WHICH_SITE)
		find_sites(which, text);
	else if (!parse_one(strchr(text, ':') + 1, which))
		return scene_usage(scene, "not a number");
	return GP_OK;
}

/* ---- blocks ---- */

struct traits {
	uint64_t size, event, addr, id;
	uint32_t site;
};

/* Whether reports show both sizes as the same text: they round, so 2.25MiB
 * selects what a report shows as 2.25 MiB. */
static bool reads_alike(uint64_t a, uint64_t b)
{
	char x[GP_BYTES_TEXT], y[GP_BYTES_TEXT];

	return (a > b ? a - b : b - a) <= b / 64 &&
	       !strcmp(gp_bytes_text(a, x), gp_bytes_text(b, y));
}

static bool is_meant(const struct which *which, const struct traits *t)
{
	uint64_t value = 0;

	switch (which->by) {
	case WHICH_ALL: return true;
	case WHICH_SITE: return t->site != GP_NO_SITE && which->sites[t->site];
	case WHICH_SIZE:
		value = t->size;
		if (reads_alike(value, which->from) ||
		    reads_alike(value, which->to))
			return true;
		break;
	case WHICH_EVENT: value = t->event; break;
	case WHICH_ADDR: value = t->addr; break;
	case WHICH_ID: value = t->id; break;
	}
	return value >= which->from && value <= which->to;
}

#define NO_EVENT UINT64_MAX

static void mark(const struct which *which,
		 const struct gp_device_trace *device, uint32_t id,
		 struct traits traits, struct marked *marked, bool *of)
{
	traits.id = device->names ? device->names[id] : id;
	if (!is_meant(which, &traits))
		return;
	of[id] = true;
	marked->blocks++;
	marked->bytes += traits.size;
}

static bool *mark_device(const struct which *which,
			 const struct gp_device_trace *device, size_t block_ids,
			 struct marked *marked)
{
	bool *of = gp_mem_alloc(block_ids + 1, sizeof(*of));

	for (size_t i = 0; i < device->start.block_count; i++) {
		const struct gp_block *b = &device->start.blocks[i];

		if (b->id != GP_NO_ID)
			mark(which, device, b->id,
			     (struct traits){ b->requested, NO_EVENT, b->addr,
					      0, b->site },
			     marked, of);
	}
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *e = &device->events[i];

		if (e->kind == GP_ALLOC)
			mark(which, device, e->id,
			     (struct traits){ e->size, i, e->addr, 0, e->site },
			     marked, of);
	}
	return of;
}

enum gp_status which_mark(const struct scene *scene, const char *text,
			  struct marked *marked)
{
	struct which which;
	enum gp_status status = parse(&which, scene, text);

	*marked = (struct marked){ .devices =
					   scene->config->trace->device_count };
	if (status != GP_OK)
		return status;
	marked->of = gp_mem_alloc(marked->devices + 1, sizeof(*marked->of));
	for (size_t d = 0; d < marked->devices; d++)
		marked->of[d] =
			mark_device(&which, &which.trace->devices[d],
				    scene->draft->devices[d].block_ids, marked);
	if (!marked->blocks) {
		if (which.by == WHICH_SITE && !which.trace->site_count)
			gp_diag_hint(scene->diag,
				     "the trace has no stacks: name blocks by "
				     "size:, event:, addr: or id:");
		status = scene_usage(scene, "no block of the trace is meant");
		marked_release(marked);
	}
	free(which.sites);
	return status;
}

void marked_release(struct marked *marked)
{
	for (size_t i = 0; marked->of && i < marked->devices; i++)
		free(marked->of[i]);
	free(marked->of);
	*marked = (struct marked){ 0 };
}
