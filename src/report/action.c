/* SPDX-License-Identifier: MIT */
/*
 * One line of --events.  There may be millions: numbers are set by hand into
 * one buffer and written at once.
 */
#include <stddef.h>
#include <string.h>

#include "report/report.h"

/* PyTorch's names; NULL: not something an allocator does. */
static const char *const names[GP_EVENT_KINDS] = {
	[GP_ALLOC] = "alloc",
	[GP_FREE] = "free_requested",
	[GP_SEGMENT_ALLOC] = "segment_alloc",
	[GP_SEGMENT_FREE] = "segment_free",
	[GP_SEGMENT_MAP] = "segment_map",
	[GP_SEGMENT_UNMAP] = "segment_unmap",
	[GP_FREE_COMPLETED] = "free_completed",
	[GP_OOM] = "oom",
	[GP_SNAPSHOT] = "snapshot",
};

static char *put_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

static char *put_number(char *at, uint64_t number)
{
	char digits[20];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	memcpy(at, digits + first, sizeof(digits) - first);
	return at + sizeof(digits) - first;
}

static char *put(char *at, const char *key, uint64_t number)
{
	return put_number(put_text(at, key), number);
}

/* Where it happened: everything that carries a stream carries a pool. */
static char *put_place(char *at, const struct gp_trace *trace,
		       const struct gp_action *action)
{
	uint64_t stream = 0;
	struct gp_pool_id pool = { 0, 0 };

	if (action->stream < trace->stream_count)
		stream = trace->streams[action->stream];
	if (action->pool < trace->pool_count)
		pool = trace->pools[action->pool];
	at = put(at, ",\"stream\":", stream);
	at = put(at, ",\"pool\":[", pool.first);
	at = put(at, ",", pool.second);
	return put_text(at, "]");
}

void gp_report_action(const struct gp_trace *trace,
		      const struct gp_device_trace *device,
		      const struct gp_action *action, uint64_t event, FILE *out)
{
	char line[384]; /* at most nine numbers of 20 digits, and the keys */
	char *at = put_text(line, "{\"action\":\"");

	at = put_text(at, names[action->kind]);
	at = put(at,
		 action->kind == GP_OOM ? "\",\"device_free\":"
					: "\",\"addr\":",
		 action->addr);
	at = put(at, ",\"size\":", action->size);
	at = put_place(at, trace, action);
	at = put(at, ",\"device\":", device->device);
	if (action->id != GP_NO_ID)
		at = put(at, ",\"id\":",
			 device->names ? device->names[action->id]
				       : action->id);
	at = put(at, ",\"event\":", event);
	at = put_text(at, "}\n");
	fwrite(line, 1, (size_t)(at - line), out);
}
