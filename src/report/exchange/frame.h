/* SPDX-License-Identifier: MIT */
/* A frame's text, "train.py:42 forward", in its parts. */
#ifndef REPORT_EXCHANGE_FRAME_H
#define REPORT_EXCHANGE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

/* Innermost frames of a stack that are written; those that called them are
 * left out, as a file could otherwise ask for output without end. */
#define MOST_FRAMES 512

/* Parts of the text, not NUL-terminated; a text that names no file and line is
 * a name. */
struct frame {
	const char *file, *name;
	size_t file_length, name_length;
	uint64_t line; /* 0: not known */
};

struct frame frame_of(const char *text);

/* The texts of a stack, innermost first; how many there are. */
size_t frame_stack(const struct gp_trace *trace, uint32_t site,
		   uint32_t texts[MOST_FRAMES]);

/* The same without what says nothing of the program, where anything is left:
 * for a person. */
size_t frame_stack_shown(const struct gp_trace *trace, uint32_t site,
			 uint32_t texts[MOST_FRAMES]);

/* By id of a block, the site that allocated it; the caller frees it. */
uint32_t *frame_sites(const struct gp_device_trace *device);

#endif
