/* The constructors behind the registry in engines.c. */
#ifndef ALLOCATOR_ENGINES_H
#define ALLOCATOR_ENGINES_H

#include "gpupool/allocator.h"

struct gp_allocator *gp_caching_create(
	const struct gp_allocator_config *config);

struct gp_allocator *gp_direct_create(const struct gp_allocator_config *config);

#endif
