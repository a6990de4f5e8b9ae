/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: generated traces of known patterns.
 *
 * A scenario, its parameters and a seed determine the trace, byte for byte, on
 * every machine. Its requests are those of typical programs, in the order of a
 * framework; if the real program is available, its own recording is more
 * accurate.
 */
#ifndef TRACE_SCENARIO_SCENARIO_H
#define TRACE_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"

enum gp_parameter_type {
	GP_PARAMETER_COUNT,
	GP_PARAMETER_BYTES,
	GP_PARAMETER_WORD, /* the index of a word */
};

struct gp_parameter {
	const char *name;
	enum gp_parameter_type type;
	uint64_t fallback, least, most;
	/* of a GP_PARAMETER_WORD; words[most] is the last */
	const char *const *words;
	const char *sentence;
};

/* The most parameters of any scenario. */
#define GP_PARAMETERS 12

/* What the program needs according to its parameters, largest first if the
 * order is not fixed. */
struct gp_budget_row {
	const char *name;
	uint64_t bytes;
};
#define GP_BUDGET_ROWS 8
struct gp_budget {
	struct gp_budget_row rows[GP_BUDGET_ROWS];
	size_t count;
};

struct trace_writer;

struct gp_scenario {
	const char *name;
	const char *sentence;
	const struct gp_parameter *parameters;
	size_t parameter_count;
	bool needs_trace; /* it imitates a given trace */
	/* values: one for each parameter, within its range. */
	void (*write)(struct trace_writer *writer, const uint64_t *values,
		      struct gp_budget *budget);
};

const struct gp_scenario *const *gp_scenario_table(size_t *count);
const struct gp_scenario *gp_scenario_find(const char *name);

/* Parses "20", "20MiB" or a word, depending on the parameter; GP_USAGE, with
 * what it accepts, if the text is invalid. */
enum gp_status gp_parameter_parse(const struct gp_parameter *parameter,
				  const char *text, uint64_t *value,
				  struct gp_diag *diag);

struct gp_scenario_config {
	const struct gp_scenario *scenario;
	const uint64_t *values;
	uint64_t seed;
	/* the trace to imitate; NULL unless needed */
	const struct gp_trace *from;
};

/* The caller destroys *trace. */
enum gp_status gp_scenario_make(const struct gp_scenario_config *config,
				struct gp_trace **trace,
				struct gp_budget *budget, struct gp_diag *diag);

#endif
