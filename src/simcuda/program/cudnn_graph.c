/* SPDX-License-Identifier: MIT */
/*
 * cuDNN's graphs of operations: descriptors with attributes, from which plans
 * are made.
 *
 * Where the real library is there (plans.h), it has the descriptors and gives
 * the plans, with their workspace.  Where it is not, whatever is asked for has
 * one plan without workspace, and that is counted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/plans.h"
#include "simcuda/program/plans.h"
#include "simcuda/program/stand_in.h"

#define SUCCESS 0

/* cudnnBackendDescriptorType_t: what a plan is run with, which nobody does. */
#define VARIANT_PACK 16

/* What a handle points to. */
struct descriptor {
	int type;
	uint32_t id; /* the real library's, 0: it has none */
};

int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor);
int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor)
{
	struct descriptor *d = gp_mem_alloc(1, sizeof(*d));
	int status = SUCCESS;

	d->type = type;
	if (type != VARIANT_PACK && plans_can())
		status = plans_create(type, &d->id);
	if (status && plans_can()) {
		free(d);
		return status;
	}
	*descriptor = d;
	return SUCCESS;
}

int cudnnBackendDestroyDescriptor(struct descriptor *descriptor);
int cudnnBackendDestroyDescriptor(struct descriptor *descriptor)
{
	if (descriptor && descriptor->id)
		plans_destroy(descriptor->id);
	free(descriptor);
	return SUCCESS;
}

static bool is_real(const struct descriptor *descriptor)
{
	return descriptor && descriptor->id && plans_can();
}

int cudnnBackendFinalize(struct descriptor *descriptor);
int cudnnBackendFinalize(struct descriptor *descriptor)
{
	return is_real(descriptor) ? plans_finalize(descriptor->id) : SUCCESS;
}

/* The real library's numbers of descriptors; free them. */
static uint64_t *ids_of(int64_t count, struct descriptor *const *descriptors)
{
	uint64_t *ids = gp_mem_alloc((size_t)count + 1, sizeof(*ids));

	for (int64_t i = 0; i < count; i++)
		if (descriptors && descriptors[i])
			ids[i] = descriptors[i]->id;
	return ids;
}

int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t count, const void *values);
int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t count, const void *values)
{
	uint64_t *ids;
	int status;

	if (!is_real(descriptor))
		return SUCCESS;
	if (type != GP_PLANS_DESCRIPTOR || count < 0)
		return plans_set(descriptor->id, name, type, count, values);
	ids = ids_of(count, values);
	status = plans_set(descriptor->id, name, type, count, ids);
	free(ids);
	return status;
}

/* ---- what is asked about them ---- */

/* cudnnBackendAttributeName_t, cudnn_graph.h of cuDNN 9. */
enum attribute {
	ENGINEHEUR_RESULTS = 202,
	ENGINECFG_ENGINE = 300,
	ENGINECFG_WORKSPACE_SIZE = 303,
	ENGINECFG_SHARED_MEMORY_USED = 304, /* four bytes */
	EXECUTION_PLAN_ENGINE_CONFIG = 401,
	EXECUTION_PLAN_WORKSPACE_SIZE = 402,
	OPERATIONGRAPH_ENGINE_GLOBAL_COUNT = 802,
	ENGINE_GLOBAL_INDEX = 1301,
};

/* Descriptors that are asked for were made by the caller; one of them stands
 * for the answer.  Attributes that are lists are empty. */
static int stand_in(int name, int64_t room, int64_t *count, void *values)
{
	int64_t number = name == OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, found = 0;

	switch (name) {
	case ENGINECFG_SHARED_MEMORY_USED:
		if (room > 0 && values)
			memcpy(values, &number, sizeof(int32_t));
		found = 1;
		break;
	case ENGINECFG_WORKSPACE_SIZE:
	case EXECUTION_PLAN_WORKSPACE_SIZE:
	case OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
	case ENGINE_GLOBAL_INDEX:
		if (room > 0 && values)
			memcpy(values, &number, sizeof(number));
		found = 1;
		break;
	case ENGINEHEUR_RESULTS:
	case ENGINECFG_ENGINE:
	case EXECUTION_PLAN_ENGINE_CONFIG: found = 1; break;
	default: break;
	}
	if (name == EXECUTION_PLAN_WORKSPACE_SIZE)
		stand_in_size("cudnnBackendGetAttribute");
	if (count)
		*count = found;
	return SUCCESS;
}

static int ask(const struct descriptor *descriptor, int name, int type,
	       int64_t room, int64_t *count, void *values)
{
	uint64_t *ids;
	int status;

	if (name == EXECUTION_PLAN_WORKSPACE_SIZE && room > 0)
		plans_count();
	if (type != GP_PLANS_DESCRIPTOR || room <= 0 || !values)
		return plans_get(descriptor->id, name, type, room, count,
				 values);
	ids = ids_of(room, values);
	status = plans_get(descriptor->id, name, type, room, count, ids);
	free(ids);
	return status;
}

int cudnnBackendGetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t room, int64_t *count, void *values);
int cudnnBackendGetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t room, int64_t *count, void *values)
{
	if (is_real(descriptor))
		return ask(descriptor, name, type, room, count, values);
	return stand_in(name, room, count, values);
}
