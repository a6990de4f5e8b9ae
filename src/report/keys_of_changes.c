/* SPDX-License-Identifier: MIT */
/* The keys of reports about what changed between two runs (diff), by the object
 * that contains them. */
#include "report/keys.h"

#include <stddef.h>

#include "gpupool/metrics.h"
#include "study/metrics/change.h"

static uint64_t growth_of(const void *pair)
{
	const struct gp_share_pair *p = pair;

	return p->b.requested - p->a.requested;
}

const struct gp_key keys_of_changes[] = {
	NEW("change_ranks", "Files of one side."),
	OBJECT("ranks", 0, "ranks"),
	KEY("without_counterpart", COUNT, 0,
	    "Files that the other side does not have."),
	KEY("counterpart_unread", COUNT, 0,
	    "Files that the other side has, but they could not be read."),

	NEW("change", "What changed on a device."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("files", COUNT, MAYBE, "Pairs of files that this is of."),
	KEY("same_requests", BOOL, 0,
	    "Whether both runs are of the same requests."),
	NAMED("a", 0, "change_side", "The first."),
	NAMED("b", 0, "change_side", "The second."),
	OBJECT("difference", 0, "change_difference"),
	OBJECT("sites", LIST, "change_site"),
	OBJECT("sizes", LIST, "change_size"),
	OBJECT("requests", NULLABLE, "change_requests"),

	NEW("change_side", "One of the two runs."),
	KEY("path", TEXT, 0, "The trace, or the report."),
	KEY("trace", TEXT, MAYBE,
	    "Of a report of several traces: which, without the folder that all "
	    "of them are in."),
	KEYS_OF("trace_told"),
	KEYS_OF("configuration"),
	KEY("engine", TEXT, 0, "As gpupool help engines has it."),
	KEY("what_if", TEXT, NULLABLE,
	    "The what-ifs of the program, as flags; null: none."),
	KEY("capacity", BYTES, NULLABLE,
	    "Memory of the device; null: without a limit, or as it was "
	    "recorded, where the recording does not show it."),
	NAMED("estimate", NULLABLE, "estimate",
	      "Of peak_reserved_bytes, which is of a replay from what a window "
	      "begins with; null: it is exact."),
	KEY("event", EVENT, 0, "The request at its peak."),
	KEY("from_start", BOOL, 0,
	    "Whether the run begins with all that it reserves."),
	MEASURE(GP_PEAK_RESERVED),
	OBJECT("parts", 0, "parts"),
	KEY("unused_segments", BYTES, MAYBE,
	    "Of what is free, that in segments without a block in use."),
	MEASURE(GP_PEAK_ALLOCATED),
	MEASURE(GP_NUM_RETRIES),
	MEASURE(GP_NUM_OOMS),
	MEASURE(GP_DROPPED),

	NEW("parts", "What peak_reserved_bytes is made of."),
	ROWS(GP_KEY_PARTS),

	NEW("change_difference", "How the two differ."),
	KEY("peak_reserved_bytes", MORE_BYTES, 0,
	    "b less a; the parts sum to it."),
	KEYS_OF("parts"),

	NEW("change_pair", "Blocks that are live at the peaks."),
	WORD_IN(gp_share_pair, fate, "fate", 0, "stayed moved new gone",
		"What became of it in the whole program; new: a never "
		"requests it, gone: b never does."),
	KEY_IN(gp_share_pair, a.requested, "a", BYTES, 0, "Requested in a."),
	KEY_IN(gp_share_pair, b.requested, "b", BYTES, 0, "Requested in b."),
	KEY_BY(growth_of, "difference", MORE_BYTES, 0, "b less a."),
	KEY_IN(gp_share_pair, a.rounding, "a_rounding", BYTES, 0,
	       "What a's blocks take beyond what was requested."),
	KEY_IN(gp_share_pair, b.rounding, "b_rounding", BYTES, 0,
	       "What b's blocks take beyond what was requested."),
	KEY_IN(gp_share_pair, a.blocks, "a_blocks", COUNT, 0, "Blocks of a."),
	KEY_IN(gp_share_pair, b.blocks, "b_blocks", COUNT, 0, "Blocks of b."),
	KEY_IN(gp_share_pair, a.most, "a_most", BYTES, 0,
	       "The most that is live at once in the whole run of a, of what "
	       "was requested."),
	KEY_IN(gp_share_pair, b.most, "b_most", BYTES, 0, "The same in b."),

	NEW("change_site", "The same for a site."),
	KEY("site", TEXT, NULLABLE,
	    "Where the program asked; null: not known."),
	KEY("site_in_a", TEXT, MAYBE, "Where that was in a, if it moved."),
	KEYS_OF("change_pair"),

	NEW("change_size", "The same for a range of sizes."),
	KEY("from", BYTES, 0,
	    "Blocks of at least this size and less than twice as much."),
	KEYS_OF("change_pair"),

	NEW("change_requests", "Where two programs make different requests; "
			       "null: for one trace, or for reports."),
	KEY("in_common", COUNT, 0, "Requests before the first that differs."),
	KEY("same", BOOL, 0, "None differs."),
	KEY("starts_differ", BOOL, 0, "What is live at the start differs."),
	NAMED("a", NULLABLE, "change_request",
	      "The first that differs, in a; null: a has ended."),
	NAMED("b", NULLABLE, "change_request",
	      "The first that differs, in b; null: b has ended."),
	OBJECT("steps", 0, "change_steps"),

	NEW("change_request", "A request."),
	KEY("event", EVENT, 0, "The request."),
	KEY("op", TEXT, 0, "What it asks, as gpupool-trace(5)."),
	KEY("size", BYTES, 0, "As requested."),
	KEY("stream", ADDRESS, 0, "Its stream."),
	KEY("by", ADDRESS, MAYBE,
	    "For a synchronize, the stream that waits; absent: the program "
	    "waits."),
	KEY("pool", POOL, 0, "Its pool."),
	KEY("site", TEXT, NULLABLE, "Where the program asked."),
	KEY("step", TEXT, NULLABLE, "The last mark before it."),

	NEW("change_steps",
	    "Steps of the two programs, each from one mark to the next."),
	KEY_IN(gp_divergence_steps, a, "a", COUNT, 0, "Steps of a."),
	KEY_IN(gp_divergence_steps, b, "b", COUNT, 0, "Steps of b."),
	KEY_IN(gp_divergence_steps, both, "both", COUNT, 0,
	       "Steps that both have."),
	KEY_IN(gp_divergence_steps, alike, "alike", COUNT, 0,
	       "Those that allocate and free the same sizes in the same "
	       "order."),
	KEY_IN(gp_divergence_steps, first, "first_difference", TEXT, NULLABLE,
	       "The first that differs."),
	KEYS_END,
};
