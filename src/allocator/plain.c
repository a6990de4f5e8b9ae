/* SPDX-License-Identifier: MIT */
/* Operations of engines that do not cache: they serve, and do nothing. */
#include "allocator/plain.h"

void plain_record_stream(struct gp_allocator *allocator, uint32_t id,
			 uint16_t stream)
{
	(void)allocator;
	(void)id;
	(void)stream;
}

void plain_synchronize(struct gp_allocator *allocator, uint16_t stream)
{
	(void)allocator;
	(void)stream;
}

void plain_complete(struct gp_allocator *allocator, uint32_t id)
{
	(void)allocator;
	(void)id;
}

enum gp_answer plain_pool(struct gp_allocator *allocator, uint16_t pool)
{
	(void)allocator;
	(void)pool;
	return GP_SERVED;
}

enum gp_answer plain_begin(struct gp_allocator *allocator, uint16_t pool,
			   bool is_capture)
{
	(void)is_capture;
	return plain_pool(allocator, pool);
}

enum gp_answer plain_change(struct gp_allocator *allocator, uint16_t pool,
			    enum gp_event_kind change)
{
	(void)change;
	return plain_pool(allocator, pool);
}

enum gp_answer plain_set_fraction(struct gp_allocator *allocator,
				  double fraction)
{
	(void)allocator;
	(void)fraction;
	return GP_SERVED;
}

enum gp_answer plain_set_settings(struct gp_allocator *allocator,
				  const char *conf)
{
	(void)allocator;
	(void)conf;
	return GP_SERVED;
}

size_t plain_candidates(struct gp_allocator *allocator, uint64_t size,
			uint16_t stream, uint16_t pool,
			struct gp_candidate *out, size_t room)
{
	(void)allocator;
	(void)size;
	(void)stream;
	(void)pool;
	(void)out;
	(void)room;
	return 0;
}

const char *plain_refusal(struct gp_allocator *allocator)
{
	(void)allocator;
	return "";
}
