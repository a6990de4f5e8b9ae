/* SPDX-License-Identifier: MIT */
/* Generated programs that may have led to a window, to be replayed from an
 * empty allocator. */
#ifndef STUDY_HISTORY_H
#define STUDY_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

/*
 * What the generated program does first. Then it allocates the blocks that are
 * live at the window's start, and continues with the window.
 */
enum earlier {
	NOTHING_EARLIER,
	/* One request for each segment of the start state, of a size that could
	 * have made it; then all of them are freed. */
	SEGMENTS_EARLIER,
	/* The window from its lowest moment on, with requests `scale` times as
	 * large. A size that occurs among the blocks of the start state is
	 * assumed to belong to the model and is not scaled. */
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
	uint64_t window; /* index of its first event */
};

void history_init(struct history *history, const struct history_config *config);
void history_release(struct history *history);

#endif
