/* SPDX-License-Identifier: MIT */
/*
 * Sites as a person is told of them: where the program's own source asked for
 * memory, and the operation that asked there.
 *
 * Of a stack the place is the innermost frame of the program itself: not of the
 * interpreter, the allocator, the unwinder or the recorder, and not of PyTorch
 * or an installed package where the program has a frame of its own.  The
 * operation is what runs below that frame: the node of the backward pass, else
 * the outermost operator.  A stack without any frame of the program is known by
 * its operation.
 */
#ifndef TRACE_SITE_H
#define TRACE_SITE_H

#include <stdbool.h>

#include "gpupool/trace.h"

/* "model/layers.py:42 forward (aten::mul)", or "MmBackward0"; "" of
 * GP_NO_SITE.  A file is told with its folder.  Longer ones are cut. */
#define GP_SITE_TEXT 224
const char *gp_site_text(const struct gp_trace *trace, uint32_t site,
			 char text[GP_SITE_TEXT]);

/* The same without function and operation where it has a line:
 * "model/layers.py:42". */
const char *gp_site_place(const struct gp_trace *trace, uint32_t site,
			  char text[GP_SITE_TEXT]);

/* The site of the stack's frame that gives its name; GP_NO_SITE: it has none.
 * What called it has a name of its own. */
uint32_t gp_site_frame(const struct gp_trace *trace, uint32_t site);

/* Whether the frame of a site is the interpreter's, the allocator's, the
 * unwinder's or the recorder's, which say nothing of the program. */
bool gp_site_is_machinery(const struct gp_trace *trace, uint32_t site);

/* For each site the first one of the same place and operation, which stands for
 * all of them; the caller frees it. */
uint32_t *gp_sites_shown(const struct gp_trace *trace);

#endif
