/* SPDX-License-Identifier: MIT */
/*
 * The run of any trace can be written in every format of other tools; JSON
 * formats can be parsed, and the snapshot is a trace.
 */
#include <jansson.h>
#include <string.h>

#include "gpupool/knob.h"
#include "fuzz/trace_bytes.h"
#include "report/exchange/exchange.h"

#define LARGEST (UINT64_C(1) << 62) /* that a size can be and be read again */

/* Requests beyond the device's memory are written rounded, and larger. */
static bool is_small(const struct gp_trace *trace)
{
	for (size_t d = 0; d < trace->device_count; d++)
		for (size_t i = 0; i < trace->devices[d].event_count; i++)
			if (trace->devices[d].events[i].size > LARGEST)
				return false;
	return true;
}

/* Replays all devices; the caller frees the text. NULL: it is refused. */
static char *write_run(const struct gp_trace *trace, uint8_t release,
		       enum gp_exchange_format format, size_t *size)
{
	struct gp_replay_result *results =
		calloc(trace->device_count + 1, sizeof(*results));
	struct gp_settings settings;
	struct gp_exchange *exchange;
	struct gp_diag diag = { 0 };
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	struct gp_exchange_config config = { .format = format,
					     .trace = trace,
					     .settings = &settings,
					     .conf = "",
					     .name = "run",
					     .out = out };
	bool is_refused;

	gp_settings_init(&settings, release);
	is_refused = gp_exchange_begin(&config, &exchange, &diag) != GP_OK;
	for (uint32_t d = 0; !is_refused && d < trace->device_count; d++) {
		struct gp_replay_config run = {
			.trace = trace,
			.device = d,
			.settings = &settings,
			.engine = gp_engine_find("caching"),
			.mode = GP_WHAT_IF,
			.capacity = UINT64_C(8) << 30,
		};

		gp_exchange_listen(exchange, &run);
		must(gp_replay(&run, &results[d], &diag) == GP_OK,
		     "a trace cannot be replayed");
		gp_exchange_add(exchange, &results[d]);
	}
	if (!is_refused)
		gp_exchange_end(exchange);
	for (size_t d = 0; d < trace->device_count; d++)
		gp_replay_release(&results[d]);
	free(results);
	must(!fclose(out), "a run cannot be written");
	must(!is_refused || *diag.what, "an error says nothing");
	if (is_refused) {
		free(text);
		return NULL;
	}
	return text;
}

static void try_snapshot(const struct gp_trace *trace, uint8_t release)
{
	struct gp_trace *again;
	struct gp_diag diag = { 0 };
	size_t size;
	char *text = write_run(trace, release, GP_EXCHANGE_PICKLE, &size);

	if (!text)
		return;
	if (trace_read(text, size, &again, &diag) == GP_OK) {
		gp_trace_destroy(again);
	} else if (is_small(trace)) {
		fprintf(stderr, "%s: %s\n", diag.record, diag.what);
		must(0, "a snapshot cannot be read");
	}
	free(text);
}

static void try_json(const struct gp_trace *trace,
		     enum gp_exchange_format format)
{
	json_t *value;
	size_t size;
	char *text = write_run(trace, GP_RELEASE_LAST, format, &size);

	value = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);
	must(value != NULL, "what should be JSON is none");
	json_decref(value);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };
	size_t length;

	if (trace_read(data, size, &trace, &diag) != GP_OK)
		return 0;
	try_snapshot(trace, (uint8_t)(size % (GP_RELEASE_LAST + 1)));
	try_json(trace, GP_EXCHANGE_PERFETTO);
	try_json(trace, GP_EXCHANGE_SPEEDSCOPE);
	free(write_run(trace, GP_RELEASE_LAST, GP_EXCHANGE_FOLDED, &length));
	free(write_run(trace, GP_RELEASE_LAST, GP_EXCHANGE_CSV, &length));
	gp_trace_destroy(trace);
	return 0;
}
