/*
 * Kinds of events: one row each, read by the readers, writers and checks.
 */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdint.h>

#include "gpupool/trace.h"

/* Which members of struct gp_event a kind uses, besides time_us, site and
 * flags, which all have. */
enum gp_event_field {
	GP_HAS_ID = 1 << 0,
	GP_HAS_ADDR = 1 << 1,
	GP_HAS_SIZE = 1 << 2,
	GP_HAS_STREAM = 1 << 3,
	GP_HAS_POOL = 1 << 4,
	GP_HAS_FRACTION = 1 << 5,
	GP_HAS_TEXT = 1 << 6,
	GP_HAS_MARK = 1 << 7,
};

uint8_t gp_event_fields(enum gp_event_kind kind);

#endif
