/* SPDX-License-Identifier: MIT */
/* Requests of a trace, as an engine is asked for them. */
#ifndef REPLAY_REQUESTS_H
#define REPLAY_REQUESTS_H

#include "gpupool/allocator.h"
#include "gpupool/trace.h"

/* Any but GP_ALLOC, GP_FREE and GP_OTHER_MEMORY; outcomes ask for nothing. */
enum gp_answer request_other(struct gp_allocator *allocator,
			     const struct gp_trace *trace,
			     const struct gp_event *event);

#endif
