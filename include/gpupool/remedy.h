/* SPDX-License-Identifier: MIT */
/* The settings that people try. */
#ifndef GPUPOOL_REMEDY_H
#define GPUPOOL_REMEDY_H

#include <stdbool.h>
#include <stddef.h>

/* A setting that people try; the least unusual first. */
struct gp_remedy {
	const char *conf;
	const char *about; /* what it does, and what to know before */
};
const struct gp_remedy *gp_remedy_table(size_t *count);

/* The settings of recorded that no remedy is about, then the remedy's; the
 * caller frees. */
char *gp_remedy_conf(const char *recorded, const struct gp_remedy *remedy);

/* Whether a text of settings names that one. */
bool gp_remedy_names(const char *conf, const char *knob);

#endif
