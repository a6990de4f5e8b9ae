/* SPDX-License-Identifier: MIT */
/* Running a trial on an engine. */
#include "outcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Trace entries name their pool from 2.12 on. */
#define FIRST_WITH_POOLS 12

bool deed_has_pool(uint8_t release)
{
	return release >= FIRST_WITH_POOLS;
}

static void keep(void *arg, const struct gp_action *action, uint64_t event)
{
	struct outcome *outcome = arg;

	GP_GROW(outcome->deeds, outcome->count + 1, outcome->room);
	outcome->deeds[outcome->count++] = (struct deed){ *action, event };
}

enum gp_status outcome_run(struct outcome *outcome, const struct outcome_of *of,
			   struct gp_diag *diag)
{
	struct gp_settings settings;
	struct gp_replay_config config = {
		.trace = of->trace,
		.device = of->device,
		.settings = &settings,
		.engine = gp_engine_find(of->torch_lib ? "torch" : "caching"),
		.conf = of->trace->settings,
		.torch_lib = of->torch_lib,
		.mode = GP_WHAT_IF,
		.capacity = of->trace->devices[of->device].total_memory,
		.action = keep,
		.action_arg = outcome,
	};
	enum gp_status status;

	*outcome = (struct outcome){ .release = of->release };
	gp_settings_init(&settings, of->release);
	status = gp_settings_parse(&settings, of->trace->settings, diag);
	if (status == GP_OK)
		status = gp_replay(&config, &outcome->result, diag);
	return status;
}

void outcome_release(struct outcome *outcome)
{
	gp_replay_release(&outcome->result);
	free(outcome->deeds);
	*outcome = (struct outcome){ 0 };
}

bool deed_equal(const struct deed *a, const struct deed *b, uint8_t release)
{
	const struct gp_action *x = &a->action, *y = &b->action;

	return a->event == b->event && x->kind == y->kind &&
	       x->stream == y->stream && x->id == y->id && x->addr == y->addr &&
	       x->size == y->size &&
	       (x->pool == y->pool || !deed_has_pool(release));
}

/* ---- the order that is not compared ---- */

static bool is_unordered(const struct deed *deed)
{
	switch (deed->action.kind) {
	case GP_FREE_COMPLETED:
	case GP_SEGMENT_FREE:
	case GP_SEGMENT_UNMAP: return true;
	default: return false;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct deed *x = a, *y = b;

	return (x->action.addr > y->action.addr) -
	       (x->action.addr < y->action.addr);
}

/* The end of the group of neighbours that begins with deed i. */
static size_t end_of_run(const struct outcome *outcome, size_t i)
{
	const struct deed *first = &outcome->deeds[i++];

	while (i < outcome->count &&
	       outcome->deeds[i].action.kind == first->action.kind &&
	       outcome->deeds[i].event == first->event)
		i++;
	return i;
}

void outcome_settle(struct outcome *outcome)
{
	size_t end;

	for (size_t i = 0; i < outcome->count; i = end) {
		end = end_of_run(outcome, i);
		if (is_unordered(&outcome->deeds[i]))
			qsort(outcome->deeds + i, end - i,
			      sizeof(*outcome->deeds), by_address);
	}
}
