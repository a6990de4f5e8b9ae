/* SPDX-License-Identifier: MIT */
/*
 * Values of settings, as C++'s library reads them: leading digits count, the
 * rest is passed over, and what is wrong is named after the function.
 */
#ifndef ALLOCATOR_CONF_VALUES_H
#define ALLOCATOR_CONF_VALUES_H

#include "allocator/conf_tokens.h"

/* std::stoi made a size_t up to 2.9, std::stoull from 2.10 on. */
enum gp_status gp_conf_integer(struct gp_conf *conf, const char *text,
			       uint64_t *value);

/* std::stoul up to 2.9, for the intervals of a list. */
enum gp_status gp_conf_unsigned(struct gp_conf *conf, const char *text,
				uint64_t *value);

/* std::stod. */
enum gp_status gp_conf_real(struct gp_conf *conf, const char *text,
			    double *value);

/* The token there: True or False, nothing else. */
enum gp_status gp_conf_bool(struct gp_conf *conf, size_t at, const char *name,
			    bool *value);

/*
 * A share of the device, or "40G": GiB.  PyTorch reads it with a stream, which
 * wants the whole text to be a decimal number; false where it passes it over.
 */
struct gp_conf_reserve {
	double fraction; /* 0: bytes counts */
	uint64_t bytes;
};
bool gp_conf_reserve(const char *text, struct gp_conf_reserve *reserve);

bool gp_conf_is_power(uint64_t value);

#endif
