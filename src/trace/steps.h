/* SPDX-License-Identifier: MIT */
/* A program's steps, and the memory that each needed. */
#ifndef TRACE_STEPS_H
#define TRACE_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

#define GP_SIZE_CLASSES 64 /* powers of two, rounded down */

struct gp_step {
	uint64_t first, end;		    /* events [first, end) */
	uint64_t reserved, gap;		    /* largest of each within it */
	uint64_t allocated;		    /* largest within it */
	uint64_t live_at_end;		    /* allocated at its end */
	uint64_t by_class[GP_SIZE_CLASSES]; /* live at its end, by size */
};

enum gp_step_source { GP_STEPS_NONE, GP_STEPS_MARKS, GP_STEPS_PERIOD };
struct gp_steps {
	enum gp_step_source source;
	char name[64]; /* of the mark */
	struct gp_step *list;
	size_t count;
};

/* Finds steps by marks, else by the period of the requests. Only their ranges
 * are set. */
void gp_steps_find(const struct gp_trace *trace, uint32_t device,
		   struct gp_steps *steps);

#endif
