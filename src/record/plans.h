/* SPDX-License-Identifier: MIT */
/* The end of the planning protocol that has the real cuDNN. */
#ifndef RECORD_PLANS_H
#define RECORD_PLANS_H

#include "record/plans_wire.h"
#include "record/record.h"

/* cuDNN's backend (graph) API. */
struct gp_plans_library {
	int (*create)(int type, void **descriptor);
	int (*destroy)(void *descriptor);
	int (*set)(void *descriptor, int name, int type, int64_t count,
		   const void *values);
	int (*get)(void *descriptor, int name, int type, int64_t room,
		   int64_t *count, void *values);
	int (*finalize)(void *descriptor);
	size_t (*version)(void);
	void *device;	/* description of the device to plan for */
	bool is_hopper; /* the device is a Hopper of the size of an H100 SXM */
	char why[256];	/* why the library is not there */
};

/* The device as a cuDNN device-properties JSON. Returns its length without the
 * terminator; 0: it does not fit. */
size_t gp_plans_describe(const struct gp_gpu *gpu, unsigned cuda, char *text,
			 size_t size);

/* If the library cannot be loaded, all pointers are NULL and `why` says why. */
void gp_plans_load(struct gp_plans_library *library,
		   const struct gp_plans_source *source);

/* The workspace that a plan made without a Hopper would ask for on the machine
 * that has one, given the plan's CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION
 * and the workspace it asks for here. is_first: the plan is the heuristics'
 * first choice, which is a different one on the device if the convolution is a
 * matrix product. */
int64_t gp_plans_beside_hopper(const char *plan, size_t size, bool is_first,
			       int64_t bytes);

/* Serves requests until the other end closes the socket or sends an invalid
 * request. */
void gp_plans_answer(const struct gp_plans_library *library, int socket);

#endif
