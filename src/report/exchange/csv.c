/* SPDX-License-Identifier: MIT */
/* A run as a table: one row for each request. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/exchange/exchange.h"
#include "trace/site.h"

struct csv {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	FILE *out;
	uint64_t addr; /* that the current alloc got, or 0 */
	uint64_t ooms; /* so far */
	struct gp_site_known *known;
};

static void *begin(const struct gp_exchange_config *config)
{
	struct csv *csv = gp_mem_alloc(1, sizeof(*csv));

	csv->trace = config->trace;
	csv->out = config->out;
	csv->known = gp_sites_known(config->trace);
	fputs("device,event,time_us,op,id,size,stream,pool,addr,reserved,"
	      "allocated,active,requested,inactive_split,largest_free,segments,"
	      "ooms,site\n",
	      csv->out);
	return csv;
}

static void begin_device(void *state, uint32_t device)
{
	struct csv *csv = state;

	csv->device = &csv->trace->devices[device];
	csv->ooms = 0;
}

static void add_action(void *state, const struct gp_action *action,
		       uint64_t event)
{
	struct csv *csv = state;

	(void)event;
	if (action->kind == GP_ALLOC)
		csv->addr = action->addr;
	csv->ooms += action->kind == GP_OOM;
}

/* A number, or an empty field. */
static void put(FILE *out, uint64_t value, bool is_there)
{
	if (is_there)
		fprintf(out, "%" PRIu64, value);
	putc(',', out);
}

static void put_pool(const struct csv *csv, const struct gp_event *event,
		     bool is_there)
{
	const struct gp_pool_id *id = &csv->trace->pools[event->pool];

	if (is_there)
		fprintf(csv->out, "%" PRIu64 "/%" PRIu64, id->first,
			id->second);
	putc(',', csv->out);
}

static void put_request(const struct csv *csv, const struct gp_event *event)
{
	uint8_t fields = gp_event_fields((enum gp_event_kind)event->kind);
	const uint64_t *names = csv->device->names;
	bool has_id = fields & GP_HAS_ID && event->id != GP_NO_ID;
	bool has_stream = fields & GP_HAS_STREAM &&
			  event->stream < csv->trace->stream_count;

	fprintf(csv->out, "%s,",
		gp_event_kind_name((enum gp_event_kind)event->kind));
	put(csv->out,
	    !has_id ? 0
	    : names ? names[event->id]
		    : event->id,
	    has_id);
	put(csv->out, event->size, fields & GP_HAS_SIZE);
	put(csv->out, has_stream ? csv->trace->streams[event->stream] : 0,
	    has_stream);
	put_pool(csv, event, fields & GP_HAS_POOL);
}

static void put_level(const struct csv *csv,
		      const struct gp_allocator *allocator, enum gp_stat_id id)
{
	put(csv->out, (uint64_t)gp_level_now(&allocator->levels[id]), true);
}

static void put_memory(const struct csv *csv, struct gp_allocator *allocator)
{
	uint64_t (*largest)(struct gp_allocator *) =
		allocator->ops->largest_free;

	put_level(csv, allocator, GP_STAT_RESERVED_BYTES);
	put_level(csv, allocator, GP_STAT_ALLOCATED_BYTES);
	put_level(csv, allocator, GP_STAT_ACTIVE_BYTES);
	put_level(csv, allocator, GP_STAT_REQUESTED_BYTES);
	put_level(csv, allocator, GP_STAT_INACTIVE_SPLIT_BYTES);
	put(csv->out, largest ? largest(allocator) : 0, largest != NULL);
	put_level(csv, allocator, GP_STAT_SEGMENT);
	put(csv->out, csv->ooms, true);
}

/* Called after each event; recorded outcomes are skipped. */
static void look(void *state, struct gp_allocator *allocator, uint64_t event)
{
	struct csv *csv = state;
	const struct gp_event *e = &csv->device->events[event];
	const struct gp_trace *t = csv->trace;
	char site[GP_SITE_TEXT];

	if (e->kind >= GP_FIRST_OUTCOME)
		return;
	fprintf(csv->out, "%" PRIu32 ",%" PRIu64 ",", csv->device->device,
		event);
	put(csv->out, e->time_us, e->time_us != 0);
	put_request(csv, e);
	put(csv->out, csv->addr, csv->addr != 0);
	put_memory(csv, allocator);
	if (e->site != GP_NO_SITE)
		gp_quote_csv_field(
			gp_site_known_text(t, csv->known, e->site, site),
			csv->out);
	putc('\n', csv->out);
	csv->addr = 0;
}

static void result(void *state, const struct gp_replay_result *result)
{
	(void)state;
	(void)result;
}

static void end(void *state)
{
	(void)state;
}

static void release(void *state)
{
	struct csv *csv = state;

	free(csv->known);
	free(csv);
}

const struct writer csv_writer = {
	.begin = begin,
	.device = begin_device,
	.action = add_action,
	.look = look,
	.result = result,
	.end = end,
	.release = release,
};
