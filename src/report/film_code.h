/* SPDX-License-Identifier: MIT */
/*
 * A film and a timeline as text for a page's script: variable-length integers,
 * each the difference to what came before, in base64.
 *
 * A number is written seven bits a byte, lowest first, the top bit set but in
 * the last; a signed one as 2n, or -2n - 1.  Addresses and sizes of blocks are
 * in units of 512 bytes.
 */
#ifndef REPORT_FILM_CODE_H
#define REPORT_FILM_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "metrics/film.h"
#include "gpupool/replay.h"

struct gp_code {
	uint8_t *bytes;
	size_t count, room;
};
void gp_code_release(struct gp_code *code);
void gp_code_base64(const struct gp_code *code, FILE *out);

/* Moments: event, reserved, allocated, active, requested, inactive_split,
 * largest_free, each as its difference. */
void gp_code_moments(struct gp_code *code, const struct gp_moment *moments,
		     size_t count);

/*
 * Shots: kind | expandable << 3 | small << 4, event, then
 *   map:   address (signed, to the last one's end), size, stream, pool
 *   unmap: address (signed, to the last map's), size
 *   alloc: address (signed, to the last one's), size, size - requested in
 *          bytes (signed), site + 1
 *   wait, free: how many allocs ago
 *
 * A film larger than limit bytes is thinned: blocks that come and go between
 * two frames are left out.  A frame ends before each multiple of *every and
 * before each of the events in ends.  *every 1: all is there.
 */
struct gp_film_limits {
	size_t bytes;
	uint64_t events;
	const uint64_t *ends; /* ascending */
	size_t end_count;
	/* What a site is called in the code; GP_NO_SITE: nothing. */
	uint32_t (*name_site)(void *arg, uint32_t site);
	void *arg;
};
void gp_code_film(struct gp_code *code, const struct gp_film *film,
		  const struct gp_film_limits *limits, uint64_t *every);

#endif
