/* SPDX-License-Identifier: MIT */
/* gpupool gen: writes a synthetic trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/help.h"
#include "commands/nearest.h"
#include "commands/options.h"
#include "commands/trace_file.h"
#include "gpupool/input.h"
#include "trace/scenario/scenario.h"

#define COLUMNS 80

static const struct gp_parameter seed_parameter = {
	"seed",
	GP_PARAMETER_COUNT,
	1,
	0,
	UINT64_MAX,
	NULL,
	"the same seed gives the same trace",
};

static enum gp_status no_scenario(const char *name, struct gp_diag *diag)
{
	size_t count;
	const struct gp_scenario *const *table = gp_scenario_table(&count);
	const char **names = gp_mem_alloc(count, sizeof(*names)), *near;

	for (size_t i = 0; i < count; i++)
		names[i] = table[i]->name;
	near = gp_nearest(name, names, count);
	free(names);
	if (near)
		gp_diag_hint(diag, "did you mean %s?", near);
	else
		gp_diag_hint(diag, "gpupool gen lists them");
	return gp_diag_set(diag, GP_USAGE, "there is no scenario %s", name);
}

static const struct gp_parameter *find(const struct gp_scenario *scenario,
				       const char *text, size_t length)
{
	for (size_t i = 0; i < scenario->parameter_count; i++) {
		const struct gp_parameter *p = &scenario->parameters[i];

		if (strlen(p->name) == length &&
		    !strncmp(p->name, text, length))
			return p;
	}
	return strlen(seed_parameter.name) == length &&
			       !strncmp(seed_parameter.name, text, length)
		       ? &seed_parameter
		       : NULL;
}

/* "name=value" */
static enum gp_status set(const struct gp_scenario *scenario,
			  const char *operand, uint64_t *values, uint64_t *seed,
			  struct gp_diag *diag)
{
	size_t length = strcspn(operand, "=");
	const struct gp_parameter *p = find(scenario, operand, length);

	if (p && operand[length])
		return gp_parameter_parse(
			p, operand + length + 1,
			p == &seed_parameter
				? seed
				: &values[p - scenario->parameters],
			diag);
	if (p)
		return gp_diag_set(diag, GP_USAGE, "%s: its value is missing",
				   operand);
	gp_diag_hint(diag, "gpupool gen lists them, for example %s=%s",
		     scenario->parameters[0].name, "20");
	return gp_diag_set(diag, GP_USAGE, "%s has no parameter %s",
			   scenario->name, operand);
}

static void list_parameter(const struct gp_parameter *p, FILE *out)
{
	char text[GP_COUNT_TEXT], name[80];
	const char *fallback = p->type == GP_PARAMETER_WORD
				       ? p->words[p->fallback]
			       : p->type == GP_PARAMETER_BYTES
				       ? gp_bytes_text(p->fallback, text)
				       : gp_count_text(p->fallback, text);

	snprintf(name, sizeof(name), "  %s=%s", p->name, fallback);
	gp_help_entry(name, p->sentence, COLUMNS, out);
}

static void list(FILE *out)
{
	size_t count;
	const struct gp_scenario *const *table = gp_scenario_table(&count);

	fputs("Scenarios, and the defaults of their parameters:\n", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "\n%s: %s\n", table[i]->name, table[i]->sentence);
		for (size_t k = 0; k < table[i]->parameter_count; k++)
			list_parameter(&table[i]->parameters[k], out);
	}
	fputs("\nEach:\n", out);
	list_parameter(&seed_parameter, out);
}

/* Printed to standard error, not into the trace. */
static void print_budget(const struct gp_budget *budget)
{
	for (size_t i = 0; i < budget->count; i++)
		fprintf(gp_outlet_stderr(), "%12s  %s\n",
			GP_BYTES(budget->rows[i].bytes), budget->rows[i].name);
}

/* Reads the file that a scenario is modelled on; nothing if it needs none. */
static enum gp_status read_from(const struct gp_options *options,
				const struct gp_scenario *scenario,
				struct gp_trace **from, struct gp_diag *diag)
{
	const struct gp_input_config config = { .path = options->from_trace,
						.most_bytes =
							options->max_input };

	if (scenario->needs_trace && config.path)
		return gp_trace_file_input(&config, from, diag);
	if (scenario->needs_trace)
		return gp_diag_set(diag, GP_USAGE, "%s needs --from TRACE",
				   scenario->name);
	if (config.path)
		return gp_diag_set(diag, GP_USAGE,
				   "%s is not made from a trace",
				   scenario->name);
	return GP_OK;
}

static enum gp_status make(const struct gp_options *options,
			   struct gp_trace **trace, struct gp_diag *diag)
{
	const struct gp_scenario *scenario =
		gp_scenario_find(options->operands[0]);
	uint64_t values[GP_PARAMETERS];
	struct gp_scenario_config config = { .scenario = scenario,
					     .values = values,
					     .seed = seed_parameter.fallback };
	struct gp_trace *from = NULL;
	enum gp_status status = GP_OK;
	struct gp_budget budget;

	if (!scenario)
		return no_scenario(options->operands[0], diag);
	for (size_t i = 0; i < scenario->parameter_count; i++)
		values[i] = scenario->parameters[i].fallback;
	for (size_t i = 1; status == GP_OK && i < options->operand_count; i++)
		status = set(scenario, options->operands[i], values,
			     &config.seed, diag);
	if (status == GP_OK)
		status = read_from(options, scenario, &from, diag);
	config.from = from;
	if (status == GP_OK)
		status = gp_scenario_make(&config, trace, &budget, diag);
	gp_trace_destroy(from);
	if (status == GP_OK && !options->quiet)
		print_budget(&budget);
	return status;
}

static enum gp_status gen_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	const char *path = options->output ? options->output : "-";
	struct gp_trace *trace = NULL;
	struct gp_trace_form form;
	enum gp_status status;

	if (!options->operand_count) {
		list(gp_outlet_stdout());
		return GP_OK;
	}
	status = gp_trace_form_of(options, path, &form, diag);
	if (status == GP_OK)
		status = make(options, &trace, diag);
	if (status == GP_OK)
		status = gp_trace_file_write(trace, &form, path, diag);
	gp_trace_destroy(trace);
	return status;
}

static const struct gp_option gen_options[] = {
	{ "from", 0, GP_OPTION_TEXT, GP_AT(from_trace), "TRACE",
	  "The trace whose histogram is used." },
	GP_TRACE_FORMAT_OPTION,
	{ "output", 'o', GP_OPTION_TEXT, GP_AT(output), "FILE",
	  "Write the trace to this file, complete or not at all." },
	{ 0 },
};

const struct gp_command gp_gen_command = {
	.name = "gen",
	.operands = "[SCENARIO [NAME=VALUE...]]",
	.most = 32,
	.sentence = "Generate a trace of a known pattern.",
	.about = "Without operands, lists the scenarios and their parameters. "
		 "The trace goes to -o FILE, whose ending selects the format, "
		 "or to standard output; what the generated program needs by "
		 "its own count goes to standard error.",
	.options = "from format output max-input quiet",
	.own = gen_options,
	.run = gen_command,
};
