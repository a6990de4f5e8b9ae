/* SPDX-License-Identifier: MIT */
/* Scenarios: their registry, their parameters, and how a trace is made. */
#include "trace/scenario/scenario.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "trace/scenario/scenarios.h"

static const struct gp_scenario *const table[] = {
	&checkerboard_scenario, &ragged_scenario,  &decoding_scenario,
	&spikes_scenario,	&tenants_scenario, &transformer_scenario,
	&histogram_scenario,
};

#define SCENARIOS (sizeof(table) / sizeof(*table))

const struct gp_scenario *const *gp_scenario_table(size_t *count)
{
	*count = SCENARIOS;
	return table;
}

const struct gp_scenario *gp_scenario_find(const char *name)
{
	for (size_t i = 0; i < SCENARIOS; i++)
		if (!strcmp(table[i]->name, name))
			return table[i];
	return NULL;
}

static bool parse_word(const struct gp_parameter *parameter, const char *text,
		       uint64_t *value)
{
	for (*value = 0; *value <= parameter->most; (*value)++)
		if (!strcmp(parameter->words[*value], text))
			return true;
	return false;
}

static void hint_words(const struct gp_parameter *parameter,
		       struct gp_diag *diag)
{
	char words[sizeof(diag->hint)] = "";

	for (uint64_t i = 0; i <= parameter->most; i++) {
		size_t length = strlen(words);

		snprintf(words + length, sizeof(words) - length, "%s%s",
			 i ? ", " : "", parameter->words[i]);
	}
	gp_diag_hint(diag, "%s is one of %s", parameter->name, words);
}

static void hint_range(const struct gp_parameter *parameter,
		       struct gp_diag *diag)
{
	bool is_bytes = parameter->type == GP_PARAMETER_BYTES;

	gp_diag_hint(diag, "%s is from %s to %s", parameter->name,
		     is_bytes ? GP_BYTES(parameter->least)
			      : GP_COUNT(parameter->least),
		     is_bytes ? GP_BYTES(parameter->most)
			      : GP_COUNT(parameter->most));
}

enum gp_status gp_parameter_parse(const struct gp_parameter *parameter,
				  const char *text, uint64_t *value,
				  struct gp_diag *diag)
{
	bool is_good = false;

	switch (parameter->type) {
	case GP_PARAMETER_COUNT: is_good = gp_count_parse(text, value); break;
	case GP_PARAMETER_BYTES: is_good = gp_bytes_parse(text, value); break;
	case GP_PARAMETER_WORD:
		is_good = parse_word(parameter, text, value);
		break;
	}
	if (is_good && *value >= parameter->least && *value <= parameter->most)
		return GP_OK;
	if (parameter->type == GP_PARAMETER_WORD)
		hint_words(parameter, diag);
	else
		hint_range(parameter, diag);
	return gp_diag_set(diag, GP_USAGE, "%s=%s is not possible",
			   parameter->name, text);
}

/* ---- functions for scenarios ---- */

/* Handles of real programs have similar values. */
#define STREAM_HANDLE UINT64_C(0x5500000000)

void writer_site(struct trace_writer *writer, const char *text)
{
	writer->site = gp_build_call(
		writer->build, gp_build_text(writer->build, text, strlen(text)),
		GP_NO_SITE);
}

static struct gp_event make_event(const struct trace_writer *writer,
				  enum gp_event_kind kind)
{
	return (struct gp_event){
		.kind = (uint8_t)kind,
		.id = GP_NO_ID,
		.site = GP_NO_SITE,
		.stream = writer->stream,
		.pool = writer->pool,
	};
}

struct written_block writer_alloc(struct trace_writer *writer, uint64_t size)
{
	struct gp_event event = make_event(writer, GP_ALLOC);
	struct written_block held = { writer->blocks++, size };

	event.id = 0;
	event.size = size;
	event.site = writer->site;
	gp_build_event(writer->build, writer->device, &event, held.name);
	writer->live_bytes += size;
	if (writer->live_bytes > writer->peak_bytes)
		writer->peak_bytes = writer->live_bytes;
	return held;
}

void writer_free(struct trace_writer *writer, struct written_block *held)
{
	struct gp_event event = make_event(writer, GP_FREE);

	if (!held->size)
		return;
	event.id = 0;
	gp_build_event(writer->build, writer->device, &event, held->name);
	writer->live_bytes -= held->size;
	*held = (struct written_block){ 0 };
}

void writer_mark(struct trace_writer *writer, const char *name,
		 enum gp_mark_stage stage)
{
	struct gp_event event = make_event(writer, GP_MARK);

	event.text = gp_build_text(writer->build, name, strlen(name));
	event.mark = (uint16_t)stage;
	gp_build_event(writer->build, writer->device, &event, 0);
}

void writer_ask(struct trace_writer *writer, enum gp_event_kind kind)
{
	struct gp_event event = make_event(writer, kind);

	gp_build_event(writer->build, writer->device, &event, 0);
}

/* The tables hold far more than a scenario's parameters permit. */
uint16_t writer_stream(struct trace_writer *writer, uint64_t n)
{
	struct gp_diag diag = { 0 };
	uint16_t stream = 0;
	enum gp_status status = gp_build_stream(
		writer->build, STREAM_HANDLE + n * 16, &stream, &diag);

	assert(status == GP_OK);
	(void)status;
	return stream;
}

uint16_t writer_pool(struct trace_writer *writer, uint64_t n)
{
	struct gp_diag diag = { 0 };
	uint16_t pool = 0;
	enum gp_status status = gp_build_pool(
		writer->build, (struct gp_pool_id){ 0, n }, &pool, &diag);

	assert(status == GP_OK);
	(void)status;
	return pool;
}

/* ---- making a trace ---- */

enum gp_status gp_scenario_make(const struct gp_scenario_config *config,
				struct gp_trace **trace,
				struct gp_budget *budget, struct gp_diag *diag)
{
	struct trace_writer writer = {
		.build = gp_build_create(GP_BUILD_REQUESTS),
		.rng = { config->seed },
		.from = config->from,
		.site = GP_NO_SITE,
	};
	enum gp_status status =
		gp_build_device(writer.build, 0, &writer.device, diag);

	if (status != GP_OK) {
		gp_build_destroy(writer.build);
		return status;
	}
	gp_build_source(writer.build, "gpupool-gen");
	gp_build_settings(writer.build, "");
	gp_build_complete(writer.build, true);
	*budget = (struct gp_budget){ 0 };
	config->scenario->write(&writer, config->values, budget);
	budget_add(budget, "live at the peak", writer.peak_bytes);
	return gp_build_finish(writer.build, trace, diag);
}
