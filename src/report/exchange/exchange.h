/* SPDX-License-Identifier: MIT */
/*
 * A run, written for other people's tools.
 *
 * What the allocator does is written as it does it, so that memory does not
 * grow with the run.  What the format has no place for is left out; the manual
 * of gpupool convert says what that is.
 */
#ifndef REPORT_EXCHANGE_EXCHANGE_H
#define REPORT_EXCHANGE_EXCHANGE_H

#include <stdio.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

enum gp_exchange_format {
	GP_EXCHANGE_PICKLE,	/* torch.cuda.memory._dump_snapshot() */
	GP_EXCHANGE_PERFETTO,	/* Chrome's trace events, as JSON */
	GP_EXCHANGE_SPEEDSCOPE, /* memory at the peak, by stack */
	GP_EXCHANGE_FOLDED,	/* the same as lines: "a;b;c bytes" */
	GP_EXCHANGE_CSV,	/* one row for each event */
	GP_EXCHANGE_FORMATS,
};

/* All borrowed until the end. */
struct gp_exchange_config {
	enum gp_exchange_format format;
	const struct gp_trace *trace;
	const struct gp_settings *settings;
	const char *conf; /* what settings was parsed from */
	const char *name; /* of the run, for people */
	FILE *out;
};

struct gp_exchange;

/* GP_INPUT where the format cannot hold the trace at all. */
enum gp_status gp_exchange_begin(const struct gp_exchange_config *config,
				 struct gp_exchange **exchange,
				 struct gp_diag *diag);

/* Each device of the trace in turn: how it is to be replayed, by adding to the
 * replay's config, then what came of it.  The result is borrowed. */
void gp_exchange_listen(struct gp_exchange *exchange,
			struct gp_replay_config *config);
void gp_exchange_add(struct gp_exchange *exchange,
		     const struct gp_replay_result *result);

/* What remains to be written; destroys it.  Errors are the stream's. */
void gp_exchange_end(struct gp_exchange *exchange);
/* Instead of the end, when the run failed; NULL is nothing. */
void gp_exchange_abandon(struct gp_exchange *exchange);

#endif
