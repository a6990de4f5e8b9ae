/* SPDX-License-Identifier: MIT */
/* The combinations of a sweep, best first. */
#include "report/sweep_rank.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "report/head.h"
#include "report/page.h"

#define ROUND_TO 10000. /* ends of a threshold's range */

/* The worst of all traces; false: one is missing. */
static bool join(const struct gp_sweep_report *sweep, size_t combination,
		 struct gp_sweep_row *row)
{
	const struct gp_sweep_report_run *runs =
		sweep->runs + combination * sweep->trace_count;

	for (size_t t = 0; t < sweep->trace_count; t++) {
		if (!runs[t].is_done)
			return false;
		gp_row_join(row, &runs[t].row, (uint32_t)t);
	}
	return sweep->trace_count > 0;
}

/* ---- those that have no place ---- */

const char *const sweep_other_titles[SWEEP_OTHERS] = {
	[SWEEP_CUT] = "Cut short",
	[SWEEP_NO_ANSWER] = "No answer",
	[SWEEP_IMPOSSIBLE] = "Not possible",
};

static const char *cut_text(const struct gp_sweep_row *row,
			    char text[SWEEP_CUT_TEXT])
{
	char events[GP_PLURAL_TEXT], bytes[GP_BYTES_TEXT], dropped[64] = "";

	if (row->dropped)
		snprintf(dropped, sizeof(dropped), ", and had not served %s",
			 gp_plural_text(row->dropped, "request", events));
	snprintf(text, SWEEP_CUT_TEXT, "after %s it already reserved %s%s",
		 gp_plural_text(row->cut_events, "event", events),
		 gp_bytes_text(row->reserved, bytes), dropped);
	return text;
}

/* NULL: it has a place, is not done, or is of another kind. */
static const char *why_not(const struct gp_sweep_report_entry *entry,
			   const struct gp_sweep_row *row,
			   enum sweep_other_kind kind,
			   char text[SWEEP_CUT_TEXT])
{
	bool has_failed = *row->failure;

	switch (kind) {
	case SWEEP_CUT:
		return row->cut_events && !has_failed ? cut_text(row, text)
						      : NULL;
	case SWEEP_NO_ANSWER:
		if (entry->is_undecided)
			return entry->reason;
		return has_failed ? row->failure : NULL;
	default: return entry->is_undecided ? NULL : entry->reason;
	}
}

static void list_others(const struct gp_sweep_report *sweep, struct ranking *r)
{
	size_t room = 0;
	char text[SWEEP_CUT_TEXT];

	for (int kind = 0; kind < SWEEP_OTHERS; kind++)
		for (size_t i = 0; i < sweep->entry_count; i++) {
			const char *why =
				why_not(&sweep->entries[i], &r->rows[i],
					(enum sweep_other_kind)kind, text);

			if (!why)
				continue;
			r->others = gp_mem_grow(r->others, &room,
						r->other_count + 1,
						sizeof(*r->others));
			r->others[r->other_count++] = (struct sweep_other){
				i, (enum sweep_other_kind)kind,
				gp_mem_copy_text(why, strlen(why))
			};
		}
}

/* ---- the ranking ---- */

struct ranking ranking_make(const struct gp_sweep_report *sweep,
			    enum gp_rank_by by)
{
	struct ranking r = {
		.contenders =
			gp_mem_alloc(sweep->entry_count, sizeof(*r.contenders)),
		.rows = gp_mem_alloc(sweep->entry_count, sizeof(*r.rows)),
	};

	for (size_t i = 0; i < sweep->entry_count; i++)
		if (join(sweep, i, &r.rows[i]) && !*r.rows[i].failure &&
		    !r.rows[i].cut_events)
			r.contenders[r.count++] = (struct gp_contender){
				&r.rows[i], sweep->entries[i].conf, i
			};
	for (size_t t = 0; t < sweep->trace_count; t++)
		gp_row_join(&r.recorded, &sweep->traces[t].row, (uint32_t)t);
	gp_rank(r.contenders, r.count, by);
	list_others(sweep, &r);
	return r;
}

void ranking_release(struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->other_count; i++)
		free(ranking->others[i].why);
	free(ranking->others);
	free(ranking->contenders);
	free(ranking->rows);
}

/* ---- ranges ---- */

static void put_mib(uint64_t least, uint64_t most, FILE *out)
{
	if (least == GP_UNLIMITED)
		fputs("none", out);
	else if (most == GP_UNLIMITED)
		fprintf(out, "%" PRIu64 "..none", least);
	else if (least == most)
		fprintf(out, "%" PRIu64, least);
	else
		fprintf(out, "%" PRIu64 "..%" PRIu64, least, most);
}

/* Rounded into the range, where there is room for it. */
static void put_ratio(const struct gp_box *box, FILE *out)
{
	double least = ceil(box->gc_least * ROUND_TO) / ROUND_TO;
	double most = floor(box->gc_most * ROUND_TO) / ROUND_TO;

	if (box->gc_off && box->gc_least <= DBL_MIN)
		fputs("any", out);
	else if (box->gc_least > box->gc_most)
		fputs("none", out);
	else if (box->gc_off && least < 1)
		fprintf(out, "%.6g..none", least);
	else if (box->gc_off)
		fprintf(out, "%.17g..none", box->gc_least);
	else if (least < most)
		fprintf(out, "%.6g..%.6g", least, most);
	else
		fprintf(out, "%.17g..%.17g", box->gc_least, box->gc_most);
}

static void put_range(const struct gp_sweep_report_entry *entry,
		      enum gp_space_axis axis, FILE *out)
{
	const struct gp_box *box = &entry->box;

	if (axis == GP_SPACE_SPLIT)
		put_mib(box->split_least_mb, box->split_most_mb, out);
	else if (axis == GP_SPACE_LARGE)
		put_mib(box->large_least_mb, box->large_most_mb, out);
	else
		put_ratio(box, out);
}

/* The name goes without saying where is_named says so. */
static char *alike_text(const struct gp_sweep_report_entry *entry,
			bool is_named)
{
	const char *separator = "";
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);

	for (int i = 0; i < GP_SPACE_AXES; i++) {
		if (!(entry->searched >> i & 1))
			continue;
		fputs(separator, out);
		if (!is_named)
			fprintf(out, "%s ", gp_space_names[i]);
		put_range(entry, (enum gp_space_axis)i, out);
		separator = ", ";
	}
	return gp_text_sink_close(&sink, out);
}

char *sweep_alike(const struct gp_sweep_report *sweep, size_t combination)
{
	return alike_text(&sweep->entries[combination], false);
}

/* Behind the settings: " (52..71)", where the only setting that is searched is
 * there; nothing, where it is alone. */
static void put_alike(const struct gp_sweep_report_entry *entry, FILE *out)
{
	bool is_named = false;
	char *text;

	for (int i = 0; i < GP_SPACE_AXES; i++)
		is_named |= entry->searched == 1U << i &&
			    gp_conf_names(entry->conf, gp_space_names[i]);
	text = alike_text(entry, is_named);
	if (*text && (!is_named || strstr(text, "..")))
		fprintf(out, " (%s)", text);
	free(text);
}

/* ---- labels ---- */

enum part { TORCH, CAPACITY, ENGINE };

static bool varies(const struct gp_sweep_report *sweep, enum part part)
{
	const struct gp_sweep_report_entry *first = sweep->entries;

	for (size_t i = 1; i < sweep->entry_count; i++) {
		const struct gp_sweep_report_entry *entry = &sweep->entries[i];

		if (part == TORCH && strcmp(first->torch, entry->torch) != 0)
			return true;
		if (part == CAPACITY && first->capacity != entry->capacity)
			return true;
		if (part == ENGINE && strcmp(first->engine, entry->engine) != 0)
			return true;
	}
	return false;
}

char *sweep_label(const struct gp_sweep_report *sweep, size_t combination)
{
	const struct gp_sweep_report_entry *entry =
		&sweep->entries[combination];
	char capacity[GP_BYTES_TEXT];
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	bool is_pytorch = gp_engine_is_pytorch(entry->engine);

	/* PyTorch's settings mean nothing to another allocator. */
	if (is_pytorch || *entry->conf) {
		fputs(gp_head_settings(entry->conf), out);
		put_alike(entry, out);
	}
	if (!is_pytorch)
		fprintf(out, "%sengine %s", *entry->conf ? "; " : "",
			entry->engine);
	if (varies(sweep, TORCH) && is_pytorch)
		fprintf(out, "; PyTorch %s", entry->torch);
	if (varies(sweep, CAPACITY))
		fprintf(out, "; %s",
			entry->capacity
				? gp_head_capacity(entry->capacity, capacity)
				: "the recorded memory");
	if (varies(sweep, ENGINE) && is_pytorch)
		fprintf(out, "; engine %s", entry->engine);
	return gp_text_sink_close(&sink, out);
}
