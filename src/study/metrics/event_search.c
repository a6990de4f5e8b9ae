/* SPDX-License-Identifier: MIT */
/* Searching the events of a device. */
#include "study/metrics/event_search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"

uint32_t *gp_alloc_sites(const struct gp_device_trace *device)
{
	uint32_t *sites = gp_mem_alloc(device->block_ids, sizeof(*sites));

	for (size_t i = 0; i < device->block_ids; i++)
		sites[i] = GP_NO_SITE;
	for (size_t i = 0; i < device->start.block_count; i++)
		if (device->start.blocks[i].id != GP_NO_ID)
			sites[device->start.blocks[i].id] =
				device->start.blocks[i].site;
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_ALLOC)
			sites[device->events[i].id] = device->events[i].site;
	return sites;
}

/* ---- names ---- */

static bool begins(const char *text, const char *with)
{
	for (; *with; text++, with++)
		if (tolower((unsigned char)*text) !=
		    tolower((unsigned char)*with))
			return false;
	return true;
}

static bool contains(const char *text, const char *part)
{
	for (; *text; text++)
		if (begins(text, part))
			return true;
	return !*part;
}

/* By site, whether any frame of its stack contains the text; callers precede
 * callees. */
static bool *sites_with(const struct gp_trace *trace, const char *part)
{
	bool *texts = gp_mem_alloc(trace->text_count, sizeof(*texts));
	bool *sites = gp_mem_alloc(trace->site_count, sizeof(*sites));

	for (size_t i = 0; i < trace->text_count; i++)
		texts[i] = contains(trace->texts[i], part);
	for (size_t i = 0; i < trace->site_count; i++) {
		const struct gp_site *site = &trace->sites[i];

		sites[i] = texts[site->text] ||
			   (site->caller != GP_NO_SITE && sites[site->caller]);
	}
	free(texts);
	return sites;
}

/* ---- one event ---- */

struct seeker {
	const struct gp_trace *trace;
	const struct gp_event_search *search;
	bool *sites;		/* NULL: any text matches */
	const uint32_t *allocs; /* by id: site of the alloc */
};

static bool is_from(const struct seeker *s, const struct gp_event *event,
		    uint8_t fields)
{
	uint32_t alloc = fields & GP_HAS_ID && event->id != GP_NO_ID
				 ? s->allocs[event->id]
				 : GP_NO_SITE;

	if (event->site != GP_NO_SITE && s->sites[event->site])
		return true;
	if (fields & GP_HAS_TEXT &&
	    contains(s->trace->texts[event->text], s->search->text))
		return true;
	return alloc != GP_NO_SITE && s->sites[alloc];
}

static bool is_found(const struct seeker *s, const struct gp_event *event)
{
	const struct gp_event_search *search = s->search;
	uint8_t fields = gp_event_fields((enum gp_event_kind)event->kind);

	if (search->kinds && !(search->kinds >> event->kind & 1))
		return false;
	if (search->id != GP_NO_ID &&
	    (!(fields & GP_HAS_ID) || event->id != search->id))
		return false;
	if (search->stream != GP_NO_STREAM &&
	    (!(fields & GP_HAS_STREAM) || event->stream != search->stream))
		return false;
	if ((search->least || search->most) &&
	    (!(fields & GP_HAS_SIZE) || event->size < search->least ||
	     (search->most && event->size > search->most)))
		return false;
	return !s->sites || is_from(s, event, fields);
}

void gp_event_search(const struct gp_trace *trace, uint32_t device,
		     const struct gp_event_search *search,
		     const uint32_t *sites, struct gp_event_rows *rows)
{
	const struct gp_device_trace *d = &trace->devices[device];
	struct seeker seeker = { .trace = trace,
				 .search = search,
				 .allocs = sites };
	uint64_t to = search->to ? gp_smaller(search->to, d->event_count)
				 : d->event_count;
	size_t room = gp_smaller(search->rows, d->event_count);

	if (search->text && *search->text)
		seeker.sites = sites_with(trace, search->text);
	*rows = (struct gp_event_rows){
		.events = gp_mem_alloc(room, sizeof(*rows->events)),
	};
	for (uint64_t i = search->from; i < to; i++) {
		if (!is_found(&seeker, &d->events[i]))
			continue;
		if (rows->found++ >= search->row && rows->count < room)
			rows->events[rows->count++] = i;
	}
	free(seeker.sites);
}

void gp_event_rows_release(struct gp_event_rows *rows)
{
	free(rows->events);
}
