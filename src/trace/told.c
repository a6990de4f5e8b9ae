/* SPDX-License-Identifier: MIT */
/* What a recording tells of its own reserved and allocated memory. */
#include <string.h>

#include "gpupool/trace.h"

/* False: there is no such counter, or it is none of bytes. */
static bool find(const struct gp_trace *trace,
		 const struct gp_device_trace *device, const char *key,
		 uint64_t *bytes)
{
	for (size_t i = 0; i < device->counter_count; i++) {
		const struct gp_counter *counter = &device->counters[i];

		if (counter->value < 0 ||
		    strcmp(trace->texts[counter->text], key) != 0)
			continue;
		*bytes = (uint64_t)counter->value;
		return true;
	}
	return false;
}

static bool resets_peaks(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_RESET_PEAK)
			return true;
	return false;
}

struct gp_recorded gp_trace_recorded(const struct gp_trace *trace,
				     uint32_t device)
{
	const struct gp_device_trace *d = &trace->devices[device];
	struct gp_recorded told = { 0 };

	if (!d->counter_count)
		return told;
	told.has_reserved =
		find(trace, d, GP_RECORDED_RESERVED_PEAK, &told.reserved);
	told.has_allocated =
		find(trace, d, GP_RECORDED_ALLOCATED_PEAK, &told.allocated);
	told.has_first = find(trace, d, GP_RECORDED_RESERVED_FIRST,
			      &told.first_reserved) &&
			 find(trace, d, GP_RECORDED_ALLOCATED_FIRST,
			      &told.first_allocated) &&
			 told.first_allocated <= told.first_reserved;
	/* PyTorch's peaks are since the program last reset them, and of a
	 * window also of what was before it. */
	if (!trace->is_complete || resets_peaks(d))
		return told;
	if (!told.has_reserved)
		told.has_reserved = find(trace, d, "reserved_bytes.all.peak",
					 &told.reserved);
	if (!told.has_allocated)
		told.has_allocated = find(trace, d, "allocated_bytes.all.peak",
					  &told.allocated);
	return told;
}
