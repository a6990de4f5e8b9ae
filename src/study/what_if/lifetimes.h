/* SPDX-License-Identifier: MIT */
/* When each block of a draft lives. */
#ifndef STUDY_WHAT_IF_LIFETIMES_H
#define STUDY_WHAT_IF_LIFETIMES_H

#include "trace/draft.h"

#define LIFETIME_FROM_START UINT64_MAX
#define LIFETIME_NO_END	    UINT64_MAX

struct lifetime {
	uint64_t born, freed; /* events */
	uint64_t size;
	bool is_plain; /* nothing is asked of it between */
	/* It is of a private pool, or was asked for while one was in use: not
	 * every trace tells the pool of each request. */
	bool is_private;
};

/* By id; the caller frees. */
struct lifetime *lifetimes_of(const struct gp_draft_device *device);

#endif
