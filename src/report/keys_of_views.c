/* SPDX-License-Identifier: MIT */
/* Every key of the views of a run: see keys_of_runs.c. */
#include "report/keys.h"

#include "report/view.h"

const struct gp_key keys_of_views[] = {
	REPORT("view_bands", GP_VIEW_SCHEMA, "Blocks as bands over time."),
	KEYS_OF("view"),
	KEY("from", EVENT, 0, "The first event of the window."),
	KEY("to", EVENT, 0, "The first event behind it."),
	KEY("blocks", COUNT, 0,
	    "Blocks that are there at the moment of a column, with a band or "
	    "without."),
	OBJECT("columns", 0, "view_columns"),
	OBJECT("bands", LIST, "view_band"),
	KEYS_OF("view_groups"),

	REPORT("view_holders", GP_VIEW_SCHEMA,
	       "Who holds the memory at a moment."),
	KEYS_OF("view"),
	KEYS_OF("view_moment"),
	KEYS_OF("view_by"),
	OBJECT("holders", LIST, "view_holder"),

	REPORT("view_events", GP_VIEW_SCHEMA, "Events, as they are found."),
	KEYS_OF("view"),
	KEY("found", COUNT, 0, "Events that are found, in all."),
	KEY("row", COUNT, 0, "Of those, the first that is in rows."),
	OBJECT("rows", LIST, "view_row"),

	REPORT("view_state", GP_VIEW_SCHEMA,
	       "Segments and blocks at a moment."),
	KEYS_OF("view"),
	KEYS_OF("view_moment"),
	OBJECT("segments", LIST, "view_segment"),
	OBJECT("pins", LIST, "view_pin"),
	KEYS_OF("view_groups"),

	REPORT("view_block", GP_VIEW_SCHEMA, "One block."),
	KEYS_OF("view"),
	KEY("id", COUNT, 0, "Its id."),
	KEY("address", ADDRESS, 0, "Where it lies."),
	KEY("bytes", BYTES, 0, "As it was cut."),
	KEY("requested_bytes", BYTES, 0, "As it was asked for."),
	KEY("alloc_event", EVENT, NULLABLE,
	    "Its alloc; null: it was there when the trace began."),
	KEY("free_event", EVENT, NULLABLE, "Its free; null: there is none."),
	KEY("free_completed_event", EVENT, NULLABLE,
	    "Behind which its memory is free; null: it never is."),
	KEY("stream", ADDRESS, 0, "Its stream."),
	KEY("pool", POOL, 0, "Its pool."),
	OBJECT("segment", NULLABLE, "view_home"),
	KEYS_OF("site"),

	NEW("view", "What is looked at."),
	OBJECT("trace", 0, "trace_path"),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("devices", COUNT, LIST, "Those of the trace."),
	KEY("events", COUNT, 0, "Events of the device."),
	OBJECT("peak", 0, "view_peak"),
	KEY("ooms", EVENT, LIST,
	    "Requests without memory, the first thousand."),

	NEW("view_peak", "The peak of reserved."),
	KEY("event", EVENT, 0, "The first moment at which most is reserved."),
	KEY("reserved_bytes", BYTES, 0, "Reserved then."),
	KEY("allocated_bytes", BYTES, 0, "Allocated then."),

	NEW("view_moment", "The moment that is looked at."),
	KEY("event", EVENT, 0, "The moment is behind this event, or before."),
	KEY("before", BOOL, 0, "Whether it is before."),
	KEY("moment", TEXT, 0, "What moment that is."),
	KEY("when", TEXT, 0, "Its step, time and line."),
	KEY("reserved_bytes", BYTES, 0, "Reserved then."),
	KEY("allocated_bytes", BYTES, 0, "Allocated then."),

	NEW("view_by", "What belongs together."),
	WORD("by", 0, "site size stream pool category module",
	     "What belongs together."),
	WORD("bys", LIST, "site size stream pool category module",
	     "What may, of this trace."),

	NEW("view_groups", "What bands and blocks are coloured by."),
	KEYS_OF("view_by"),
	OBJECT("groups", LIST, "view_group"),

	NEW("view_group", "Blocks that belong together."),
	KEY("name", TEXT, 0,
	    "A line, a range of sizes, a stream, a pool, a category or a "
	    "module."),
	KEY("rank", COUNT, 0,
	    "Its place by bytes times events of the whole run, from 0: the "
	    "same in every window."),

	NEW("view_columns", "Moments of a window; a value for each column."),
	KEY("from", EVENT, LIST, "The first moment that it stands for."),
	KEY("event", EVENT, LIST,
	    "The one that it shows: the first with the most allocated."),
	KEY("allocated_bytes", BYTES, LIST, "Allocated then."),
	KEY("reserved_bytes", BYTES, LIST,
	    "The most reserved at any of its moments."),
	KEY("rest_bytes", BYTES, LIST, "Of blocks that have no band."),
	KEY("rest_blocks", COUNT, LIST, "How many these are."),

	NEW("view_band",
	    "A block; they lie one upon another in this order, the rest on "
	    "top."),
	KEY("id", COUNT, 0, "Its id."),
	KEY("bytes", BYTES, 0, "As it was cut."),
	KEY("first_column", COUNT, 0, "The first column that it is in."),
	KEY("last_column", COUNT, 0, "The last one."),
	KEY("alloc_event", EVENT, NULLABLE,
	    "Its alloc; null: it was there when the trace began."),
	KEY("free_event", EVENT, NULLABLE, "Its free; null: there is none."),
	KEY("group", COUNT, 0, "Which of groups it belongs to."),

	NEW("view_holder", "Blocks that belong together, and what they hold."),
	KEYS_OF("view_group"),
	KEYS_OF("holder"),

	NEW("view_row", "An event."),
	KEY("event", EVENT, 0, "Its number."),
	KEY("op", TEXT, 0, "What it is, as gpupool-trace(5) names it."),
	KEY("refused", BOOL, MAYBE, "true: there was no memory for it."),
	KEY("id", COUNT, MAYBE, "Its block."),
	KEY("bytes", BYTES, MAYBE, "Its size."),
	KEY("stream", ADDRESS, MAYBE, "Its stream."),
	KEY("pool", POOL, MAYBE, "Its pool; absent: the default one."),
	KEY("text", TEXT, MAYBE, "A mark's name, or settings."),
	KEY("time_us", WHOLE_US, MAYBE, "Since the epoch."),
	KEY("site_name", TEXT, MAYBE,
	    "Where the program asked; of a free without a stack, where its "
	    "block was asked for."),
	KEY("allocated_bytes", BYTES, 0, "Allocated behind it."),
	KEY("reserved_bytes", BYTES, 0, "Reserved behind it."),

	NEW("view_segment", "A segment, and its blocks."),
	KEY("address", ADDRESS, 0, "Where it lies."),
	KEY("bytes", BYTES, 0, "Its size."),
	KEY("stream", ADDRESS, 0, "Its stream."),
	KEY("pool", POOL, 0, "Its pool."),
	KEY("small", BOOL, 0, "Whether it is for small requests."),
	KEY("expandable", BOOL, 0, "Whether it grows."),
	KEY("allocated_bytes", BYTES, 0, "In use."),
	KEY("free_bytes", BYTES, 0, "Free, and not waiting for a stream."),
	KEY("largest_free_bytes", BYTES, 0, "The largest free block."),
	OBJECT("blocks", LIST, "view_piece"),

	NEW("view_piece", "A block of a segment, in address order."),
	KEY("offset", BYTES, 0, "From the beginning of the segment."),
	KEY("bytes", BYTES, 0, "Its size."),
	WORD("state", 0, "free allocated pending_free", "What it is."),
	KEY("id", COUNT, MAYBE, "Its id; of free ones there is none."),
	KEY("group", COUNT, MAYBE, "Which of groups it belongs to."),

	NEW("view_pin",
	    "A segment, or a page, that live blocks hold; the most free bytes "
	    "first."),
	KEY("address", ADDRESS, 0, "Where it lies."),
	KEY("bytes", BYTES, 0, "Its size."),
	KEY("free_bytes", BYTES, 0, "Of that, free."),
	KEY("ids", COUNT, LIST, "The blocks that hold it."),

	NEW("view_home",
	    "The segment that it was given out from; null: not known."),
	KEY("address", ADDRESS, 0, "Where it lies."),
	KEY("bytes", BYTES, 0, "Its size."),
	KEY("small", BOOL, 0, "Whether it is for small requests."),
	KEY("expandable", BOOL, 0, "Whether it grows."),
	KEYS_END,
};

const struct gp_key *const keys_of_views_end =
	&keys_of_views[sizeof(keys_of_views) / sizeof(*keys_of_views) - 1];
