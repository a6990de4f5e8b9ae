/* SPDX-License-Identifier: MIT */
/*
 * Textbook allocators, each as a table of gpupool/engine.h; streams, pools and
 * running out of memory are handled by the keeper.
 */
#ifndef ALLOCATOR_TEXTBOOK_TEXTBOOK_H
#define ALLOCATOR_TEXTBOOK_TEXTBOOK_H

#include "gpupool/engine.h"

extern const struct gp_engine_table textbook_first_fit, textbook_best_fit,
	textbook_next_fit; /* fit.c */
extern const struct gp_engine_table textbook_tlsf, textbook_buddy,
	textbook_slab, textbook_arena, textbook_bfc, textbook_cupy,
	textbook_stitch, textbook_plan;

#endif
