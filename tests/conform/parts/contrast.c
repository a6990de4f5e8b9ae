/* SPDX-License-Identifier: MIT */
/* Comparing our engine with PyTorch's own. */
#include "contrast.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "horizon.h"

static const char *const names[VERDICTS] = {
	[VERDICT_EQUAL] = "equal",
	[VERDICT_ORDER] = "equal but for an order PyTorch leaves open",
	[VERDICT_DIFFERENT] = "different",
	[VERDICT_ASSERTS] = "PyTorch asserts",
	[VERDICT_HEAP] = "PyTorch looks at its own heap addresses",
	[VERDICT_FREED_MEMORY] = "blocks outlive their pool in PyTorch",
	[VERDICT_CRASHES] = "PyTorch crashes",
	[VERDICT_NOT_REPRODUCIBLE] = "two runs of PyTorch differ",
	[VERDICT_PART_OF_SEGMENT] = "PyTorch frees a part of a segment",
	[VERDICT_NOT_TAKEN] = "not in that release",
	[VERDICT_BROKEN] = "could not be run",
};

const char *verdict_name(enum verdict verdict)
{
	return names[verdict];
}

/* ---- actions ---- */

static void name_deed(const struct outcome *outcome, size_t i, char *text,
		      size_t room)
{
	const struct gp_action *a = &outcome->deeds[i].action;

	if (i >= outcome->count)
		snprintf(text, room, "nothing");
	else
		snprintf(text, room,
			 "%s addr %#" PRIx64 " size %" PRIu64
			 " stream %u pool %u (event %" PRIu64 ")",
			 a->kind == GP_FREE ? "free_requested"
					    : gp_event_kind_name(a->kind),
			 a->addr, a->size, a->stream, a->pool,
			 outcome->deeds[i].event);
}

/* The index of the first action that differs; if none does, the end of the
 * longer list. */
static size_t first_difference(const struct outcome *a, const struct outcome *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count &&
	       deed_equal(&a->deeds[i], &b->deeds[i], a->release))
		i++;
	return i;
}

static bool deeds_are_equal(const struct outcome *a, const struct outcome *b)
{
	return a->count == b->count && first_difference(a, b) == a->count;
}

static uint64_t event_of(const struct outcome *a, const struct outcome *b,
			 size_t i)
{
	uint64_t x = i < a->count ? a->deeds[i].event : UINT64_MAX;
	uint64_t y = i < b->count ? b->deeds[i].event : UINT64_MAX;

	return x < y ? x : y;
}

#define SORT_MEMBERS 0xffU
#define SORT_POOL    2U

static uint32_t kind_of(const struct outcome *outcome, size_t i)
{
	return i < outcome->count ? outcome->deeds[i].action.kind
				  : GP_EVENT_KINDS;
}

static uint32_t sort_of(const struct outcome *a, const struct outcome *b,
			size_t i)
{
	const struct gp_action *x = &a->deeds[i].action;
	const struct gp_action *y = &b->deeds[i].action;
	uint32_t sort = 1U << 31 | kind_of(a, i) << 8 | kind_of(b, i) << 16;

	if (i >= a->count || i >= b->count || x->kind != y->kind)
		return sort;
	return sort | (x->stream != y->stream) |
	       (x->pool != y->pool ? SORT_POOL : 0) | (x->id != y->id) << 2 |
	       (x->addr != y->addr) << 3 | (x->size != y->size) << 4;
}

/* ---- both engines ---- */

struct pair {
	struct outcome ours, theirs;
	bool is_strict; /* also compare orders that PyTorch leaves open */
};

/* Finds the first difference; false: there is none. */
static bool find_difference(struct contrast *contrast, struct pair *pair)
{
	const struct outcome *ours = &pair->ours, *theirs = &pair->theirs;
	size_t i;

	pair->is_strict = deeds_are_equal(ours, theirs);
	outcome_settle(&pair->ours);
	outcome_settle(&pair->theirs);
	if (!deeds_are_equal(ours, theirs)) {
		char us[160], them[160];

		i = first_difference(ours, theirs);
		name_deed(ours, i, us, sizeof(us));
		name_deed(theirs, i, them, sizeof(them));
		contrast->event = event_of(ours, theirs, i);
		contrast->sort = sort_of(ours, theirs, i);
		snprintf(contrast->what, sizeof(contrast->what),
			 "PyTorch: %s; ours: %s", them, us);
		return true;
	}
	contrast->event = UINT64_MAX;
	return figures_differ(ours, theirs, pair->is_strict, contrast->what,
			      sizeof(contrast->what));
}

static enum verdict run_again(const struct pair *pair,
			      const struct outcome_of *of)
{
	enum verdict verdict = VERDICT_NOT_REPRODUCIBLE;
	struct outcome again;
	struct gp_diag diag = { 0 };
	char what[512];

	if (outcome_run(&again, of, &diag) == GP_OK) {
		outcome_settle(&again);
		if (deeds_are_equal(&again, &pair->theirs) &&
		    !figures_differ(&again, &pair->theirs, pair->is_strict,
				    what, sizeof(what)))
			verdict = VERDICT_DIFFERENT;
	}
	outcome_release(&again);
	return verdict;
}

/* The difference is before this request. */
static bool is_released(const struct gp_device_trace *trace, uint64_t event,
			uint16_t pool)
{
	for (size_t k = 0; k < event && k < trace->event_count; k++)
		if (trace->events[k].kind == GP_POOL_RELEASE &&
		    trace->events[k].pool == pool)
			return true;
	return false;
}

/*
 * A released pool is erased when it has no segments of its own left, even if
 * some of its blocks are live, as in expandable segments. The pool that PyTorch
 * names when these are freed is read from erased memory.
 */
static bool names_an_erased_pool(const struct contrast *contrast,
				 const struct pair *pair,
				 const struct gp_device_trace *trace)
{
	size_t i = first_difference(&pair->ours, &pair->theirs);

	if ((contrast->sort & SORT_MEMBERS) != SORT_POOL)
		return false;
	return is_released(trace, contrast->event,
			   pair->ours.deeds[i].action.pool);
}

static bool has_segment(const struct gp_state *state, uint64_t addr)
{
	for (size_t i = 0; i < state->segment_count; i++)
		if (state->segments[i].addr == addr)
			return true;
	return false;
}

/* The snapshot does not list such a pool's free blocks, nor the blocks after
 * one in its segment. */
static bool hides_an_erased_pool(const struct contrast *contrast,
				 const struct pair *pair,
				 const struct gp_device_trace *trace)
{
	const struct gp_state *ours = &pair->ours.result.end;
	const struct gp_state *theirs = &pair->theirs.result.end;
	size_t hidden = 0;

	if (contrast->event != UINT64_MAX)
		return false;
	for (size_t i = 0; i < ours->segment_count; i++) {
		const struct gp_segment *s = &ours->segments[i];

		if (has_segment(theirs, s->addr))
			continue;
		if (!s->is_expandable ||
		    ours->blocks[s->first_block].state != GP_INACTIVE ||
		    !is_released(trace, UINT64_MAX, s->pool))
			return false;
		hidden++;
	}
	return hidden && theirs->segment_count + hidden == ours->segment_count;
}

static void judge(struct contrast *contrast, struct pair *pair,
		  const struct outcome_of *of)
{
	const struct gp_device_trace *trace = &of->trace->devices[of->device];
	struct horizon horizon;

	if (!find_difference(contrast, pair)) {
		contrast->verdict =
			pair->is_strict ? VERDICT_EQUAL : VERDICT_ORDER;
		return;
	}
	horizon = horizon_find(trace, &pair->ours, &pair->theirs);
	if (horizon.event <= contrast->event && horizon.event != HORIZON_NEVER)
		contrast->verdict = horizon.verdict;
	else if (names_an_erased_pool(contrast, pair, trace) ||
		 hides_an_erased_pool(contrast, pair, trace))
		contrast->verdict = VERDICT_FREED_MEMORY;
	else
		contrast->verdict = run_again(pair, of);
}

/* What PyTorch did before its process died; the last request may be
 * incomplete. */
static enum verdict judge_crash(struct contrast *contrast, struct pair *pair,
				const struct gp_device_trace *trace)
{
	const struct outcome *theirs = &pair->theirs;
	struct horizon horizon;
	size_t i;

	outcome_settle(&pair->ours);
	outcome_settle(&pair->theirs);
	i = first_difference(&pair->ours, theirs);
	if (!strstr(contrast->what, "died of signal"))
		return VERDICT_BROKEN;
	contrast->event = event_of(&pair->ours, theirs, i);
	contrast->sort = sort_of(&pair->ours, theirs, i);
	if (names_an_erased_pool(contrast, pair, trace))
		return VERDICT_FREED_MEMORY;
	if (i >= theirs->count ||
	    theirs->deeds[i].event == theirs->deeds[theirs->count - 1].event)
		return VERDICT_CRASHES;
	horizon = horizon_find(trace, &pair->ours, theirs);
	return horizon.event <= contrast->event ? horizon.verdict
						: VERDICT_DIFFERENT;
}

static void contrast_device(struct contrast *contrast, struct outcome_of *of,
			    const struct contrast_with *with)
{
	struct pair pair = { 0 };
	struct gp_diag diag = { 0 };
	enum gp_status status;

	of->torch_lib = NULL;
	status = outcome_run(&pair.ours, of, &diag);
	if (status != GP_OK) {
		contrast->verdict = VERDICT_NOT_TAKEN;
		goto out;
	}
	of->torch_lib = with->torch_lib;
	status = outcome_run(&pair.theirs, of, &diag);
	if (status != GP_OK) {
		snprintf(contrast->what, sizeof(contrast->what), "%s",
			 diag.what);
		contrast->verdict = judge_crash(
			contrast, &pair, &of->trace->devices[of->device]);
		goto out;
	}
	judge(contrast, &pair, of);
	if (with->outcome)
		with->outcome(with->arg, &pair.theirs,
			      of->trace->devices[of->device].event_count);
out:
	outcome_release(&pair.ours);
	outcome_release(&pair.theirs);
}

void contrast_trial(struct contrast *contrast, const struct trial *trial,
		    const struct contrast_with *with)
{
	struct outcome_of of = { .release = with->release };
	struct gp_trace *trace = NULL;
	struct gp_diag diag = { 0 };

	*contrast = (struct contrast){ .verdict = VERDICT_NOT_TAKEN };
	if (trial_since(trial) > with->release)
		return;
	if (trial_trace(trial, &trace, &diag) != GP_OK) {
		contrast->verdict = VERDICT_BROKEN;
		snprintf(contrast->what, sizeof(contrast->what), "%s",
			 diag.what);
		return;
	}
	contrast->verdict = VERDICT_EQUAL;
	of.trace = trace;
	while (of.device < trace->device_count &&
	       contrast->verdict <= VERDICT_ORDER) {
		contrast->device = trace->devices[of.device].device;
		contrast_device(contrast, &of, with);
		of.device++;
	}
	gp_trace_destroy(trace);
}
