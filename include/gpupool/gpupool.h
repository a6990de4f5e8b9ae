/* SPDX-License-Identifier: MIT */
/*
 * The whole library: reads traces of GPU allocators, replays them under other
 * settings, measures the runs, and says which setting serves.
 *
 *	struct gp_input_config file = { .path = "snapshot.pickle" };
 *	struct gp_diag diag = { 0 };
 *	struct gp_replay_result run;
 *	struct gp_trace *trace;
 *
 *	if (gp_input_read(&file, &trace, &diag) != GP_OK)
 *		return fail(&diag);
 *	struct gp_replay_config what_if = {
 *		.trace = trace,
 *		.mode = GP_WHAT_IF,
 *		.conf = "max_split_size_mb:128",
 *	};
 *	if (gp_replay(&what_if, &run, &diag) == GP_OK) {
 *		struct gp_subject peak = gp_at_peak(&run);
 *
 *		printf("%.0f bytes\n",
 *		       gp_measure_value(GP_PEAK_RESERVED, &peak));
 *		gp_replay_release(&run);
 *	}
 *	gp_trace_destroy(trace);
 *
 * The members of a config that are zero stand for their usual values, unless
 * their comments say otherwise.  Sizes are in bytes.  Every function that can
 * fail returns enum gp_status and explains a failure in the diag; there is then
 * nothing to release.
 *
 * Thread-safety: a trace is immutable once it has been read, tables are const,
 * and there is no other state than what a caller passes.  Any number of threads
 * may read, replay and study at the same time, even the same trace, each with
 * its own config, result and diag.  Only gp_memory_handle() applies to the
 * whole process.
 *
 * Link with the output of pkg-config --cflags --libs gpupool; add --static for
 * libgpupool.a.  A program runs with every library of the soname that it was
 * linked with (libgpupool.so.0).  The soname changes when a struct changes;
 * programs then have to be recompiled.
 */
#ifndef GPUPOOL_GPUPOOL_H
#define GPUPOOL_GPUPOOL_H

#include "gpupool/allocator.h"
#include "gpupool/ask.h"
#include "gpupool/device.h"
#include "gpupool/input.h"
#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/study.h"
#include "gpupool/trace.h"

#define GP_VERSION "0.1.0"

#endif
