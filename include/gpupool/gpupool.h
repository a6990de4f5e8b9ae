/* SPDX-License-Identifier: MIT */
/*
 * The library, all of it: reads traces of GPU allocators, replays them under
 * other settings, measures the runs and says which setting serves.
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
 *		printf("%.0f bytes\n", gp_measure_value(GP_PEAK_RESERVED,
 *&peak)); gp_replay_release(&run);
 *	}
 *	gp_trace_destroy(trace);
 *
 * A config whose other members are zero asks for what is usual.  Sizes are
 * bytes.  What can fail returns enum gp_status and says why in the diag; then
 * results are as they were, and there is nothing to release.
 *
 * Threads: a trace is never written once it is read, tables are const, and
 * there is no state but in what a caller passes.  Any number of threads may
 * read, replay and study at once, also the same trace, each with a config, a
 * result and a diag of its own.  gp_memory_handle alone is for the whole
 * process.
 *
 * Link with what pkg-config --cflags --libs gpupool says; for libgpupool.a with
 * --static, too.  A program runs with any library of the soname that it was
 * linked with (libgpupool.so.0).  The number goes up when structs change, and
 * programs are compiled again then.
 */
#ifndef GPUPOOL_GPUPOOL_H
#define GPUPOOL_GPUPOOL_H

#include "gpupool/allocator.h"
#include "gpupool/ask.h"
#include "gpupool/device.h"
#include "gpupool/input.h"
#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "gpupool/price.h"
#include "gpupool/release.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/study.h"
#include "gpupool/trace.h"
#include "gpupool/write.h"

#define GP_VERSION "0.1.0"

#endif
