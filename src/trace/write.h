/* SPDX-License-Identifier: MIT */
/* The writers of the formats; gp_trace_write chooses. */
#ifndef TRACE_WRITE_H
#define TRACE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "gpupool/trace.h"

/* is_lines: JSON Lines.  Errors are the stream's. */
void gp_write_json(const struct gp_trace *trace, bool is_lines, FILE *out);
void gp_write_binary(const struct gp_trace *trace, FILE *out);

#endif
