/* SPDX-License-Identifier: MIT */
/* Whether a trace, replayed as it was recorded, comes out as it was. */
#ifndef COMMANDS_PROOF_H
#define COMMANDS_PROOF_H

#include "commands/plan.h"

/* Of all devices together. */
struct gp_proof {
	uint64_t allocs;
	uint64_t addresses, same_addresses; /* that were recorded */
	uint64_t counters, same_counters;
	char name[96]; /* the first counter that differs; "": none */
	int64_t recorded, replayed;
};

/* The plan has been played. */
struct gp_proof gp_proof_of(const struct gp_plan *plan);

bool gp_proof_is_exact(const struct gp_proof *proof);

/* "14,956 of 14,956 addresses, all 123 counters" */
#define GP_PROOF_TEXT 320
const char *gp_proof_text(const struct gp_proof *proof,
			  char text[GP_PROOF_TEXT]);

#endif
