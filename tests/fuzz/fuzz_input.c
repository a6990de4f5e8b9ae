/* SPDX-License-Identifier: MIT */
/*
 * Any bytes given to the readers are a trace, a log or an error with a message,
 * and a trace can be written and read again.
 */
#include "formats/source.h"
#include "fuzz/trace_bytes.h"
#include "study/oom_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_trace *trace = NULL;
	struct gp_diag diag = { 0 };
	enum gp_status status = trace_read(data, size, &trace, &diag);
	const struct gp_input_config log = { .bytes = data, .length = size };
	struct gp_diag log_diag = { 0 };
	struct oom_message message;
	struct gp_source source;

	if (gp_source_open(&source, &log, &log_diag) == GP_OK) {
		if (oom_log_scan(&source, &message))
			oom_log_conclude(&message);
		gp_source_close(&source);
	}
	trace_read_by_jansson(data, size, trace, &diag);
	if (status != GP_OK)
		return 0;
	trace_write_and_read(trace, GP_TRACE_JSON);
	trace_write_and_read(trace, GP_TRACE_JSONL);
	trace_write_and_read(trace, GP_TRACE_BINARY);
	gp_trace_destroy(trace);
	return 0;
}
