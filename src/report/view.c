/* SPDX-License-Identifier: MIT */
/* Views of a run, as tables. */
#include "report/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/safe.h"
#include "study/metrics/page.h"
#include "report/group.h"
#include "report/holders.h"
#include "report/page.h"

const char *const gp_hold_by_names[GP_HOLD_BYS] = {
	[GP_HOLD_BY_SITE] = "site",	    [GP_HOLD_BY_SIZE] = "size",
	[GP_HOLD_BY_STREAM] = "stream",	    [GP_HOLD_BY_POOL] = "pool",
	[GP_HOLD_BY_CATEGORY] = "category", [GP_HOLD_BY_MODULE] = "module",
};

/* ---- what the parts share ---- */

static void copy_start(const struct gp_view *view, struct gp_state *state)
{
	const struct gp_state *start =
		&view->trace->devices[view->device].start;
	struct gp_segment *segments =
		gp_mem_alloc(start->segment_count + 1, sizeof(*segments));
	struct gp_block *blocks =
		gp_mem_alloc(start->block_count + 1, sizeof(*blocks));

	if (start->segment_count)
		memcpy(segments, start->segments,
		       start->segment_count * sizeof(*segments));
	if (start->block_count)
		memcpy(blocks, start->blocks,
		       start->block_count * sizeof(*blocks));
	*state = (struct gp_state){ segments, blocks, start->segment_count,
				    start->block_count };
}

void gp_view_state_at(const struct gp_view *view,
		      const struct gp_view_moment *moment,
		      struct gp_state *state)
{
	if (moment->is_before && !moment->event)
		copy_start(view, state);
	else
		gp_film_state(view->film, moment->event - moment->is_before,
			      state);
}

static void size_range(const struct gp_culprit *c, char text[GP_SITE_TEXT])
{
	char least[GP_BYTES_TEXT], most[GP_BYTES_TEXT];
	unsigned class = size_class(c->most);

	gp_bytes_text(c->most ? UINT64_C(1) << class : 0, least);
	gp_bytes_text(class < 63 ? UINT64_C(2) << class : UINT64_MAX, most);
	snprintf(text, GP_SITE_TEXT, "%s up to %s", least, most);
}

const char *gp_view_holder(const struct gp_view *view,
			   const struct gp_culprit *c, char text[GP_SITE_TEXT])
{
	char label[GP_GROUP_LABEL];

	switch (view->askers->by) {
	case GP_HOLD_BY_SIZE: size_range(c, text); return text;
	case GP_HOLD_BY_STREAM:
		gp_group_label(view->trace, GP_BY_STREAM, c->stream, label);
		break;
	case GP_HOLD_BY_POOL:
		gp_group_label(view->trace, GP_BY_POOL, c->pool, label);
		break;
	case GP_HOLD_BY_CATEGORY: return gp_category_words(c->owner.category);
	case GP_HOLD_BY_MODULE:
		return gp_module_words(view->trace, &c->owner, text);
	default:
		if (*gp_site_known_text(view->trace, view->known, c->site,
					text))
			return text;
		snprintf(label, sizeof(label), "%s each, from no known line",
			 GP_BYTES(c->most));
	}
	snprintf(text, GP_SITE_TEXT, "%s", label);
	return text;
}

uint64_t gp_view_id(const struct gp_view *view, uint32_t id)
{
	const uint64_t *names = view->trace->devices[view->device].names;

	return names ? names[id] : id;
}

/* ---- tables ---- */

#define COLUMN(text, csv, wide)                                                \
	{                                                                      \
		.title = { [GP_TABLE_TEXT] = text, [GP_TABLE_CSV] = csv },     \
		.width = wide                                                  \
	}
#define ONLY_CSV(csv)                                                          \
	{                                                                      \
		.title = { [GP_TABLE_CSV] = csv }                              \
	}

static struct gp_cell number(enum gp_cell_kind kind, uint64_t value)
{
	return (struct gp_cell){ .kind = kind, .number = value };
}

static struct gp_cell text_cell(const char *text)
{
	return (struct gp_cell){ .kind = *text ? GP_CELL_TEXT : GP_CELL_NONE,
				 .text = text };
}

/* A name from the trace, made safe; for a person also without colour codes,
 * which reports for a terminal may contain. */
#define SAFE_TEXT 512
static struct gp_cell name_cell(const struct gp_table *table, const char *name,
				char safe[SAFE_TEXT])
{
	return text_cell(table->format == GP_TABLE_CSV
				 ? name
				 : gp_safe_text(name, safe, SAFE_TEXT));
}

/* An event, or an empty cell. */
static struct gp_cell event_cell(uint64_t event)
{
	if (event == GP_LIFE_NO_END)
		return (struct gp_cell){ .kind = GP_CELL_NONE };
	return number(GP_CELL_COUNT, event);
}

static struct gp_table table_of(const struct gp_view_style *style,
				const struct gp_column *columns, size_t count)
{
	return (struct gp_table){ .format = style->format == GP_VIEW_CSV
						    ? GP_TABLE_CSV
						    : GP_TABLE_TEXT,
				  .columns = columns,
				  .count = count,
				  .out = style->out };
}

/* The title above a table, in text. */
static void title(const struct gp_view_style *style, const char *words)
{
	struct gp_page page = gp_page_make(style->report, style->out);

	if (style->format == GP_VIEW_CSV)
		return;
	gp_page_line(&page, GP_TONE_TITLE, 0, "%s", words);
	gp_page_blank(&page);
}

#define TITLE 640

/* ---- bands ---- */

enum { B_BYTES, B_REQUESTED, B_ALLOC, B_FREE, B_ID, B_STREAM, B_SITE, B_COUNT };

static const struct gp_column band_columns[B_COUNT] = {
	[B_BYTES] = COLUMN("bytes", "bytes", 11),
	[B_REQUESTED] = ONLY_CSV("requested_bytes"),
	[B_ALLOC] = COLUMN("from event", "alloc_event", 12),
	[B_FREE] = COLUMN("to event", "free_event", 12),
	[B_ID] = COLUMN("block", "id", 12),
	[B_STREAM] = ONLY_CSV("stream"),
	[B_SITE] = COLUMN("held by", "held_by", 0),
};

static void band_row(const struct gp_view *view, const struct gp_table *table,
		     const struct gp_lifetime *lifetime)
{
	const struct askers *askers = view->askers;
	const struct gp_culprit *culprit =
		&askers->culprits[askers->list[lifetime->id].culprit];
	char text[GP_SITE_TEXT], safe[SAFE_TEXT];
	struct gp_cell cells[B_COUNT] = {
		[B_BYTES] = number(GP_CELL_BYTES, lifetime->size),
		[B_REQUESTED] = number(GP_CELL_BYTES, lifetime->requested),
		[B_ALLOC] = event_cell(lifetime->is_start ? GP_LIFE_NO_END
							  : lifetime->alloc),
		[B_FREE] = event_cell(lifetime->freed),
		[B_ID] = number(GP_CELL_COUNT, gp_view_id(view, lifetime->id)),
		[B_STREAM] = number(GP_CELL_COUNT,
				    view->trace->streams[lifetime->stream]),
		[B_SITE] = name_cell(table, gp_view_holder(view, culprit, text),
				     safe),
	};

	gp_table_row(table, cells);
}

/* Sorts bands by size, the largest first. */
struct ordered {
	uint64_t size;
	uint32_t lifetime;
};

static int by_size(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->lifetime < y->lifetime ? -1 : x->lifetime > y->lifetime;
}

static void band_rows(const struct gp_view *view, const struct gp_bands *bands,
		      const struct gp_table *table)
{
	struct ordered *order = gp_mem_alloc(bands->count + 1, sizeof(*order));

	for (size_t i = 0; i < bands->count; i++)
		order[i] = (struct ordered){
			view->lifetimes->list[bands->list[i].lifetime].size,
			bands->list[i].lifetime
		};
	if (bands->count)
		qsort(order, bands->count, sizeof(*order), by_size);
	for (size_t i = 0; i < bands->count; i++)
		band_row(view, table,
			 &view->lifetimes->list[order[i].lifetime]);
	free(order);
}

static void bands_title(const struct gp_bands *bands,
			const struct gp_view_style *style)
{
	char words[TITLE];

	snprintf(words, sizeof(words),
		 "Events %s to %s: %s of %s, those that take most of the "
		 "picture",
		 GP_COUNT(bands->from), GP_COUNT(bands->to - 1),
		 GP_COUNT(bands->count), GP_PLURAL(bands->blocks, "block"));
	title(style, words);
}

void gp_view_bands(const struct gp_view *view,
		   const struct gp_bands_window *window,
		   const struct gp_view_style *style)
{
	struct gp_table table = table_of(style, band_columns, B_COUNT);
	struct gp_bands bands;

	gp_bands_init(&bands, view->lifetimes, window);
	if (style->format == GP_VIEW_JSON) {
		gp_view_bands_json(view, &bands, style->out);
	} else {
		bands_title(&bands, style);
		gp_table_begin(&table, "bands");
		band_rows(view, &bands, &table);
		gp_table_end(&table);
	}
	gp_bands_release(&bands);
}

/* ---- holders ---- */

enum { H_BYTES, H_SHARE, H_BLOCKS, H_LEAST, H_MOST, H_AGE, H_NAME, H_COUNT };

static const struct gp_column holder_columns[H_COUNT] = {
	[H_BYTES] = COLUMN("bytes", "bytes", 11),
	[H_SHARE] = { .title = { "share" }, .width = 8 },
	[H_BLOCKS] = COLUMN("blocks", "blocks", 9),
	[H_LEAST] = COLUMN("smallest", "smallest_bytes", 11),
	[H_MOST] = COLUMN("largest", "largest_bytes", 11),
	[H_AGE] = ONLY_CSV("oldest_events"),
	[H_NAME] = COLUMN("held by", "held_by", 0),
};

static void holder_row(const struct gp_table *table, uint64_t allocated,
		       const struct gp_culprit *c, const char *name)
{
	char share[GP_PERCENT_TEXT], safe[SAFE_TEXT];
	struct gp_cell cells[H_COUNT] = {
		[H_BYTES] = number(GP_CELL_BYTES, c->bytes),
		[H_SHARE] = text_cell(gp_percent_text(
			(double)c->bytes / (double)allocated, share)),
		[H_BLOCKS] = number(GP_CELL_COUNT, c->blocks),
		[H_LEAST] = number(GP_CELL_BYTES, c->least),
		[H_MOST] = number(GP_CELL_BYTES, c->most),
		[H_AGE] = number(GP_CELL_COUNT, c->events),
		[H_NAME] = name_cell(table, name, safe),
	};

	gp_table_row(table, cells);
}

/* A row for all others, so that the rows add up to what is allocated. */
static void rest_row(const struct gp_table *table, uint64_t allocated,
		     const struct gp_culprits *live, size_t shown)
{
	struct gp_culprit rest = { .least = UINT64_MAX };
	char others[GP_PLURAL_TEXT + 8];

	if (shown >= live->count)
		return;
	for (size_t i = shown; i < live->count; i++) {
		const struct gp_culprit *c = &live->list[i];

		rest.bytes += c->bytes;
		rest.blocks += c->blocks;
		rest.least = c->least < rest.least ? c->least : rest.least;
		rest.most = c->most > rest.most ? c->most : rest.most;
		rest.events = c->events > rest.events ? c->events : rest.events;
	}
	snprintf(others, sizeof(others), "(%s)",
		 GP_PLURAL(live->count - shown, "other"));
	holder_row(table, allocated, &rest, others);
}

/* Whether the replay continues from memory that was cached under other
 * settings. */
static bool goes_on(const struct gp_view *view)
{
	struct gp_settings recorded;
	struct gp_diag ignored = { 0 };

	gp_settings_init(&recorded, view->settings->release);
	gp_settings_parse(&recorded, gp_trace_conf(view->trace), &ignored);
	return view->trace->devices[view->device].start.segment_count &&
	       !gp_settings_cache_alike(&recorded, view->settings, 0);
}

/* The title of a view that says how much is reserved. */
static void reserved_title(const struct gp_view *view,
			   const struct gp_view_style *style, const char *words)
{
	struct gp_page page = gp_page_make(style->report, style->out);

	title(style, words);
	if (style->format == GP_VIEW_CSV || !goes_on(view))
		return;
	gp_page_line(&page, GP_TONE_PLAIN, 0,
		     "The trace begins with memory in use, cached under other "
		     "settings, from which this replay goes on; gpupool replay "
		     "estimates what the whole program reserves.");
	gp_page_blank(&page);
}

/* A run without events has one moment. */
static bool is_before(const struct gp_view_moment *moment)
{
	return moment->is_before && !moment->is_start;
}

static const char *moment_words(const struct gp_view *view,
				const struct gp_view_moment *moment,
				char text[GP_EVENT_TEXT])
{
	if (moment->is_start || !view->trace->devices[view->device].event_count)
		return "the start";
	return gp_event_words_in(view->trace, view->device, view->steps,
				 moment->event, text);
}

static void holders_title(const struct gp_view *view,
			  const struct gp_view_moment *moment,
			  const struct gp_group *total,
			  const struct gp_view_style *style)
{
	char words[TITLE], at[GP_EVENT_TEXT], held[GP_BYTES_TEXT + 32];

	if (total->allocated)
		snprintf(held, sizeof(held), "Who holds the %s in use",
			 GP_BYTES(total->allocated));
	else
		snprintf(held, sizeof(held), "Nothing is in use");
	snprintf(words, sizeof(words), "%s %s %s: %s, %s reserved", held,
		 is_before(moment) ? "before" : "at", moment->what,
		 moment_words(view, moment, at), GP_BYTES(total->reserved));
	reserved_title(view, style, words);
}

static void holder_rows(const struct gp_view *view, uint64_t allocated,
			const struct gp_culprits *live, size_t most,
			const struct gp_table *table)
{
	char text[GP_SITE_TEXT];

	for (size_t i = 0; i < live->count && i < most; i++)
		holder_row(table, allocated, &live->list[i],
			   gp_view_holder(view, &live->list[i], text));
	rest_row(table, allocated, live, most);
}

void gp_view_holders(const struct gp_view *view,
		     const struct gp_view_moment *moment, size_t most,
		     const struct gp_view_style *style)
{
	struct gp_table table = table_of(style, holder_columns, H_COUNT);
	struct gp_group total;
	struct gp_culprits live;
	struct gp_state state;

	gp_view_state_at(view, moment, &state);
	culprits_live(view->askers, &state, moment->event, &live);
	total = gp_group_total(&state);
	if (style->format == GP_VIEW_JSON) {
		gp_view_holders_json(view, moment, &state, &live, style->out);
	} else {
		holders_title(view, moment, &total, style);
		gp_table_begin(&table, "holders");
		holder_rows(view, total.allocated, &live, most, &table);
		gp_table_end(&table);
	}
	free(live.list);
	gp_state_release(&state);
}

/* ---- events ---- */

enum {
	E_EVENT,
	E_OP,
	E_BYTES,
	E_ID,
	E_STREAM,
	E_ALLOCATED,
	E_RESERVED,
	E_SITE,
	E_REFUSED,
	E_COUNT
};

static const struct gp_column event_columns[E_COUNT] = {
	[E_EVENT] = COLUMN("event", "event", 10),
	[E_OP] = COLUMN("what", "op", 18),
	[E_BYTES] = COLUMN("bytes", "bytes", 11),
	[E_ID] = COLUMN("block", "id", 10),
	[E_STREAM] = ONLY_CSV("stream"),
	[E_ALLOCATED] = COLUMN("allocated", "allocated_bytes", 11),
	[E_RESERVED] = COLUMN("reserved", "reserved_bytes", 11),
	[E_SITE] = COLUMN("where", "site_name", 0),
	[E_REFUSED] = ONLY_CSV("refused"),
};

/* The event's own stack, else that of the alloc of its block. */
static uint32_t site_of(const struct gp_event *event, uint8_t fields,
			const uint32_t *sites)
{
	if (event->site != GP_NO_SITE || !(fields & GP_HAS_ID) ||
	    event->id == GP_NO_ID)
		return event->site;
	return sites[event->id];
}

bool gp_view_is_refused(const struct gp_view *view, uint64_t event)
{
	const struct gp_lifetimes *lifetimes = view->lifetimes;
	const struct gp_event *e =
		&view->trace->devices[view->device].events[event];
	size_t count = gp_lifetimes_until(lifetimes, event);

	/* An alloc that was served begins a lifetime. */
	return e->kind == GP_ALLOC && e->size &&
	       (!count || lifetimes->list[count - 1].is_start ||
		lifetimes->list[count - 1].alloc != event);
}

static void event_row(const struct gp_view *view,
		      const struct gp_view_style *style,
		      const struct gp_table *table, uint64_t at)
{
	const struct gp_event *e =
		&view->trace->devices[view->device].events[at];
	uint8_t fields = gp_event_fields((enum gp_event_kind)e->kind);
	bool has_id = fields & GP_HAS_ID && e->id != GP_NO_ID;
	bool is_refused = gp_view_is_refused(view, at);
	char site[GP_SITE_TEXT], safe[SAFE_TEXT];
	struct gp_cell cells[E_COUNT] = {
		[E_EVENT] = number(GP_CELL_COUNT, at),
		[E_OP] = text_cell(is_refused && style->format == GP_VIEW_TEXT
					   ? "alloc, refused"
					   : gp_event_kind_name(e->kind)),
		[E_REFUSED] = number(GP_CELL_COUNT, is_refused),
		[E_ALLOCATED] =
			number(GP_CELL_BYTES, view->lifetimes->allocated[at]),
		[E_RESERVED] =
			number(GP_CELL_BYTES, view->lifetimes->reserved[at]),
		[E_SITE] = name_cell(
			table,
			fields & GP_HAS_TEXT
				? view->trace->texts[e->text]
				: gp_site_known_text(
					  view->trace, view->known,
					  site_of(e, fields, view->sites),
					  site),
			safe),
	};

	if (fields & GP_HAS_SIZE)
		cells[E_BYTES] = number(GP_CELL_BYTES, e->size);
	if (has_id)
		cells[E_ID] = number(GP_CELL_COUNT, gp_view_id(view, e->id));
	if (fields & GP_HAS_STREAM && e->stream < view->trace->stream_count)
		cells[E_STREAM] =
			number(GP_CELL_COUNT, view->trace->streams[e->stream]);
	gp_table_row(table, cells);
}

static void events_title(const struct gp_event_search *search,
			 const struct gp_event_rows *rows,
			 const struct gp_view_style *style)
{
	char words[TITLE], found[GP_PLURAL_TEXT];

	gp_plural_text(rows->found, "event", found);
	if (rows->count == rows->found || !rows->count)
		snprintf(words, sizeof(words), "%s", found);
	else
		snprintf(words, sizeof(words), "%s; rows %s to %s", found,
			 GP_COUNT(search->row),
			 GP_COUNT(search->row + rows->count - 1));
	title(style, words);
}

void gp_view_events(const struct gp_view *view,
		    const struct gp_event_search *search,
		    const struct gp_view_style *style)
{
	struct gp_table table = table_of(style, event_columns, E_COUNT);
	struct gp_event_rows rows;

	gp_event_search(view->trace, view->device, search, view->sites, &rows);
	if (style->format == GP_VIEW_JSON) {
		gp_view_events_json(view, search, &rows, style->out);
	} else {
		events_title(search, &rows, style);
		gp_table_begin(&table, "events");
		for (size_t i = 0; i < rows.count; i++)
			event_row(view, style, &table, rows.events[i]);
		gp_table_end(&table);
	}
	gp_event_rows_release(&rows);
}

/* ---- segments at a moment ---- */

enum {
	S_ADDRESS,
	S_BYTES,
	S_ALLOCATED,
	S_FREE,
	S_LARGEST,
	S_BLOCKS,
	S_PLACE,
	S_COUNT
};

static const struct gp_column segment_columns[S_COUNT] = {
	[S_ADDRESS] = ONLY_CSV("address"),
	[S_BYTES] = COLUMN("segment", "bytes", 11),
	[S_ALLOCATED] = COLUMN("allocated", "allocated_bytes", 11),
	[S_FREE] = COLUMN("free", "free_bytes", 11),
	[S_LARGEST] = COLUMN("largest free", "largest_free_bytes", 13),
	[S_BLOCKS] = COLUMN("blocks", "blocks", 8),
	[S_PLACE] = COLUMN("where", "where", 0),
};

static void segment_row(const struct gp_view *view,
			const struct gp_table *table,
			const struct gp_state *state,
			const struct gp_segment *segment)
{
	struct gp_state alone = { segment, state->blocks, 1,
				  state->block_count };
	struct gp_group sum = gp_group_total(&alone);
	char stream[GP_GROUP_LABEL], pool[GP_GROUP_LABEL];
	char place[2 * GP_GROUP_LABEL + 32];
	struct gp_cell cells[S_COUNT] = {
		[S_ADDRESS] = number(GP_CELL_COUNT, segment->addr),
		[S_BYTES] = number(GP_CELL_BYTES, segment->size),
		[S_ALLOCATED] = number(GP_CELL_BYTES, sum.allocated),
		[S_FREE] = number(GP_CELL_BYTES, segment->size - sum.active),
		[S_LARGEST] = number(GP_CELL_BYTES, sum.largest_free),
		[S_BLOCKS] = number(GP_CELL_COUNT, segment->blocks),
	};

	gp_group_label(view->trace, GP_BY_STREAM, segment->stream, stream);
	gp_group_label(view->trace, GP_BY_POOL, segment->pool, pool);
	snprintf(place, sizeof(place), "%s%s, %s, %s",
		 segment->is_small ? "small" : "large",
		 segment->is_expandable ? ", expandable" : "", stream, pool);
	cells[S_PLACE] = text_cell(place);
	gp_table_row(table, cells);
}

static void state_title(const struct gp_view *view,
			const struct gp_view_moment *moment,
			const struct gp_state *state,
			const struct gp_view_style *style)
{
	struct gp_group total = gp_group_total(state);
	char words[TITLE], at[GP_EVENT_TEXT];

	snprintf(words, sizeof(words),
		 "%s %s: %s, %s reserved in %s, %s allocated",
		 is_before(moment) ? "Before" : "At", moment->what,
		 moment_words(view, moment, at), GP_BYTES(total.reserved),
		 GP_PLURAL(total.segments, "segment"),
		 GP_BYTES(total.allocated));
	reserved_title(view, style, words);
}

void gp_view_state(const struct gp_view *view,
		   const struct gp_view_moment *moment,
		   const struct gp_view_style *style)
{
	struct gp_table table = table_of(style, segment_columns, S_COUNT);
	struct gp_state state;

	gp_view_state_at(view, moment, &state);
	if (style->format == GP_VIEW_JSON) {
		gp_view_state_json(view, moment, &state, style->out);
	} else {
		state_title(view, moment, &state, style);
		gp_table_begin(&table, "segments");
		for (size_t i = 0; i < state.segment_count; i++)
			segment_row(view, &table, &state, &state.segments[i]);
		gp_table_end(&table);
	}
	gp_state_release(&state);
}

/* ---- one block ---- */

static const struct gp_column frame_columns[] = {
	COLUMN("stack, innermost first", "frame", 0),
};

static void block_title(const struct gp_view *view,
			const struct gp_lifetime *lifetime,
			const struct gp_view_style *style)
{
	char words[TITLE], stream[GP_GROUP_LABEL], pool[GP_GROUP_LABEL];

	snprintf(words, sizeof(words),
		 "Block %s: %s at %#llx, %s requested, %s, %s; from %s%s to "
		 "%s%s",
		 GP_COUNT(gp_view_id(view, lifetime->id)),
		 GP_BYTES(lifetime->size), (unsigned long long)lifetime->addr,
		 GP_BYTES(lifetime->requested),
		 gp_group_label(view->trace, GP_BY_STREAM, lifetime->stream,
				stream),
		 gp_group_label(view->trace, GP_BY_POOL, lifetime->pool, pool),
		 lifetime->is_start ? "before the trace" : "event ",
		 lifetime->is_start ? "" : GP_COUNT(lifetime->alloc),
		 lifetime->freed == GP_LIFE_NO_END ? "the end" : "event ",
		 lifetime->freed == GP_LIFE_NO_END ? ""
						   : GP_COUNT(lifetime->freed));
	title(style, words);
}

void gp_view_block(const struct gp_view *view,
		   const struct gp_lifetime *lifetime,
		   const struct gp_view_style *style)
{
	struct gp_table table = table_of(style, frame_columns, 1);
	char safe[SAFE_TEXT];

	if (style->format == GP_VIEW_JSON) {
		gp_view_block_json(view, lifetime, style->out);
		return;
	}
	block_title(view, lifetime, style);
	if (lifetime->site == GP_NO_SITE && style->format != GP_VIEW_CSV) {
		fputs("The trace has no stack for it.\n", style->out);
		return;
	}
	gp_table_begin(&table, "stack");
	for (uint32_t at = lifetime->site; at != GP_NO_SITE;
	     at = view->trace->sites[at].caller) {
		struct gp_cell cell = name_cell(
			&table, view->trace->texts[view->trace->sites[at].text],
			safe);

		gp_table_row(&table, &cell);
	}
	gp_table_end(&table);
}
