/* SPDX-License-Identifier: MIT */
/*
 * Whether a trace is what gpupool/trace.h says: for traces that were mapped,
 * not built.
 */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "gpupool/status.h"
#include "gpupool/trace.h"

/* Every index in range, every id born once and used while it lives.  Trusts
 * that arrays are as long as their counts say, and texts. */
enum gp_status gp_trace_check(const struct gp_trace *trace,
			      struct gp_diag *diag);

/* Segments in address order, without overlaps, covered by their blocks.
 * Trusts first_block and blocks. */
enum gp_status gp_state_check(const struct gp_state *state,
			      struct gp_diag *diag);

#endif
