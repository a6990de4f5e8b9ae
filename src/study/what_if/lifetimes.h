/* SPDX-License-Identifier: MIT */
/* The lifetime of each block of a draft. */
#ifndef STUDY_WHAT_IF_LIFETIMES_H
#define STUDY_WHAT_IF_LIFETIMES_H

#include "trace/draft.h"

#define LIFETIME_FROM_START UINT64_MAX
#define LIFETIME_NO_END	    UINT64_MAX

struct lifetime {
	uint64_t born, freed; /* events */
	uint64_t size;
	bool is_plain; /* no other request refers to it in between */
	/* It is in a private pool, or was allocated while one was in use: not
	 * every trace has the pool of each request. */
	bool is_private;
};

/* By id; the caller frees the result. */
struct lifetime *lifetimes_of(const struct gp_draft_device *device);

#endif
