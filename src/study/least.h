/* SPDX-License-Identifier: MIT */
/* How little of a device a trace can do with, known without a replay. */
#ifndef STUDY_LEAST_H
#define STUDY_LEAST_H

#include "gpupool/knob.h"
#include "gpupool/trace.h"

/* Bytes, in whole granules, that the engine caching needs to serve every
 * request under these settings; 0: this is not known. */
uint64_t least_reserved(const struct gp_trace *trace, uint32_t device,
			const struct gp_settings *settings);

#endif
