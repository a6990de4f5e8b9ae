/* SPDX-License-Identifier: MIT */
/*
 * What an engine promises, tried on programs that are made up from a seed: for
 * gpupool check-engine, and for the tests of those that come along.
 */
#ifndef STUDY_CONTRACT_H
#define STUDY_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "gpupool/allocator.h"

struct gp_promise {
	const char *sentence;
	bool is_kept;
	char note[600]; /* what was tried; why it is not kept */
};

#define GP_PROMISES 7

struct gp_contract_config {
	const struct gp_engine *engine;
	const char *torch_lib; /* as in struct gp_replay_config */
	/* Called now and then, with the promise that is tried; NULL: nobody
	 * watches. */
	void (*step)(void *arg, const char *sentence);
	void *arg;
};

/* As replays of the default settings have it. */
void gp_contract_try(const struct gp_contract_config *config,
		     struct gp_promise promises[GP_PROMISES]);

#endif
