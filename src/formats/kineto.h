/* SPDX-License-Identifier: MIT */
/*
 * Profiles of torch.profiler with profile_memory=True, as export_chrome_trace
 * writes them: an object whose traceEvents hold "[memory]" instants among
 * operators and kernels (libkineto/src/output_json.cpp).
 *
 * Each instant is an allocation or a free of a block of the caching allocator:
 * address, size, and the sums behind it.
 */
#ifndef FORMATS_KINETO_H
#define FORMATS_KINETO_H

#include "trace/build.h"
#include "formats/json_scan.h"

struct gp_kineto;

bool gp_kineto_knows(const char *key);
struct gp_kineto *gp_kineto_create(struct gp_json_scan *scan,
				   struct gp_diag *diag);
void gp_kineto_destroy(struct gp_kineto *kineto);
/* Reads the value of a key of the outer object. */
void gp_kineto_key(struct gp_kineto *kineto, const char *key);
enum gp_status gp_kineto_finish(struct gp_kineto *kineto,
				struct gp_trace **trace);

#endif
