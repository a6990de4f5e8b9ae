/* SPDX-License-Identifier: MIT */
/* When each block of a draft lives. */
#ifndef STUDY_WHAT_IF_LIVES_H
#define STUDY_WHAT_IF_LIVES_H

#include "trace/draft.h"

#define LIFE_FROM_START UINT64_MAX
#define LIFE_NO_END	UINT64_MAX

struct life {
	uint64_t born, freed; /* events */
	uint64_t size;
	bool is_plain; /* nothing is asked of it between */
};

/* By id; the caller frees. */
struct life *lives_of(const struct gp_draft_device *device);

#endif
