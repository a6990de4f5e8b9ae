/* SPDX-License-Identifier: MIT */
/* Comparing a verification's answers with the recorded ones. */
#include "replay/fidelity.h"

static void mismatch(struct gp_fidelity *fidelity, const struct gp_event *event,
		     uint64_t index, int kind, uint64_t chosen,
		     uint64_t recorded)
{
	struct gp_mismatch *first = &fidelity->first;

	if (first->is_there)
		return;
	*first = (struct gp_mismatch){
		.is_there = true,
		.kind = kind,
		.event = index,
		.requested = event->size,
		.stream = event->stream,
		.pool = event->pool,
		.site = event->site,
		.chosen = chosen,
		.recorded = recorded,
	};
}

static void check_segments(struct gp_fidelity *fidelity,
			   const struct recorded *recorded,
			   const struct gp_event *event, uint64_t index)
{
	bool is_left = recorded_has_segment(recorded);

	fidelity->segments_checked +=
		recorded->segments + is_left +
		(recorded->surprise == RECORDED_NO_SEGMENT);
	fidelity->segments_matched +=
		recorded->segments -
		(recorded->surprise == RECORDED_OTHER_SIZE);
	if (recorded->surprise == RECORDED_NO_SEGMENT)
		mismatch(fidelity, event, index, GP_UNEXPECTED_SEGMENT,
			 recorded->asked, 0);
	else if (recorded->surprise == RECORDED_OTHER_SIZE)
		mismatch(fidelity, event, index, GP_WRONG_SEGMENT_SIZE,
			 recorded->asked, recorded->had);
	else if (is_left)
		mismatch(fidelity, event, index, GP_MISSING_SEGMENT, 0, 0);
}

void fidelity_check(struct gp_fidelity *fidelity,
		    const struct recorded *recorded,
		    const struct gp_event *event, uint64_t index,
		    enum gp_answer answer, uint64_t addr)
{
	check_segments(fidelity, recorded, event, index);
	if (event->flags & GP_REFUSED || !event->addr)
		return;
	fidelity->checked++;
	if (answer == GP_SERVED && addr == event->addr)
		fidelity->matched++;
	else
		mismatch(fidelity, event, index,
			 answer == GP_SERVED ? GP_WRONG_ADDRESS
					     : GP_UNEXPECTED_OOM,
			 addr, event->addr);
}
