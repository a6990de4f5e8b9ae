/* SPDX-License-Identifier: MIT */
/* When things happened. */
#include "report/exchange/ticks.h"

/* The least of a device's times; 0: it has none. */
static uint64_t first_time(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].time_us)
			return device->events[i].time_us;
	return 0;
}

void ticks_begin(struct ticks *ticks, const struct gp_device_trace *device)
{
	uint64_t first = first_time(device);

	*ticks = (struct ticks){ device, first != 0, first };
}

uint64_t ticks_of(struct ticks *ticks, uint64_t event)
{
	uint64_t time_us = ticks->has_times
				   ? ticks->device->events[event].time_us
				   : event + 1;

	if (time_us > ticks->now_us)
		ticks->now_us = time_us;
	return ticks->now_us;
}

uint64_t ticks_first(const struct gp_trace *trace)
{
	uint64_t first = 0;

	for (size_t i = 0; i < trace->device_count; i++) {
		uint64_t time_us = first_time(&trace->devices[i]);

		if (time_us && (!first || time_us < first))
			first = time_us;
	}
	return first;
}
