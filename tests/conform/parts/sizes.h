/* SPDX-License-Identifier: MIT */
/* The sizes that a trial requests. */
#ifndef CONFORM_SIZES_H
#define CONFORM_SIZES_H

#include <stdbool.h>

#include "conf.h"
#include "dice.h"

#define SIZES_KEPT 40

struct sizes {
	const struct conf *conf;
	uint64_t most;		   /* bytes, of an ordinary request */
	uint64_t absurd;	   /* bytes, more than any device has */
	bool is_beside;		   /* mostly sizes near a limit */
	uint64_t kept[SIZES_KEPT]; /* requested before: programs repeat */
	size_t count;
};

uint64_t sizes_throw(struct sizes *sizes, struct dice *dice);

#endif
