/*
 * What differs between PyTorch's releases: one row a change, with the first
 * release that has it and where it comes from (struct gp_change_row).
 */
#ifndef ALLOCATOR_RELEASE_H
#define ALLOCATOR_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/knob.h"

enum gp_change {
	GP_CHANGE_DIVISION_ONE,
	GP_CHANGE_LIST_FILL,
	GP_CHANGE_LENIENT_PARSER,
	GP_CHANGE_SPLIT_FROM_SEGMENT,
	GP_CHANGE_ROUNDING_RESET,
	GP_CHANGE_EXPANDABLE_IN_POOLS,
	GP_CHANGE_OBJECT_ORDER,
	GP_CHANGE_SEGMENT_ORDER,
	GP_CHANGE_ROUTING,
	GP_CHANGE_ROUTING_GOES_ON,
	GP_CHANGE_EMPTY_WHILE_ROUTING,
	GP_CHANGE_FALLBACK,
	GP_CHANGE_FALLBACK_PER_REQUEST,
	GP_CHANGE_FALLBACK_FIRST,
	GP_CHANGE_NEWEST_ROUTE,
	GP_CHANGE_FRACTION_ONE,
	GP_CHANGE_REJECTION,
	GP_CHANGE_DIVISIONS_SPELLED,
	GP_CHANGES,
};

bool gp_release_has(uint8_t release, enum gp_change change);

#endif
