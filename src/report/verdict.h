/* SPDX-License-Identifier: MIT */
/* A verdict, for a person and for a program. */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include "gpupool/study.h"
#include "report/emit.h"
#include "report/page.h"

/* The verdict in a sentence. */
struct gp_words verdict_sentence(const struct gp_verdict *verdict);
/* The call that records requests, for that release of PyTorch. */
const char *verdict_record_call(uint8_t release);
/* Further sentences that a reader has to know; "" if there are none. */
struct gp_words verdict_limits(const struct gp_verdict *verdict);
/* Whether these say how much the program itself holds at once. */
bool verdict_tells_live(const struct gp_verdict *v);
/* Those of them that say how reliable the trace and the setting are. */
struct gp_words verdict_caveats(const struct gp_verdict *verdict);
/* What the peaks of replays refer to, if not to the program: " of what the
 * trace holds". */
const char *verdict_part(const struct gp_verdict *verdict);
/* Whether the trace does not fit as it is. */
bool verdict_is_bad(const struct gp_verdict *verdict);

/* "PYTORCH_CUDA_ALLOC_CONF=...", as a shell takes it. */
struct gp_words verdict_line(const char *conf);
/* The variable's other name in that release; "" if it has none. */
struct gp_words verdict_other_name(const struct gp_verdict *verdict);
/* Prints both, each on a line with that prefix; prints nothing if nothing is
 * advised. */
void verdict_print_line(const struct gp_page *page, const char *before,
			const struct gp_verdict *verdict);

/* "verdict": {...} */
void gp_emit_verdict(struct gp_emit *json, const struct gp_verdict *verdict);
/* "devices": [{"device": 0, "verdict": {...}}], with one case per device. */
void gp_emit_verdicts(struct gp_emit *json, const struct gp_trace *trace,
		      const struct gp_study *study);
/* "replays", and "tried": [...]; the first is the present setting. */
void gp_emit_trials(struct gp_emit *json, const struct gp_study *study);

#endif
