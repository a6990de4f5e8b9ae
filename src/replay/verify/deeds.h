/* SPDX-License-Identifier: MIT */
/* Whether what two runs did is the same. */
#ifndef REPLAY_VERIFY_DEEDS_H
#define REPLAY_VERIFY_DEEDS_H

#include "replay/verify/verify.h"

struct deed_terms {
	bool is_on_device; /* the second */
};

bool deed_is_equal(const struct deed_terms *terms, const struct gp_deed *a,
		   const struct gp_deed *b);

/* How many of one kind, of those whose order may be open, are the same in
 * another order; 0: they are not, or there are none. */
size_t deeds_permuted(const struct deed_terms *terms, const struct gp_deed *a,
		      size_t a_count, const struct gp_deed *b, size_t b_count);

#endif
