/* SPDX-License-Identifier: MIT */
/*
 * Allocators of textbooks, each as the table of gpupool/engine.h: what is done
 * with streams, pools and memory that runs out is the keeper's.
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
