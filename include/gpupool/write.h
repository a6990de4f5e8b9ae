/* SPDX-License-Identifier: MIT */
/*
 * Writing traces: the gpupool-trace format as JSON, as JSON Lines, or in the
 * compact binary form. Reading any of them back gives an equal trace.
 */
#ifndef GPUPOOL_WRITE_H
#define GPUPOOL_WRITE_H

#include <stdio.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum gp_trace_format {
	GP_TRACE_JSON,
	GP_TRACE_JSONL,
	GP_TRACE_BINARY,
};

/* Writes to an open stream and leaves it open. GP_SYSTEM if that fails. */
enum gp_status gp_trace_write(const struct gp_trace *trace,
			      enum gp_trace_format format, FILE *out,
			      struct gp_diag *diag);

/* The binary form (trace/binary.h). Loads a trace of `size` bytes from a file,
 * which stays open. */
#define GP_BINARY_MAGIC "gpupool\x1a"
enum gp_status gp_trace_map(int fd, uint64_t size, struct gp_trace **trace,
			    struct gp_diag *diag);
/* Loads a trace from bytes in memory, which must be aligned as by malloc() and
 * are not needed after the call. */
enum gp_status gp_trace_from_bytes(const void *bytes, uint64_t size,
				   struct gp_trace **trace,
				   struct gp_diag *diag);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
