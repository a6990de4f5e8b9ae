/* SPDX-License-Identifier: MIT */
/* Programs that may have led to a window, to be replayed from nothing. */
#ifndef STUDY_HISTORY_H
#define STUDY_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

/*
 * What comes before the window, if anything; behind it come the blocks that are
 * live at the window's start, and then the window.
 */
enum earlier {
	NOTHING_EARLIER,
	/* All segments of the start at once, each as the request that could
	 * have made it, and then they are freed. */
	SEGMENTS_EARLIER,
	/* The window itself from its lowest moment on, with what it asks for
	 * `scale` times as large.  Blocks as large as one that is live at the
	 * start belong to the model and stay as they are. */
	WINDOW_EARLIER,
};

struct history_config {
	const struct gp_trace *trace;
	uint32_t device;
	enum earlier earlier;
	double scale;
};

struct history {
	struct gp_trace *trace;
	uint64_t window; /* its first event */
};

void history_init(struct history *history, const struct history_config *config);
void history_release(struct history *history);

#endif
