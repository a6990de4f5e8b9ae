/* SPDX-License-Identifier: MIT */
/*
 * The promises of an engine, tested with programs that are generated from
 * seeds: for gpupool check-engine, and for the tests of the built-in engines.
 */
#ifndef STUDY_CONTRACT_H
#define STUDY_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "gpupool/allocator.h"

struct gp_promise {
	const char *sentence;
	bool is_kept;
	char note[600]; /* what was tested, or why it is not kept */
};

#define GP_PROMISES 7

struct gp_contract_config {
	const struct gp_engine *engine;
	const char *torch_lib; /* as in struct gp_replay_config */
	/* Called now and then with the promise under test; may be NULL. */
	void (*step)(void *arg, const char *sentence);
	void *arg;
};

/* Tests all promises with default settings. */
void gp_contract_try(const struct gp_contract_config *config,
		     struct gp_promise promises[GP_PROMISES]);

#endif
