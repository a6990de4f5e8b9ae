/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's releases, and how their allocators differ.
 *
 * A change between releases is a row in src/allocator/release.c. To add a
 * release, raise the number below and add its rows.
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

/* A release 2.x is represented by its minor number. */
#define GP_RELEASE_FIRST 0
#define GP_RELEASE_LAST	 15

/* Parses "2.11", "2.11.0", "2.11.0+cu128" or "latest" into a minor number (11).
 * GP_USAGE if it is not a release. */
enum gp_status gp_release_parse(const char *text, uint8_t *minor,
				struct gp_diag *diag);

/* A change in PyTorch's behaviour from a release on. */
struct gp_change_row {
	uint8_t since; /* minor release */
	const char *sentence;
	const char *source;
	bool is_wording; /* affects messages only */
};

/* All changes, in no particular order. */
const struct gp_change_row *gp_change_table(size_t *count);

/* Whether setting this memory fraction limits memory: up to 2.9, a fraction of
 * 1 does. */
bool gp_release_limits(uint8_t release, double fraction);

/* Whether two releases make the same decision for every request. */
bool gp_release_alike(uint8_t a, uint8_t b);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
