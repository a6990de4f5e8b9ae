/* SPDX-License-Identifier: MIT */
/*
 * Which PyTorch releases can have written a snapshot, from the keys it has and
 * the keys it lacks.  A snapshot does not name its release.
 */
#ifndef FORMATS_SNAPSHOT_RELEASE_H
#define FORMATS_SNAPSHOT_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/build.h"

enum gp_key_place {
	GP_IN_TOP,
	GP_IN_SETTINGS,
	GP_IN_SEGMENT,
	GP_IN_BLOCK,
	GP_IN_ENTRY,
	GP_IN_PLACES,
};

/* Keys seen, as masks of GP_WORD_BIT; a place without any dict has none. */
struct gp_snapshot_keys {
	uint64_t seen[GP_IN_PLACES];
	bool is_there[GP_IN_PLACES];
};

static inline void gp_snapshot_keys_add(struct gp_snapshot_keys *keys,
					enum gp_key_place place, uint64_t mask)
{
	keys->seen[place] |= mask;
	keys->is_there[place] = true;
}

void gp_snapshot_keys_bound(const struct gp_snapshot_keys *keys,
			    struct gp_build *build);

#endif
