/* SPDX-License-Identifier: MIT */
/* The result of a verification as text: "equal", or the first difference. */
#include "commands/verify_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "report/page.h"
#include "report/report.h"

struct printer {
	const struct gp_trace *trace;
	uint32_t device;
	const char *ours, *theirs; /* names of the sides, of equal width */
	FILE *out;
};

/* Follows an event's number. */
static const char in_start[] = " of the requests that rebuild the start";

/* PyTorch's name of an action. */
static const char *action_name(uint8_t kind)
{
	return kind == GP_FREE ? "free_requested" : gp_event_kind_name(kind);
}

static void print_stream(const struct printer *t, uint16_t stream)
{
	if (stream < t->trace->stream_count && t->trace->streams[stream])
		fprintf(t->out, " stream 0x%" PRIx64,
			t->trace->streams[stream]);
}

static void print_action(const struct printer *t,
			 const struct gp_caused_action *action)
{
	const struct gp_action *a = &action->action;

	if (a->kind == GP_OOM)
		fprintf(t->out, "%-15s size %" PRIu64 " device_free %" PRIu64,
			action_name(a->kind), a->size, a->addr);
	else
		fprintf(t->out, "%-15s 0x%" PRIx64 " size %" PRIu64,
			action_name(a->kind), a->addr, a->size);
	print_stream(t, a->stream);
	fputc('\n', t->out);
}

/* Prints a block by its id in the file; a placeholder is not in the file. */
static void print_block(const struct printer *t, uint32_t id)
{
	const struct gp_device_trace *device = &t->trace->devices[t->device];

	if (id >= device->block_ids)
		fputs(" of a placeholder", t->out);
	else
		fprintf(t->out, " of block %" PRIu64,
			device->names ? device->names[id] : id);
}

static void print_request(const struct printer *t, const struct gp_event *e)
{
	uint8_t fields = gp_event_fields((enum gp_event_kind)e->kind);

	fprintf(t->out, "    request  %s",
		gp_event_kind_name((enum gp_event_kind)e->kind));
	if (fields & GP_HAS_ID && e->id != GP_NO_ID)
		print_block(t, e->id);
	if (e->kind == GP_ALLOC)
		fprintf(t->out, ", %" PRIu64 " bytes", e->size);
	if (fields & GP_HAS_STREAM)
		print_stream(t, e->stream);
	fputc('\n', t->out);
}

/* Prints the actions of both sides: first the common ones, then each side's
 * own. */
static void print_actions(const struct printer *t,
			  const struct gp_difference *d)
{
	if (d->before)
		fputs("\nThe last identical actions:\n", t->out);
	for (size_t i = 0; i < d->before; i++) {
		fprintf(t->out, "    %-*s  ", (int)strlen(t->ours), "both");
		print_action(t, &d->ours.actions[i]);
	}
	if (d->ours.count > d->before || d->theirs.count > d->before)
		fputs(d->before ? "What follows:\n" : "\nThe first actions:\n",
		      t->out);
	for (size_t i = d->before; i < d->ours.count; i++) {
		fprintf(t->out, "    %s  ", t->ours);
		print_action(t, &d->ours.actions[i]);
	}
	for (size_t i = d->before; i < d->theirs.count; i++) {
		fprintf(t->out, "    %s  ", t->theirs);
		print_action(t, &d->theirs.actions[i]);
	}
}

static void print_candidates(const struct printer *t, const char *who,
			     const struct gp_verify_side *side)
{
	for (size_t i = 0; i < side->candidate_count; i++) {
		const struct gp_candidate *c = &side->candidates[i];

		fprintf(t->out,
			"    %s  0x%" PRIx64 " size %" PRIu64
			", in the segment 0x%" PRIx64 " of %" PRIu64 "\n",
			who, c->addr, c->size, c->segment_addr,
			c->segment_size);
	}
}

static void print_refusal(const struct printer *t, const char *who,
			  const struct gp_verify_side *side)
{
	if (*side->refusal)
		fprintf(t->out, "    %s  at event %" PRIu64 "%s: %s\n", who,
			side->refusal_event,
			side->is_refusal_in_start ? in_start : "",
			side->refusal);
}

static void print_refusals(const struct printer *t,
			   const struct gp_difference *d)
{
	if (!*d->ours.refusal && !*d->theirs.refusal)
		return;
	fputs("\nThe first error that each raised:\n", t->out);
	print_refusal(t, t->ours, &d->ours);
	print_refusal(t, t->theirs, &d->theirs);
}

static void print_counters(const struct printer *t,
			   const struct gp_difference *d)
{
	int64_t ours, theirs;
	char name[64];

	fputs(d->is_before_all ? "\nCounters that differ:\n"
			       : "\nCounters after it that differ:\n",
	      t->out);
	for (size_t i = 0;
	     gp_verify_counter(i, name, sizeof(name), &d->ours.stats,
			       &d->theirs.stats, &ours, &theirs);
	     i++)
		if (ours != theirs)
			fprintf(t->out,
				"    %-41s %s %" PRId64 ", %s %" PRId64 "\n",
				name, t->ours, ours, t->theirs, theirs);
}

static const char *const differing[] = {
	[GP_DIFFERENT_ACTION] = "an action",
	[GP_DIFFERENT_COUNTER] = "a counter",
	[GP_DIFFERENT_ANSWER] = "the answer",
};

/* "PyTorch 2.15", "the device", "PyTorch 2.15 on the device". */
#define PARTNER_TEXT 48
static const char *partner(const struct gp_verify_outcome *outcome, char *text)
{
	const char *device =
		outcome->is_stand_in ? "the stand-in" : "the device";

	if (outcome->is_torch && outcome->is_on_device)
		snprintf(text, PARTNER_TEXT, "PyTorch 2.%u on %s", outcome->ran,
			 device);
	else if (outcome->is_torch)
		snprintf(text, PARTNER_TEXT, "PyTorch 2.%u", outcome->ran);
	else
		snprintf(text, PARTNER_TEXT, "%s", device);
	return text;
}

/* "at event 3"; for one of the requests that rebuild the start, only its
 * number. */
#define WHERE_TEXT (GP_EVENT_TEXT + 4)
static const char *where(const struct gp_verify_outcome *outcome,
			 char text[WHERE_TEXT])
{
	const struct gp_difference *d = &outcome->result->first;
	char event[GP_EVENT_TEXT];

	if (d->is_before_all)
		return "before the first request";
	if (d->is_in_start)
		snprintf(text, WHERE_TEXT, "at event %" PRIu64 "%s", d->event,
			 in_start);
	else
		snprintf(text, WHERE_TEXT, "at %s",
			 gp_event_words(outcome->trace, outcome->device,
					d->event, event));
	return text;
}

static void print_difference(const struct printer *t,
			     const struct gp_verify_outcome *outcome)
{
	const struct gp_difference *d = &outcome->result->first;
	char with[PARTNER_TEXT], at[WHERE_TEXT];

	fprintf(t->out, "not equal to %s: %s differs %s\n",
		partner(outcome, with), differing[d->kind], where(outcome, at));
	if (!d->is_before_all)
		print_request(t, &d->request);
	print_actions(t, d);
	if (d->ours.candidate_count || d->theirs.candidate_count)
		fputs("\nFree blocks on its stream that are large enough:\n",
		      t->out);
	print_candidates(t, t->ours, &d->ours);
	print_candidates(t, t->theirs, &d->theirs);
	print_refusals(t, d);
	print_counters(t, d);
}

static void print_start(const struct printer *t,
			const struct gp_verify_result *r)
{
	if (!r->start_segments)
		return;
	fprintf(t->out,
		"    start: %s of the window's %s segments rebuilt as they "
		"were, by %s requests to both\n",
		GP_COUNT(r->start_rebuilt), GP_COUNT(r->start_segments),
		GP_COUNT(r->start_requests));
}

static void print_memory(const struct gp_verify_result *r, FILE *out)
{
	if (r->memory.changed)
		fprintf(out, "of %s blocks %s DID NOT READ AS WRITTEN",
			GP_COUNT(r->memory.blocks),
			GP_COUNT(r->memory.changed));
	else
		fprintf(out, "blocks read as written: %s",
			GP_COUNT(r->memory.blocks));
}

static void print_result(const struct printer *t,
			 const struct gp_verify_outcome *outcome)
{
	const struct gp_verify_result *r = outcome->result;
	char with[PARTNER_TEXT];

	if (r->is_too_large)
		fprintf(t->out,
			"not compared: it reserves %s, more than %s "
			"has left\n",
			GP_BYTES(r->peak), partner(outcome, with));
	else if (r->first.is_there)
		print_difference(t, outcome);
	else
		fprintf(t->out, "equal: %s, %s counters (%s)\n",
			GP_PLURAL(r->actions, "action"), GP_COUNT(r->counters),
			partner(outcome, with));
}

void gp_verify_text(const struct gp_verify_outcome *outcome, FILE *out)
{
	const struct gp_verify_result *r = outcome->result;
	struct printer t = { outcome->trace, outcome->device, "gpupool",
			     "PyTorch", out };

	if (outcome->is_on_device) {
		t.ours = "simulated";
		t.theirs = "device   ";
	}
	if (outcome->trace->device_count > 1)
		fprintf(out, "device %u: ",
			outcome->trace->devices[outcome->device].device);
	print_result(&t, outcome);
	if (outcome->asked != outcome->ran)
		fprintf(out,
			"    PyTorch 2.%u is used for 2.%u, which makes the "
			"same decisions\n",
			outcome->ran, outcome->asked);
	if (r->permuted)
		fprintf(out,
			"    %s of them in another order among neighbours, "
			"which depends on a hash\n",
			GP_COUNT(r->permuted));
	if (outcome->is_checked) {
		fputs("    ", out);
		print_memory(r, out);
		fputc('\n', out);
	}
	print_start(&t, r);
}

/* ---- a table ---- */

void gp_verify_head(int width, FILE *out)
{
	fprintf(out, "%-*s    actions  counters  result\n", width, "trace");
}

/* "equal to PyTorch 2.11, device 3", without the parts that are the same for
 * all. */
static void print_verdict(const struct gp_verify_outcome *outcome, FILE *out)
{
	const struct gp_trace *trace = outcome->trace;
	char with[PARTNER_TEXT];

	fputs(outcome->result->first.is_there ? "NOT EQUAL" : "equal", out);
	if (outcome->is_torch)
		fprintf(out, " to %s", partner(outcome, with));
	if (trace->device_count > 1)
		fprintf(out, ", device %u",
			trace->devices[outcome->device].device);
}

void gp_verify_line(const char *name, int width,
		    const struct gp_verify_outcome *outcome, FILE *out)
{
	const struct gp_verify_result *r = outcome->result;
	const struct gp_difference *d = &r->first;
	char at[WHERE_TEXT];

	if (r->is_too_large) {
		fprintf(out, "%-*s  %9s  %8s  not compared: it reserves %s\n",
			width, name, "-", "-", GP_BYTES(r->peak));
		return;
	}
	fprintf(out, "%-*s  %9s  %8s  ", width, name, GP_COUNT(r->actions),
		GP_COUNT(r->counters));
	print_verdict(outcome, out);
	if (d->is_there)
		fprintf(out, ": %s %s", differing[d->kind], where(outcome, at));
	if (d->is_there && strcmp(d->ours.refusal, d->theirs.refusal) != 0 &&
	    *d->theirs.refusal)
		fprintf(out, ": %s", d->theirs.refusal);
	if (outcome->is_checked) {
		fputs("; ", out);
		print_memory(r, out);
	}
	fputc('\n', out);
}
