/* SPDX-License-Identifier: MIT */
/* The result of gpupool verify as text. */
#ifndef COMMANDS_VERIFY_TEXT_H
#define COMMANDS_VERIFY_TEXT_H

#include <stdio.h>

#include "gpupool/trace.h"
#include "replay/verify/verify.h"

struct gp_verify_outcome {
	const struct gp_trace *trace;
	uint32_t device;
	const struct gp_verify_result *result;
	/* The release that was asked for, and the one that was run, which makes
	 * the same decisions. */
	uint8_t asked, ran;
	bool is_torch, is_on_device; /* the second side */
	bool is_checked;	     /* its memory was checked */
	bool is_stand_in; /* the CUDA runtime has no device behind it */
};

/* The result of one device: "equal", or the first difference. */
void gp_verify_text(const struct gp_verify_outcome *outcome, FILE *out);

/* The head and a line of a table of traces; width: width of the column of
 * names. */
void gp_verify_head(int width, FILE *out);
void gp_verify_line(const char *name, int width,
		    const struct gp_verify_outcome *outcome, FILE *out);

#endif
