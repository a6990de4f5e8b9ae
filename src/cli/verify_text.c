/* Verification, told: "equal", or the first difference. */
#include "cli/verify_text.h"

#include <inttypes.h>

#include "base/bytes.h"

struct telling {
	const struct gp_trace *trace;
	FILE *out;
};

/* PyTorch's name of an action. */
static const char *action_name(uint8_t kind)
{
	return kind == GP_FREE ? "free_requested" : gp_event_kind_name(kind);
}

static void tell_stream(const struct telling *t, uint16_t stream)
{
	if (stream < t->trace->stream_count && t->trace->streams[stream])
		fprintf(t->out, " stream 0x%" PRIx64,
			t->trace->streams[stream]);
}

static void tell_deed(const struct telling *t, const struct gp_deed *deed)
{
	const struct gp_action *a = &deed->action;

	if (a->kind == GP_OOM)
		fprintf(t->out, "%-15s size %" PRIu64 " device_free %" PRIu64,
			action_name(a->kind), a->size, a->addr);
	else
		fprintf(t->out, "%-15s 0x%" PRIx64 " size %" PRIu64,
			action_name(a->kind), a->addr, a->size);
	tell_stream(t, a->stream);
	fputc('\n', t->out);
}

static void tell_request(const struct telling *t, const struct gp_event *e)
{
	uint8_t fields = gp_event_fields((enum gp_event_kind)e->kind);

	fprintf(t->out, "%s", gp_event_kind_name((enum gp_event_kind)e->kind));
	if (fields & GP_HAS_ID && e->id != GP_NO_ID)
		fprintf(t->out, " of block %" PRIu32, e->id);
	if (e->kind == GP_ALLOC)
		fprintf(t->out, ", %" PRIu64 " bytes", e->size);
	if (fields & GP_HAS_STREAM)
		tell_stream(t, e->stream);
	fputc('\n', t->out);
}

/* Both sides' actions: the same up to there, then each its own. */
static void tell_deeds(const struct telling *t, const struct gp_difference *d)
{
	fputs("\nThe last actions that are alike:\n", t->out);
	for (size_t i = 0; i < d->before; i++) {
		fputs("    both     ", t->out);
		tell_deed(t, &d->ours.deeds[i]);
	}
	fputs("What follows:\n", t->out);
	for (size_t i = d->before; i < d->ours.count; i++) {
		fputs("    gpupool  ", t->out);
		tell_deed(t, &d->ours.deeds[i]);
	}
	for (size_t i = d->before; i < d->theirs.count; i++) {
		fputs("    PyTorch  ", t->out);
		tell_deed(t, &d->theirs.deeds[i]);
	}
}

static void tell_candidates(const struct telling *t, const char *who,
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

static void tell_refusal(const struct telling *t, const char *who,
			 const struct gp_verify_side *side)
{
	if (*side->refusal)
		fprintf(t->out, "    %s  at request %" PRIu64 ": %s\n", who,
			side->refusal_event, side->refusal);
}

static void tell_refusals(const struct telling *t,
			  const struct gp_difference *d)
{
	if (!*d->ours.refusal && !*d->theirs.refusal)
		return;
	fputs("\nThe first error that each raised:\n", t->out);
	tell_refusal(t, "gpupool", &d->ours);
	tell_refusal(t, "PyTorch", &d->theirs);
}

static void tell_counters(const struct telling *t,
			  const struct gp_difference *d)
{
	int64_t ours, theirs;
	char name[64];

	fputs("\nCounters behind it that differ:\n", t->out);
	for (size_t i = 0;
	     gp_verify_counter(i, name, sizeof(name), &d->ours.stats,
			       &d->theirs.stats, &ours, &theirs);
	     i++)
		if (ours != theirs)
			fprintf(t->out,
				"    %-38s gpupool %" PRId64
				", PyTorch %" PRId64 "\n",
				name, ours, theirs);
}

static void tell_difference(const struct telling *t,
			    const struct gp_difference *d, uint8_t release)
{
	static const char *const what[] = {
		[GP_DIFFERENT_ACTION] = "an action",
		[GP_DIFFERENT_COUNTER] = "a counter",
		[GP_DIFFERENT_ANSWER] = "the answer",
	};

	fprintf(t->out,
		"not equal to PyTorch 2.%u: %s differs at event %" PRIu64
		"%s\n",
		release, what[d->kind], d->event,
		d->is_in_start ? " of the requests that rebuild the start"
			       : "");
	fputs("    request  ", t->out);
	tell_request(t, &d->request);
	tell_deeds(t, d);
	if (d->ours.candidate_count || d->theirs.candidate_count)
		fputs("\nFree blocks on its stream that are large enough:\n",
		      t->out);
	tell_candidates(t, "gpupool", &d->ours);
	tell_candidates(t, "PyTorch", &d->theirs);
	tell_refusals(t, d);
	tell_counters(t, d);
}

static void tell_start(const struct telling *t,
		       const struct gp_verify_result *r)
{
	char a[GP_COUNT_TEXT], b[GP_COUNT_TEXT], c[GP_COUNT_TEXT];

	if (!r->start_segments)
		return;
	fprintf(t->out,
		"    start: %s of the window's %s segments rebuilt as they "
		"were, by %s requests to both\n",
		gp_count_text(r->start_rebuilt, a),
		gp_count_text(r->start_segments, b),
		gp_count_text(r->start_requests, c));
}

void gp_verify_text(const struct gp_trace *trace, uint32_t device,
		    uint8_t asked, uint8_t ran,
		    const struct gp_verify_result *result, FILE *out)
{
	struct telling t = { trace, out };
	char a[GP_COUNT_TEXT], b[GP_COUNT_TEXT];

	if (trace->device_count > 1)
		fprintf(out, "device %u: ", trace->devices[device].device);
	if (result->first.is_there)
		tell_difference(&t, &result->first, ran);
	else
		fprintf(out, "equal: %s actions, %s counters (PyTorch 2.%u)\n",
			gp_count_text(result->actions, a),
			gp_count_text(result->counters, b), ran);
	if (asked != ran)
		fprintf(out,
			"    PyTorch 2.%u stands for 2.%u, which decides "
			"alike\n",
			ran, asked);
	if (result->permuted)
		fprintf(out,
			"    %s of them in another order than their "
			"neighbours', which is left to a hash\n",
			gp_count_text(result->permuted, a));
	tell_start(&t, result);
}
