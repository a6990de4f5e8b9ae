/* SPDX-License-Identifier: MIT */
/*
 * Reading traces: any format gpupool knows, recognised by content, unpacked
 * from gzip and zstd on the way.  The only code that trusts nothing.
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
	/* Of a trace in memory: its bytes, borrowed until the call ends; path
	 * is then what messages call it, or NULL.  NULL: there is a file. */
	const void *bytes;
	size_t length;
	/* What a packed file may unpack to; 0: GP_INPUT_MOST.  A few thousand
	 * bytes can be made to fill any memory. */
	uint64_t most_bytes;
	/* Called now and then with the bytes read and the bytes there are
	 * (0: not known).  May be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	/* Of a snapshot, what pinned host memory was asked for (host_traces),
	 * as the only device. */
	bool is_of_host;
	/* JSON by jansson alone: slower, and the same to the letter.  What
	 * tests hold the readers of the common forms against. */
	bool by_jansson;
};

/* On success *trace is the caller's (gp_trace_destroy). */
enum gp_status gp_input_read(const struct gp_input_config *config,
			     struct gp_trace **trace, struct gp_diag *diag);

/* What is read, for people. */
struct gp_input_format {
	const char *name, *sentence;
	const char *source; /* of its traces; NULL: they are told in full */
};

/* By index, from 0 on; NULL: there are no more. */
const struct gp_input_format *gp_input_format(size_t index);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
