/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's releases: which there are, and what they do differently.
 *
 * A change between releases is a row in src/allocator/release.c.  Adding a
 * release is the number below, and its rows.
 */
#ifndef GPUPOOL_RELEASE_H
#define GPUPOOL_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* PyTorch 2.x is known by its minor number. */
#define GP_RELEASE_FIRST 0
#define GP_RELEASE_LAST	 15

/* "2.11", "2.11.0", "2.11.0+cu128" or "latest" -> 11. */
enum gp_status gp_release_parse(const char *text, uint8_t *minor,
				struct gp_diag *diag);

/* One thing that PyTorch does otherwise from a release on. */
struct gp_change_row {
	uint8_t since; /* minor release */
	const char *sentence;
	const char *source;
	bool is_wording; /* decides nothing */
};

/* All of them, in no order. */
const struct gp_change_row *gp_change_table(size_t *count);

/* Whether a memory fraction that was set is a limit: up to 2.9, 1 is one. */
bool gp_release_limits(uint8_t release, double fraction);

/* Whether two releases make the same decision for every request. */
bool gp_release_alike(uint8_t a, uint8_t b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
