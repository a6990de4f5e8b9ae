/* SPDX-License-Identifier: MIT */
/*
 * Reading traces in any format that gpupool knows, recognised by content, and
 * decompressed from gzip, zstd or zip. The input is not trusted.
 */
#ifndef GPUPOOL_INPUT_H
#define GPUPOOL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define GP_INPUT_MOST (UINT64_C(4) << 30)

struct gp_input_config {
	const char *path; /* "-": standard input */
	/* A trace in memory, borrowed for the duration of the call; path is
	 * then its name in messages, or NULL. NULL: read the file. */
	const void *bytes;
	size_t length;
	/* The most bytes that a compressed file may decompress to; 0:
	 * GP_INPUT_MOST. Without a limit, a file of a few kilobytes could fill
	 * all memory. */
	uint64_t most_bytes;
	/* Called from time to time with the bytes read and the size of the
	 * input (0: unknown). May be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	/* Read the requests for pinned host memory of a snapshot (host_traces),
	 * as the only device. */
	bool is_of_host;
	/* Parse all JSON with jansson: slower, with exactly the same result.
	 * Tests compare the fast readers with it. */
	bool by_jansson;
};

/* Reads a trace. On success the caller owns *trace (gp_trace_destroy).
 * GP_INPUT: the input is not a valid trace; GP_SYSTEM: it cannot be read. */
enum gp_status gp_input_read(const struct gp_input_config *config,
			     struct gp_trace **trace, struct gp_diag *diag);

/* A description of a format that can be read. */
struct gp_input_format {
	const char *name, *sentence;
	/* gp_trace.source of its traces, which determines what they lack
	 * (gp_trace_unknown); NULL: they lack nothing. */
	const char *source;
};

/* The formats, by index from 0; NULL: past the last one. */
const struct gp_input_format *gp_input_format(size_t index);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
