/* SPDX-License-Identifier: MIT */
/* roundup_power2_divisions: a number, or a list by interval. */
#ifndef ALLOCATOR_DIVISIONS_H
#define ALLOCATOR_DIVISIONS_H

#include "allocator/conf_tokens.h"

/* at: of the value; then of its last token. */
enum gp_status gp_divisions_read(struct gp_conf *conf, size_t *at);

#endif
