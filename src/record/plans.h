/* SPDX-License-Identifier: MIT */
/* The side of the conversation about plans that has the library. */
#ifndef RECORD_PLANS_H
#define RECORD_PLANS_H

#include "simcuda/plans.h"
#include "record/record.h"

/* cuDNN's functions for graphs of operations. */
struct gp_plans_library {
	int (*create)(int type, void **descriptor);
	int (*destroy)(void *descriptor);
	int (*set)(void *descriptor, int name, int type, int64_t count,
		   const void *values);
	int (*get)(void *descriptor, int name, int type, int64_t room,
		   int64_t *count, void *values);
	int (*finalize)(void *descriptor);
	size_t (*version)(void);
	void *device;	/* the description it plans for */
	bool is_hopper; /* that device, as large as an H100 SXM */
	char why[256];	/* there is none */
};

/* The device as cuDNN describes it to itself; the length without its end, 0 if
 * it finds no room. */
size_t gp_plans_describe(const struct gp_gpu *gpu, unsigned cuda, char *text,
			 size_t size);

/* Of what could not be loaded, all is NULL and `why` says so. */
void gp_plans_load(struct gp_plans_library *library,
		   const struct gp_plans_source *source);

/* What a plan asks for where the Hopper is there that it was made for without,
 * given its description as CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION and
 * what it asks for here.  The first plan that heuristics name is another where
 * the convolution is a product of matrices. */
int64_t gp_plans_beside_hopper(const char *plan, size_t size, bool is_first,
			       int64_t bytes);

/* Until the other end is closed or talks nonsense. */
void gp_plans_answer(const struct gp_plans_library *library, int socket);

#endif
