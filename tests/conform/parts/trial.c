/* SPDX-License-Identifier: MIT */
/* A trial: its requests, and what they need. */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/knob.h"

void trial_release(struct trial *trial)
{
	free(trial->ops);
	*trial = (struct trial){ 0 };
}

void trial_copy(struct trial *to, const struct trial *from)
{
	*to = *from;
	to->room = 0;
	to->ops =
		gp_mem_grow(NULL, &to->room, from->count + 1, sizeof(*to->ops));
	memcpy(to->ops, from->ops, from->count * sizeof(*to->ops));
}

struct op *trial_add(struct trial *trial, const struct op *op)
{
	GP_GROW(trial->ops, trial->count + 1, trial->room);
	trial->ops[trial->count] = *op;
	return &trial->ops[trial->count++];
}

/*
 * The first release that has all settings of a change. A release that refuses a
 * change half-way may be left without max_split_size; see conf_change.
 */
static uint8_t conf_since(const char *conf)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	uint8_t since = 2; /* the call itself */

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(knobs[i].name);
		const char *at = strstr(conf, knobs[i].name);

		if (at && at[length] == ':' && knobs[i].since > since)
			since = knobs[i].since;
	}
	return since;
}

/* MemPools were introduced in steps; before 2.3, only a capture routes, and it
 * is identified by its stream. */
static uint8_t op_since(const struct op *op)
{
	switch (op->kind) {
	case GP_POOL_BEGIN: return 3;
	case GP_CAPTURE_BEGIN: return op->flags & GP_NAMES_STREAM ? 0 : 3;
	case GP_POOL_CREATE: return 7;
	case GP_POOL_USE_ON_OOM:
	case GP_POOL_NO_USE_ON_OOM: return 8;
	case GP_EMPTY_CACHE: return op->pool.second ? 8 : 0;
	case GP_POOL_NO_SPLIT: return 10;
	case GP_SET_SETTINGS: return conf_since(op->text);
	default: return 0;
	}
}

uint8_t trial_since(const struct trial *trial)
{
	uint8_t since = 0;

	for (size_t i = 0; i < trial->count; i++) {
		uint8_t one = op_since(&trial->ops[i]);

		since = one > since ? one : since;
	}
	return since;
}
