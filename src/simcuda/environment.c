/*
 * Settings from the environment: a library that is loaded into somebody else's
 * program has no command line.
 */
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

void environment_apply(void)
{
	uint64_t count = number("SIMCUDA_DEVICES", 1);
	const char *events = getenv("SIMCUDA_EVENTS");

	if (count > 0 && count <= SIMCUDA_MOST_DEVICES)
		process.device_count = (int)count;
	for (int i = 0; i < SIMCUDA_MOST_DEVICES; i++)
		process.devices[i].capacity =
			number("SIMCUDA_CAPACITY", process.devices[i].capacity);
	apply_events(events ? events : "instant");
}
