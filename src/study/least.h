/* SPDX-License-Identifier: MIT */
/* A lower bound for a trace's need, without a replay. */
#ifndef STUDY_LEAST_H
#define STUDY_LEAST_H

#include "gpupool/knob.h"
#include "gpupool/trace.h"

/* Returns a lower bound, in bytes and whole granules, for what the engine
 * caching needs to serve every request under these settings; 0: none is
 * known. */
uint64_t least_reserved(const struct gp_trace *trace, uint32_t device,
			const struct gp_settings *settings);

#endif
