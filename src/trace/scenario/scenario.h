/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: traces of known patterns, made up rather than recorded.
 *
 * A scenario, its parameters and a seed decide the trace, to the byte, on every
 * machine.  They are what programs of that kind ask for, in the order in which
 * a framework asks; where a real program is at hand, its own recording says
 * more.
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
	GP_PARAMETER_WORD, /* which of the words */
};

struct gp_parameter {
	const char *name;
	enum gp_parameter_type type;
	uint64_t fallback, least, most;
	const char *const *words; /* of a GP_PARAMETER_WORD; [most] is last */
	const char *sentence;
};

/* Most parameters that a scenario has. */
#define GP_PARAMETERS 12

/* What the program needs by its own account, largest first where it says
 * something to list them. */
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
	bool needs_trace; /* that it is made after */
	/* values: one for each parameter, within its range. */
	void (*write)(struct trace_writer *writer, const uint64_t *values,
		      struct gp_budget *budget);
};

const struct gp_scenario *const *gp_scenario_table(size_t *count);
const struct gp_scenario *gp_scenario_find(const char *name);

/* "20" or "20MiB" or a word, as the parameter takes it; GP_USAGE with what it
 * takes otherwise. */
enum gp_status gp_parameter_parse(const struct gp_parameter *parameter,
				  const char *text, uint64_t *value,
				  struct gp_diag *diag);

struct gp_scenario_config {
	const struct gp_scenario *scenario;
	const uint64_t *values;
	uint64_t seed;
	const struct gp_trace *from; /* NULL unless it needs one */
};

/* The caller destroys *trace. */
enum gp_status gp_scenario_make(const struct gp_scenario_config *config,
				struct gp_trace **trace,
				struct gp_budget *budget, struct gp_diag *diag);

#endif
