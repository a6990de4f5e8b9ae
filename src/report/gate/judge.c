/* SPDX-License-Identifier: MIT */
/* What follows from a baseline's numbers and those of now. */
#include <string.h>

#include "report/gate/gate.h"

static enum gp_status cannot_hold(const struct gp_number *number,
				  struct gp_diag *diag)
{
	gp_diag_hint(diag,
		     strcmp(number->name, "fidelity") != 0
			     ? "that release of PyTorch does not count it"
			     : "the trace has no addresses to compare, or "
			       "cannot be replayed as recorded");
	return gp_diag_set(diag, GP_INPUT,
			   "the limit for %s cannot be held: there is none",
			   number->name);
}

static enum gp_status not_in_baseline(const struct gp_number *number,
				      struct gp_diag *diag)
{
	gp_diag_hint(diag, "see what it is now, then: gpupool check --update");
	return gp_diag_set(diag, GP_INPUT,
			   "the baseline is stale: it has no %s to compare "
			   "with",
			   number->name);
}

static bool is_beyond(const struct gp_number *number, int64_t value,
		      int64_t bound)
{
	return number->more_is_better ? value < bound : value > bound;
}

static enum gp_status judge(const struct gp_number *number,
			    struct gp_gate_verdict *v, struct gp_diag *diag)
{
	bool needs_baseline = v->limit->kind != GP_LIMIT_VALUE;

	if (!v->now.is_there && !v->limit->is_default)
		return cannot_hold(number, diag);
	if (needs_baseline && !v->baseline.is_there)
		return not_in_baseline(number, diag);
	v->bound = gp_limit_bound(v->limit, number, v->baseline.value);
	v->is_worse =
		!v->now.is_there || is_beyond(number, v->now.value, v->bound);
	v->is_better = v->now.is_there && v->baseline.is_there &&
		       is_beyond(number, v->baseline.value, v->now.value);
	return GP_OK;
}

enum gp_status gp_gate_judge(const struct gp_gate_run *run,
			     const struct gp_numbers *numbers,
			     const struct gp_reading *baseline,
			     const struct gp_reading *now,
			     struct gp_gate_verdict *verdicts, size_t *count,
			     struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	size_t made = 0;

	for (size_t i = 0; i < run->limit_count && status == GP_OK; i++) {
		const struct gp_limit *limit = &run->limits[i];
		struct gp_gate_verdict v = {
			.limit = limit,
			.baseline = baseline[limit->number],
			.now = now[limit->number],
			.event = GP_EVENT_NONE,
		};

		if (limit->kind == GP_LIMIT_NONE)
			continue;
		/* Nothing then, nothing now: nothing to hold. */
		if (limit->is_default && !v.now.is_there &&
		    !v.baseline.is_there)
			continue;
		status = judge(&numbers->items[limit->number], &v, diag);
		verdicts[made++] = v;
	}
	*count = made;
	return status;
}
