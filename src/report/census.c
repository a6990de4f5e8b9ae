/* SPDX-License-Identifier: MIT */
/* The events of a device's trace, counted. */
#include "report/census.h"

struct gp_census gp_census_take(const struct gp_device_trace *device)
{
	struct gp_census census = { 0 };

	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		census.by_kind[event->kind]++;
		census.inferred += (event->flags & GP_INFERRED) != 0;
		if (!event->time_us)
			continue;
		if (!census.first_us || event->time_us < census.first_us)
			census.first_us = event->time_us;
		if (event->time_us > census.last_us)
			census.last_us = event->time_us;
	}
	return census;
}
