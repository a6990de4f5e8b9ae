/* SPDX-License-Identifier: MIT */
/*
 * When things happened: the recorded times, or, where the trace has none, one
 * microsecond for each event.
 */
#ifndef REPORT_EXCHANGE_TICKS_H
#define REPORT_EXCHANGE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/trace.h"

struct ticks {
	const struct gp_device_trace *device;
	bool has_times;
	uint64_t now_us;
};

void ticks_begin(struct ticks *ticks, const struct gp_device_trace *device);
/* Of an event, never before an earlier one's; events in rising order. */
uint64_t ticks_of(struct ticks *ticks, uint64_t event);
/* The first of all devices; 0 where no event has a time. */
uint64_t ticks_first(const struct gp_trace *trace);

#endif
