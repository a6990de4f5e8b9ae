/* SPDX-License-Identifier: MIT */
/* Snapshots of one device as texts, and what is inferred from their history. */
#ifndef TESTS_SNAPSHOT_TEXT_H
#define TESTS_SNAPSHOT_TEXT_H

#include "suite.h"
#include "trace_text.h"

#define SNAPSHOT(segments, entries)                                            \
	"{\"segments\": [" segments "], \"device_traces\": [[" entries "]]}"

#define SEGMENT(addr, size, type, blocks) SEGMENT_AS(#addr, #size, type, blocks)
#define BLOCK(addr, size, requested, state)                                    \
	BLOCK_AS(#addr, #size, #requested, state)
#define ENTRY(action, addr, size) ENTRY_AS(action, #addr, #size)

/* With texts in place of numbers: "%u". */
#define SEGMENT_AS(addr, size, type, blocks)                                   \
	"{\"device\": 0, \"address\": " addr ", \"total_size\": " size         \
	", \"stream\": 0, \"segment_type\": \"" type                           \
	"\", \"blocks\": [" blocks "]}"
#define BLOCK_AS(addr, size, requested, state)                                 \
	"{\"address\": " addr ", \"size\": " size                              \
	", \"requested_size\": " requested ", \"state\": \"" state "\"}"
#define ENTRY_AS(action, addr, size)                                           \
	"{\"action\": \"" action "\", \"addr\": " addr ", \"size\": " size     \
	", \"stream\": 0}"

#define OOM(size)                                                              \
	"{\"action\": \"oom\", \"device_free\": 100, \"size\": " #size         \
	", \"stream\": 0}"

/* A snapshot with settings of the program. */
#define UNDER(conf, segments, entries)                                         \
	"{\"allocator_settings\": {\"PYTORCH_CUDA_ALLOC_CONF\": \"" conf       \
	"\"}, \"segments\": [" segments "], \"device_traces\": [[" entries     \
	"]]}"

#define ACTIVE	 "active_allocated"
#define INACTIVE "inactive"

/* The kinds of a device's events, as a text to compare. */
static inline const char *kinds_of(const struct gp_trace *trace)
{
	static char text[1024];
	const struct gp_device_trace *d = &trace->devices[0];
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < d->event_count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
				       i ? " " : "",
				       gp_event_kind_name(d->events[i].kind));
	return text;
}

static inline struct gp_trace *whole(const char *text)
{
	struct gp_trace *trace = trace_of(text);

	ck_assert_uint_eq(trace->device_count, 1);
	return trace;
}

#endif
