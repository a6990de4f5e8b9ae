/* SPDX-License-Identifier: MIT */
/*
 * Sites as reports show them: the line of the program's own source that
 * requested memory, and the operation that did so.
 *
 * The line is that of the innermost frame of the program itself: not of the
 * interpreter, the allocator, the unwinder or the recorder, and only of PyTorch
 * or an installed package if the program has no frame of its own. The operation
 * is what runs below that frame: the node of the backward pass, else the
 * outermost operator. A stack without any frame of the program is described by
 * its operation alone.
 */
#ifndef TRACE_SITE_H
#define TRACE_SITE_H

#include <stdbool.h>

#include "gpupool/trace.h"

/* "model/layers.py:42 forward (aten::mul)" or "MmBackward0"; "" for GP_NO_SITE.
 * A file name includes its folder. Longer texts are cut. */
#define GP_SITE_TEXT 224
const char *gp_site_text(const struct gp_trace *trace, uint32_t site,
			 char text[GP_SITE_TEXT]);

/* What every stack stands for, by site, so that many texts take no longer than
 * the sites are many, however deep stacks are; the caller frees the result. */
struct gp_site_known *gp_sites_known(const struct gp_trace *trace);
const char *gp_site_known_text(const struct gp_trace *trace,
			       const struct gp_site_known *known, uint32_t site,
			       char text[GP_SITE_TEXT]);

/* gp_site_text() without function and operation if there is a line:
 * "model/layers.py:42". */
const char *gp_site_place(const struct gp_trace *trace, uint32_t site,
			  char text[GP_SITE_TEXT]);

/* The site of the frame that the text is taken from; GP_NO_SITE: none. Its
 * callers have texts of their own. */
uint32_t gp_site_frame(const struct gp_trace *trace, uint32_t site);

/* Whether a site's frame belongs to the interpreter, the allocator, the
 * unwinder or the recorder, and so contains no information about the
 * program. */
bool gp_site_is_machinery(const struct gp_trace *trace, uint32_t site);

/* The platform that a frame shows: a file on a drive ("C:\\work\\train.py"), or
 * the allocator of ROCm. */
enum gp_platform gp_trace_platform(const struct gp_trace *trace);

/* For each site, the first one with the same line and operation, which
 * represents all of them; the caller frees the result. */
uint32_t *gp_sites_shown(const struct gp_trace *trace);

#endif
