/* SPDX-License-Identifier: MIT */
/* Views of a run, for programs and for the page. */
#include <stdlib.h>

#include "base/mem.h"
#include "report/emit.h"
#include "report/group.h"
#include "report/object.h"
#include "report/view.h"

#define MOST_OOMS 1000
#define MOST_PINS 200

/* ---- what all views begin with ---- */

static void emit_moment_known(struct gp_emit *json, const char *key,
			      const struct gp_moment *moment)
{
	gp_emit_open(json, key, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "event", moment->event);
	gp_emit_uint(json, "reserved_bytes", moment->reserved);
	gp_emit_uint(json, "allocated_bytes", moment->allocated);
	gp_emit_close(json, '}');
}

static struct gp_emit begin(const struct gp_view *view, FILE *out)
{
	const struct gp_replay_result *result = view->result;
	struct gp_emit json = gp_emit_begin(GP_VIEW_SCHEMA, out);

	gp_emit_trace_path(&json, view->path, view->trace);
	gp_emit_uint(&json, "device",
		     view->trace->devices[view->device].device);
	gp_emit_open(&json, "devices", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < view->trace->device_count; i++)
		gp_emit_uint(&json, NULL, view->trace->devices[i].device);
	gp_emit_close(&json, ']');
	gp_emit_uint(&json, "events",
		     view->trace->devices[view->device].event_count);
	emit_moment_known(&json, "peak", &result->at_peak);
	gp_emit_open(&json, "ooms", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < result->ooms.count && i < MOST_OOMS; i++)
		gp_emit_uint(&json, NULL, result->ooms.events[i]);
	gp_emit_close(&json, ']');
	return json;
}

static void emit_event(struct gp_emit *json, const char *key, uint64_t event)
{
	if (event == GP_LIFE_NO_END)
		gp_emit_null(json, key);
	else
		gp_emit_uint(json, key, event);
}

/* ---- groups: what bands and blocks are coloured by ---- */

/* The groups that have a block, numbered by their first appearance. */
struct groups {
	uint32_t *number;  /* by culprit, its number + 1; 0: none yet */
	uint32_t *culprit; /* by number */
	size_t count;
};

static void groups_init(struct groups *groups, const struct askers *askers)
{
	*groups = (struct groups){
		.number = gp_mem_alloc(askers->culprit_count + 1,
				       sizeof(*groups->number)),
		.culprit = gp_mem_alloc(askers->culprit_count + 1,
					sizeof(*groups->culprit)),
	};
}

static void groups_release(struct groups *groups)
{
	free(groups->number);
	free(groups->culprit);
}

static uint32_t group_of(struct groups *groups, const struct askers *askers,
			 uint32_t id)
{
	uint32_t culprit = askers->list[id].culprit;

	if (!groups->number[culprit]) {
		groups->culprit[groups->count++] = culprit;
		groups->number[culprit] = (uint32_t)groups->count;
	}
	return groups->number[culprit] - 1;
}

static void emit_by(struct gp_emit *json, const struct gp_view *view)
{
	gp_emit_text(json, "by", gp_hold_by_names[view->askers->by]);
	gp_emit_open(json, "bys", '[', GP_EMIT_FLAT);
	for (int by = 0; by < GP_HOLD_BYS; by++)
		if (askers_can_be((enum gp_hold_by)by, view->trace))
			gp_emit_text(json, NULL, gp_hold_by_names[by]);
	gp_emit_close(json, ']');
}

static void emit_groups(struct gp_emit *json, const struct gp_view *view,
			const struct groups *groups)
{
	char text[GP_SITE_TEXT];

	emit_by(json, view);
	gp_emit_open(json, "groups", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < groups->count; i++) {
		uint32_t culprit = groups->culprit[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(json, "name",
			     gp_view_holder(view,
					    &view->askers->culprits[culprit],
					    text));
		gp_emit_uint(json, "rank", view->ranks[culprit]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

/* ---- bands ---- */

#define COLUMN_LIST(json, bands, key, member)                                  \
	do {                                                                   \
		gp_emit_open(json, key, '[', GP_EMIT_FLAT);                    \
		for (size_t i = 0; i < (bands)->column_count; i++)             \
			gp_emit_uint(json, NULL, (bands)->columns[i].member);  \
		gp_emit_close(json, ']');                                      \
	} while (0)

static void emit_columns(struct gp_emit *json, const struct gp_bands *bands)
{
	gp_emit_open(json, "columns", '{', GP_EMIT_LINES);
	COLUMN_LIST(json, bands, "from", from);
	COLUMN_LIST(json, bands, "event", moment);
	COLUMN_LIST(json, bands, "allocated_bytes", allocated);
	COLUMN_LIST(json, bands, "reserved_bytes", reserved);
	COLUMN_LIST(json, bands, "rest_bytes", rest);
	COLUMN_LIST(json, bands, "rest_blocks", rest_blocks);
	gp_emit_close(json, '}');
}

static void emit_band(struct gp_emit *json, const struct gp_view *view,
		      const struct gp_band *band, struct groups *groups)
{
	const struct gp_lifetime *lifetime =
		&view->lifetimes->list[band->lifetime];

	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "id", gp_view_id(view, lifetime->id));
	gp_emit_uint(json, "bytes", lifetime->size);
	gp_emit_uint(json, "first_column", band->first);
	gp_emit_uint(json, "last_column", band->last);
	emit_event(json, "alloc_event",
		   lifetime->is_start ? GP_LIFE_NO_END : lifetime->alloc);
	emit_event(json, "free_event", lifetime->freed);
	gp_emit_uint(json, "group",
		     group_of(groups, view->askers, lifetime->id));
	gp_emit_close(json, '}');
}

void gp_view_bands_json(const struct gp_view *view,
			const struct gp_bands *bands, FILE *out)
{
	struct gp_emit json = begin(view, out);
	struct groups groups;

	groups_init(&groups, view->askers);
	gp_emit_uint(&json, "from", bands->from);
	gp_emit_uint(&json, "to", bands->to);
	gp_emit_uint(&json, "blocks", bands->blocks);
	emit_columns(&json, bands);
	gp_emit_open(&json, "bands", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < bands->count; i++)
		emit_band(&json, view, &bands->list[i], &groups);
	gp_emit_close(&json, ']');
	emit_groups(&json, view, &groups);
	gp_emit_close(&json, '}');
	groups_release(&groups);
}

/* ---- holders ---- */

/* The moment, and the totals at it. */
static void emit_when(struct gp_emit *json, const struct gp_view *view,
		      const struct gp_view_moment *moment,
		      const struct gp_group *total)
{
	char text[GP_EVENT_TEXT];

	gp_emit_uint(json, "event", moment->event);
	gp_emit_bool(json, "before", moment->is_before);
	gp_emit_text(json, "moment", moment->what);
	gp_emit_text(json, "when",
		     gp_event_words_in(view->trace, view->device, view->steps,
				       moment->event, text));
	gp_emit_uint(json, "reserved_bytes", total->reserved);
	gp_emit_uint(json, "allocated_bytes", total->allocated);
}

void gp_view_holders_json(const struct gp_view *view,
			  const struct gp_view_moment *moment,
			  const struct gp_state *state,
			  const struct gp_culprits *live, FILE *out)
{
	bool is_by_site = view->askers->by == GP_HOLD_BY_SITE;
	struct gp_group total = gp_group_total(state);
	struct gp_emit json = begin(view, out);
	char text[GP_SITE_TEXT];

	emit_when(&json, view, moment, &total);
	emit_by(&json, view);
	gp_emit_open(&json, "holders", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < live->count; i++) {
		const struct gp_culprit *c = &live->list[i];

		gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(&json, "name", gp_view_holder(view, c, text));
		gp_emit_uint(&json, "rank", view->ranks[c->index]);
		gp_emit_keys(&json, "holder", c);
		gp_emit_sites(&json, view->trace,
			      is_by_site ? c->site : GP_NO_SITE);
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}

/* ---- events ---- */

static void emit_row(struct gp_emit *json, const struct gp_view *view,
		     uint64_t at)
{
	const struct gp_trace *trace = view->trace;
	const struct gp_event *e = &trace->devices[view->device].events[at];
	uint8_t fields = gp_event_fields((enum gp_event_kind)e->kind);
	bool has_id = fields & GP_HAS_ID && e->id != GP_NO_ID;
	uint32_t site =
		e->site == GP_NO_SITE && has_id ? view->sites[e->id] : e->site;
	char text[GP_SITE_TEXT];

	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "event", at);
	gp_emit_text(json, "op", gp_event_kind_name(e->kind));
	if (gp_view_is_refused(view, at))
		gp_emit_bool(json, "refused", true);
	if (has_id)
		gp_emit_uint(json, "id", gp_view_id(view, e->id));
	if (fields & GP_HAS_SIZE)
		gp_emit_uint(json, "bytes", e->size);
	if (fields & GP_HAS_STREAM && e->stream < trace->stream_count)
		gp_emit_uint(json, "stream", trace->streams[e->stream]);
	if (fields & GP_HAS_POOL && e->pool)
		gp_emit_pool(json, "pool", trace->pools[e->pool]);
	if (fields & GP_HAS_TEXT)
		gp_emit_text(json, "text", trace->texts[e->text]);
	if (e->time_us)
		gp_emit_uint(json, "time_us", e->time_us);
	if (site != GP_NO_SITE)
		gp_emit_text(
			json, "site_name",
			gp_site_known_text(trace, view->known, site, text));
	gp_emit_uint(json, "allocated_bytes", view->lifetimes->allocated[at]);
	gp_emit_uint(json, "reserved_bytes", view->lifetimes->reserved[at]);
	gp_emit_close(json, '}');
}

void gp_view_events_json(const struct gp_view *view,
			 const struct gp_event_search *search,
			 const struct gp_event_rows *rows, FILE *out)
{
	struct gp_emit json = begin(view, out);

	gp_emit_uint(&json, "found", rows->found);
	gp_emit_uint(&json, "row", search->row);
	gp_emit_open(&json, "rows", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < rows->count; i++)
		emit_row(&json, view, rows->events[i]);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}

/* ---- segments and blocks ---- */

static void emit_block_lists(struct gp_emit *json, const struct gp_view *view,
			     const struct gp_state *state,
			     const struct gp_segment *segment,
			     struct groups *groups)
{
	static const char *const states[] = {
		[GP_INACTIVE] = "free",
		[GP_ACTIVE] = "allocated",
		[GP_PENDING_FREE] = "pending_free",
	};

	gp_emit_open(json, "blocks", '[', GP_EMIT_FLAT);
	for (uint32_t i = 0; i < segment->blocks; i++) {
		const struct gp_block *b =
			&state->blocks[segment->first_block + i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "offset", b->addr - segment->addr);
		gp_emit_uint(json, "bytes", b->size);
		gp_emit_text(json, "state", states[b->state]);
		if (b->state != GP_INACTIVE && b->id != GP_NO_ID) {
			gp_emit_uint(json, "id", gp_view_id(view, b->id));
			gp_emit_uint(json, "group",
				     group_of(groups, view->askers, b->id));
		}
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void emit_segment(struct gp_emit *json, const struct gp_view *view,
			 const struct gp_state *state, size_t index,
			 struct groups *groups)
{
	const struct gp_segment *s = &state->segments[index];
	struct gp_state alone = { s, state->blocks, 1, state->block_count };
	struct gp_group sum = gp_group_total(&alone);

	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "address", s->addr);
	gp_emit_uint(json, "bytes", s->size);
	gp_emit_uint(json, "stream", view->trace->streams[s->stream]);
	gp_emit_pool(json, "pool", view->trace->pools[s->pool]);
	gp_emit_bool(json, "small", s->is_small);
	gp_emit_bool(json, "expandable", s->is_expandable);
	gp_emit_uint(json, "allocated_bytes", sum.allocated);
	gp_emit_uint(json, "free_bytes", s->size - sum.active);
	gp_emit_uint(json, "largest_free_bytes", sum.largest_free);
	emit_block_lists(json, view, state, s, groups);
	gp_emit_close(json, '}');
}

static void emit_pin(struct gp_emit *json, const struct gp_view *view,
		     const struct gp_pins *pins, const struct gp_unit *unit)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "address", unit->addr);
	gp_emit_uint(json, "bytes", unit->size);
	gp_emit_uint(json, "free_bytes", unit->free);
	gp_emit_open(json, "ids", '[', GP_EMIT_FLAT);
	for (uint32_t k = 0; k < unit->holders && k < MOST_PINS; k++)
		gp_emit_uint(
			json, NULL,
			gp_view_id(view,
				   pins->holders[unit->first_holder + k].id));
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

static void emit_pins(struct gp_emit *json, const struct gp_view *view,
		      const struct gp_state *state)
{
	struct gp_pins pins;

	gp_pins_of(view->settings, state, &pins);
	gp_emit_open(json, "pins", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < pins.unit_count && i < MOST_PINS; i++)
		emit_pin(json, view, &pins, &pins.units[i]);
	gp_emit_close(json, ']');
	gp_pins_release(&pins);
}

void gp_view_state_json(const struct gp_view *view,
			const struct gp_view_moment *moment,
			const struct gp_state *state, FILE *out)
{
	struct gp_group total = gp_group_total(state);
	struct gp_emit json = begin(view, out);
	struct groups groups;

	groups_init(&groups, view->askers);
	emit_when(&json, view, moment, &total);
	gp_emit_open(&json, "segments", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < state->segment_count; i++)
		emit_segment(&json, view, state, i, &groups);
	gp_emit_close(&json, ']');
	emit_pins(&json, view, state);
	emit_groups(&json, view, &groups);
	gp_emit_close(&json, '}');
	groups_release(&groups);
}

/* ---- one block ---- */

/* The segment that the block was allocated in. */
static void emit_home(struct gp_emit *json, const struct gp_view *view,
		      const struct gp_lifetime *lifetime)
{
	const struct gp_view_moment moment = { .event = lifetime->alloc,
					       .is_before =
						       lifetime->is_start };
	struct gp_state state;
	size_t i = 0;

	gp_view_state_at(view, &moment, &state);
	while (i < state.segment_count &&
	       lifetime->addr - state.segments[i].addr >=
		       state.segments[i].size)
		i++;
	if (i < state.segment_count) {
		gp_emit_open(json, "segment", '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "address", state.segments[i].addr);
		gp_emit_uint(json, "bytes", state.segments[i].size);
		gp_emit_bool(json, "small", state.segments[i].is_small);
		gp_emit_bool(json, "expandable",
			     state.segments[i].is_expandable);
		gp_emit_close(json, '}');
	} else {
		gp_emit_null(json, "segment");
	}
	gp_state_release(&state);
}

void gp_view_block_json(const struct gp_view *view,
			const struct gp_lifetime *lifetime, FILE *out)
{
	struct gp_emit json = begin(view, out);

	gp_emit_uint(&json, "id", gp_view_id(view, lifetime->id));
	gp_emit_uint(&json, "address", lifetime->addr);
	gp_emit_uint(&json, "bytes", lifetime->size);
	gp_emit_uint(&json, "requested_bytes", lifetime->requested);
	emit_event(&json, "alloc_event",
		   lifetime->is_start ? GP_LIFE_NO_END : lifetime->alloc);
	emit_event(&json, "free_event", lifetime->freed);
	emit_event(&json, "free_completed_event", lifetime->gone);
	gp_emit_uint(&json, "stream", view->trace->streams[lifetime->stream]);
	gp_emit_pool(&json, "pool", view->trace->pools[lifetime->pool]);
	emit_home(&json, view, lifetime);
	gp_emit_site(&json, view->trace, lifetime->site);
	gp_emit_close(&json, '}');
}
