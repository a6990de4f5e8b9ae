/* SPDX-License-Identifier: MIT */
/* gpupool.json while it is read: what its parts share. */
#ifndef REPORT_GATE_READING_H
#define REPORT_GATE_READING_H

#include <jansson.h>

#include "base/arena.h"
#include "report/gate/gate.h"

struct gate_store {
	struct gp_gate gate;
	struct gp_arena arena;
};

struct reading {
	const struct gp_gate_config *config;
	struct gate_store *store;
	const json_t *shared; /* limits of all runs; NULL: none */
	struct gp_diag *diag;
};

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

bool reading_knows(const char *key, const char *const *words, size_t count);

/* GP_INPUT: there is no such "key", "number", "setting"; and what may have
 * been meant. */
enum gp_status reading_unknown(const struct reading *r, const char *what,
			       const char *key, const char *const *words,
			       size_t count);

/* The run's limits: the shared ones, its own, and the defaults. */
enum gp_status reading_limits(const struct reading *r, const json_t *own,
			      struct gp_gate_run *run);

#endif
