/* SPDX-License-Identifier: MIT */
/*
 * What parsed JSON values mean: whole numbers, texts, pools.  Each answers
 * false for anything else; gp_json_show says what it was, for the message.
 */
#ifndef FORMATS_JSON_VALUE_H
#define FORMATS_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* 0 to 2^64 - 1; see GP_JSON_WIDE. */
bool gp_json_number(const json_t *value, uint64_t *number);
/* [first, second] */
bool gp_json_pool(const json_t *value, struct gp_pool_id *pool);

#define GP_JSON_SHOWN 48
const char *gp_json_show(const json_t *value, char text[GP_JSON_SHOWN]);

#endif
