/*
 * The frame of a stack that a person wants to see: the innermost of the
 * program's own, else the innermost of Python, else the innermost.
 */
#ifndef METRICS_SITE_H
#define METRICS_SITE_H

#include "gpupool/trace.h"

/* By site, the site with that frame; of those with one text, the first.  The
 * caller frees. */
uint32_t *sites_shown(const struct gp_trace *trace);

#endif
