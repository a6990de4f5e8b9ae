/* SPDX-License-Identifier: MIT */
/* What a what-if works with: messages, steps, lifetimes, selected blocks. */
#include "study/what_if/scene.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "trace/site.h"

enum gp_status scene_usage(const struct scene *scene, const char *what)
{
	const struct gp_what_if *asked = &scene->note->asked;

	gp_diag_file(scene->diag, "what if");
	if (!*scene->diag->hint)
		gp_diag_hint(scene->diag, "see: gpupool help what-if");
	return gp_diag_set(scene->diag, GP_USAGE, "--%s%s%s: %s",
			   asked->row->name, asked->argument ? " " : "",
			   asked->argument ? asked->argument : "", what);
}

void scene_note(struct scene *scene, uint64_t count, const char *noun,
		const char *rest, ...)
{
	struct gp_what_if_note *note = scene->note;
	va_list args;
	int n;

	note->changes = count;
	n = snprintf(note->text, sizeof(note->text), "%s %s%s ",
		     GP_COUNT(count), noun, count == 1 ? "" : "s");
	va_start(args, rest);
	vsnprintf(note->text + n, sizeof(note->text) - (size_t)n, rest, args);
	va_end(args);
}

void scene_steps(const struct scene *scene, uint32_t device,
		 struct gp_steps *steps)
{
	const struct gp_draft_device *draft = &scene->draft->devices[device];
	struct gp_trace trace = *scene->config->trace;
	struct gp_device_trace d = trace.devices[device];

	d.events = draft->events;
	d.event_count = draft->event_count;
	d.block_ids = draft->block_ids;
	trace.devices = &d;
	gp_steps_find(&trace, 0, steps);
}

/* ---- lifetimes ---- */

uint32_t scene_pools_in_use(const struct gp_event *event, uint32_t in_use)
{
	switch (event->kind) {
	case GP_POOL_BEGIN:
	case GP_CAPTURE_BEGIN: return in_use + 1;
	case GP_POOL_END:
	case GP_CAPTURE_END: return in_use - (in_use > 0);
	default: return in_use;
	}
}

struct lifetime *lifetimes_of(const struct gp_draft_device *device)
{
	struct lifetime *lifetimes =
		gp_mem_alloc(device->block_ids, sizeof(*lifetimes));
	uint32_t in_use = 0;

	for (uint32_t id = 0; id < device->block_ids; id++)
		lifetimes[id] = (struct lifetime){
			.freed = LIFETIME_NO_END,
			.is_plain = true,
		};
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].id != GP_NO_ID)
			lifetimes[device->blocks[i].id].size =
				device->blocks[i].requested;
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];
		struct lifetime *lifetime;

		in_use = scene_pools_in_use(event, in_use);
		if (!gp_draft_has_block(event))
			continue;
		lifetime = &lifetimes[event->id];
		if (event->kind == GP_ALLOC) {
			lifetime->size = event->size;
			lifetime->is_private = event->pool || in_use;
		} else if (event->kind == GP_FREE) {
			lifetime->freed = i;
		} else {
			lifetime->is_plain = false;
		}
	}
	return lifetimes;
}

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

/* ---- selecting blocks by site ---- */

bool scene_text_has(const char *text, const char *pattern)
{
	size_t length = strlen(pattern);

	for (const char *at = strstr(text, pattern); at;
	     at = strstr(at + 1, pattern)) {
		bool cuts_first = at > text && isdigit((unsigned char)*at) &&
				  isdigit((unsigned char)at[-1]);
		bool cuts_last = isdigit((unsigned char)at[length - 1]) &&
				 isdigit((unsigned char)at[length]);

		if (!cuts_first && !cuts_last)
			return true;
	}
	return false;
}

/* Finds a site by its name in reports, with its operation: selects the sites
 * that reports show under that name. */
static bool find_named(struct which *which, const char *name)
{
	const struct gp_trace *trace = which->trace;
	uint32_t *shown = gp_sites_shown(trace);
	struct gp_site_known *known = gp_sites_known(trace);
	char text[GP_SITE_TEXT];
	bool is_found = false;

	/* shown[i] <= i: the first site with a name precedes the others. */
	for (uint32_t i = 0; i < trace->site_count; i++) {
		which->sites[i] =
			shown[i] == i ? !strcmp(gp_site_known_text(trace, known,
								   i, text),
						name)
				      : which->sites[shown[i]];
		is_found |= which->sites[i];
	}
	free(known);
	free(shown);
	return is_found;
}

/* Otherwise selects the sites with any matching frame in their stack. Callers
 * precede callees. */
static void find_sites(struct which *which, const char *pattern)
{
	const struct gp_trace *trace = which->trace;

	which->by = WHICH_SITE;
	which->sites = gp_mem_alloc(trace->site_count, sizeof(*which->sites));
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

/* ---- selecting blocks by number ---- */

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
		return scene_usage(scene, "it needs to be told which blocks");
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

/* ---- the selected blocks ---- */

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
	bool *of = gp_mem_alloc(block_ids, sizeof(*of));

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
	marked->of = gp_mem_alloc(marked->devices, sizeof(*marked->of));
	for (size_t d = 0; d < marked->devices; d++)
		marked->of[d] =
			mark_device(&which, &which.trace->devices[d],
				    scene->draft->devices[d].block_ids, marked);
	if (!marked->blocks) {
		if (which.by == WHICH_SITE && !which.trace->site_count)
			gp_diag_hint(scene->diag,
				     "the trace has no stacks: name blocks by "
				     "size:, event:, addr: or id:");
		status = scene_usage(scene, "no block of the trace matches");
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
