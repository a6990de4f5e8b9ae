/* SPDX-License-Identifier: MIT */
/*
 * Checks whether a trace keeps the promises of gpupool/trace.h, for traces that
 * were read from the binary form instead of being built.
 */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "gpupool/status.h"
#include "gpupool/trace.h"

/* Checks that every index is in range, and that every id is born once and used
 * while it is live. Trusts the texts, and that arrays are as long as their
 * counts. */
enum gp_status gp_trace_check(const struct gp_trace *trace,
			      struct gp_diag *diag);

/* Checks that segments are in order of address, do not overlap, and are covered
 * by their blocks. Trusts first_block and blocks. */
enum gp_status gp_state_check(const struct gp_state *state,
			      struct gp_diag *diag);

#endif
