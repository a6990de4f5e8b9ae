/* SPDX-License-Identifier: MIT */
/*
 * Writing traces: gpupool-trace as JSON, as JSON Lines, or the compact binary
 * form.  Reading any of them back gives an equal trace.
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

/* Writes to an open stream, which stays open; errors are the stream's. */
enum gp_status gp_trace_write(const struct gp_trace *trace,
			      enum gp_trace_format format, FILE *out,
			      struct gp_diag *diag);

/* The binary form; defined in trace/binary.h, read by formats/. */
#define GP_BINARY_MAGIC "gpupool\x1a"
enum gp_status gp_trace_map(int fd, uint64_t size, struct gp_trace **trace,
			    struct gp_diag *diag);
/* From bytes that stay the caller's, aligned as malloc() aligns. */
enum gp_status gp_trace_from_bytes(const void *bytes, uint64_t size,
				   struct gp_trace **trace,
				   struct gp_diag *diag);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
