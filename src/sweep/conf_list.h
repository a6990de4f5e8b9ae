/* SPDX-License-Identifier: MIT */
/* Items of a list that commas part, but for commas within brackets. */
#ifndef SWEEP_CONF_LIST_H
#define SWEEP_CONF_LIST_H

#include <stddef.h>

/* The item at *at, without blanks around it, and its length; moves *at behind
 * its comma.  NULL: no more. */
const char *gp_list_next(const char **at, size_t *length);

#endif
