/* SPDX-License-Identifier: MIT */
/*
 * Operations of engines that do not cache: requests that mean nothing there are
 * served, and there are no free blocks to choose from.
 */
#ifndef ALLOCATOR_PLAIN_H
#define ALLOCATOR_PLAIN_H

#include "gpupool/allocator.h"

void plain_record_stream(struct gp_allocator *allocator, uint32_t id,
			 uint16_t stream);
void plain_synchronize(struct gp_allocator *allocator, uint16_t stream);
void plain_complete(struct gp_allocator *allocator, uint32_t id);
enum gp_answer plain_pool(struct gp_allocator *allocator, uint16_t pool);
enum gp_answer plain_begin(struct gp_allocator *allocator, uint16_t pool,
			   bool is_capture);
enum gp_answer plain_change(struct gp_allocator *allocator, uint16_t pool,
			    enum gp_event_kind change);
enum gp_answer plain_set_fraction(struct gp_allocator *allocator,
				  double fraction);
enum gp_answer plain_set_settings(struct gp_allocator *allocator,
				  const char *conf);
size_t plain_candidates(struct gp_allocator *allocator, uint64_t size,
			uint16_t stream, uint16_t pool,
			struct gp_candidate *out, size_t room);
const char *plain_refusal(struct gp_allocator *allocator);

#endif
