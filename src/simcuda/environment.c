/* SPDX-License-Identifier: MIT */
/*
 * Settings from the environment: a library that is loaded into somebody else's
 * program has no command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda/process.h"
#include "simcuda/stream.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* "instant", "manual" or "lag:N" */
static void apply_events(const char *text)
{
	static const char lag[] = "lag:";

	if (!strncmp(text, lag, sizeof(lag) - 1))
		streams_set_events(SIMCUDA_EVENTS_LAG,
				   strtoull(text + sizeof(lag) - 1, NULL, 0));
	else if (!strcmp(text, "manual"))
		streams_set_events(SIMCUDA_EVENTS_MANUAL, 0);
	else
		streams_set_events(SIMCUDA_EVENTS_INSTANT, 0);
}

/* A device, as gpupool record passes it on: the numbers of struct
 * simcuda_properties in their order, then its name. */
static void apply_gpu(const char *text)
{
	struct simcuda_properties p = { .name = "" };
	int name = 0;

	if (sscanf(text, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%n", &p.major,
		   &p.minor, &p.multiprocessors, &p.l2_bytes, &p.bus_width_bits,
		   &p.shared_per_block, &p.shared_per_block_optin,
		   &p.shared_per_sm, &p.threads_per_sm, &p.blocks_per_sm,
		   &p.clock_khz, &p.memory_clock_khz, &p.compiled_for,
		   &name) != 13)
		return;
	snprintf(p.name, sizeof(p.name), "%s", text + name);
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++)
		process.devices[i].properties = p;
}

void environment_apply(void)
{
	uint64_t count = number("SIMCUDA_DEVICES", 1);
	const char *events = getenv("SIMCUDA_EVENTS");
	const char *gpu = getenv("SIMCUDA_GPU");

	if (count > 0 && count <= SIMCUDA_MOST_DEVICES)
		process.device_count = (int)count;
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++)
		process.devices[i].capacity =
			number("SIMCUDA_CAPACITY", process.devices[i].capacity);
	process.is_boundless = number("SIMCUDA_BOUNDLESS", 0) != 0;
	if (gpu)
		apply_gpu(gpu);
	apply_events(events ? events : "instant");
}
