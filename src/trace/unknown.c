/* SPDX-License-Identifier: MIT */
/* What recordings cannot tell, by their source. */
#include <string.h>

#include "gpupool/trace.h"

static const struct {
	const char *source, *unknown;
} rows[] = {
	{ "rmm-log", "pools, blocks that other streams use, other devices, and "
		     "what else took memory; RMM's addresses are not "
		     "PyTorch's" },
	{ "torch-profiler",
	  "streams, pools, segments, OOMs and sizes as asked for: they are "
	  "those of blocks" },
};

const char *gp_trace_unknown(const struct gp_trace *trace)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (trace->source && !strcmp(trace->source, rows[i].source))
			return rows[i].unknown;
	return NULL;
}

bool gp_trace_doubts_path(const struct gp_trace *trace)
{
	return trace->values && strcmp(trace->values, GP_VALUES_KNOWN) != 0;
}
