/* SPDX-License-Identifier: MIT */
/* Writing traces: the formats. */
#include "gpupool/write.h"

#include <errno.h>
#include <string.h>

#include "trace/write.h"

enum gp_status gp_trace_write(const struct gp_trace *trace,
			      enum gp_trace_format format, FILE *out,
			      struct gp_diag *diag)
{
	errno = 0;
	if (format == GP_TRACE_BINARY)
		gp_write_binary(trace, out);
	else
		gp_write_json(trace, format == GP_TRACE_JSONL, out);
	if (fflush(out) == 0 && !ferror(out))
		return GP_OK;
	return gp_diag_set(diag, GP_SYSTEM, "cannot write: %s",
			   errno ? strerror(errno) : "the stream failed");
}
