/* SPDX-License-Identifier: MIT */
/* The events of a device's trace, counted. */
#ifndef REPORT_CENSUS_H
#define REPORT_CENSUS_H

#include <stdint.h>

#include "gpupool/trace.h"

struct gp_census {
	uint64_t by_kind[GP_EVENT_KINDS];
	uint64_t inferred;	    /* concluded, not in the recording */
	uint64_t first_us, last_us; /* 0: no times were recorded */
};

struct gp_census gp_census_take(const struct gp_device_trace *device);

#endif
