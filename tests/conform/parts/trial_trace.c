/* SPDX-License-Identifier: MIT */
/* Trials to traces, and back. */
#include "trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/build.h"

/* ---- to a trace ---- */

static enum gp_status build_op(struct gp_build *build, const struct op *op,
			       uint64_t capacity, struct gp_diag *diag)
{
	uint8_t fields = gp_event_fields(op->kind);
	struct gp_event event = { .kind = (uint8_t)op->kind,
				  .flags = op->flags,
				  .id = GP_NO_ID,
				  .site = GP_NO_SITE };
	enum gp_status status;
	uint32_t device;

	status = gp_build_device(build, op->device, &device, diag);
	if (status == GP_OK && (fields & GP_HAS_STREAM))
		status =
			gp_build_stream(build, op->stream, &event.stream, diag);
	if (status == GP_OK && (op->flags & GP_STREAM_WAITS))
		status = gp_build_stream(build, op->by, &event.by, diag);
	if (status == GP_OK && (fields & GP_HAS_POOL))
		status = gp_build_pool(build, op->pool, &event.pool, diag);
	if (status != GP_OK)
		return status;
	if (fields & GP_HAS_SIZE)
		event.size = op->size;
	if (fields & GP_HAS_FRACTION)
		event.fraction = op->fraction;
	if (fields & GP_HAS_TEXT)
		event.text = gp_build_text(build, op->text, strlen(op->text));
	else if ((fields & GP_HAS_ID) && op->kind != GP_SYNCHRONIZE)
		event.id = 0;
	gp_build_total_memory(build, device, capacity);
	gp_build_event(build, device, &event, op->id);
	return GP_OK;
}

enum gp_status trial_trace(const struct trial *trial, struct gp_trace **trace,
			   struct gp_diag *diag)
{
	struct gp_build *build = gp_build_create(GP_BUILD_REQUESTS);
	enum gp_status status = GP_OK;
	uint32_t device;

	gp_build_source(build, "gpupool-trace");
	gp_build_settings(build, trial->conf);
	gp_build_complete(build, true);
	for (size_t i = 0; i < trial->count && status == GP_OK; i++)
		status = build_op(build, &trial->ops[i], trial->capacity, diag);
	/* A trial that was cut down to nothing still has a device. */
	if (status == GP_OK && !trial->count)
		status = gp_build_device(build, 0, &device, diag);
	if (status == GP_OK)
		return gp_build_finish(build, trace, diag);
	gp_build_destroy(build);
	return status;
}

/* ---- from a trace ---- */

static bool has_place(const struct gp_event *event)
{
	switch (event->kind) {
	case GP_RECORD_STREAM: return event->stream != GP_NO_STREAM;
	case GP_SYNCHRONIZE:
		return event->id == GP_NO_ID && event->stream != GP_ALL_STREAMS;
	default: return true;
	}
}

/* Blocks of earlier devices have ids below first_id. */
static bool read_event(struct trial *trial, const struct gp_trace *trace,
		       const struct gp_device_trace *device, uint64_t first_id,
		       const struct gp_event *event)
{
	uint8_t fields = gp_event_fields(event->kind);
	struct op op = {
		.kind = event->kind,
		.device = device->device,
		.flags = event->flags & (GP_STREAM_WAITS | GP_NAMES_STREAM),
	};

	if (event->kind >= GP_FIRST_OUTCOME || event->kind == GP_MARK)
		return true;
	if (!has_place(event))
		return false;
	if ((fields & GP_HAS_ID) && event->kind != GP_SYNCHRONIZE)
		op.id = first_id + event->id;
	if (fields & GP_HAS_SIZE)
		op.size = event->size;
	if (fields & GP_HAS_STREAM)
		op.stream = trace->streams[event->stream];
	if (op.flags & GP_STREAM_WAITS)
		op.by = trace->streams[event->by];
	if (fields & GP_HAS_POOL)
		op.pool = trace->pools[event->pool];
	if (fields & GP_HAS_FRACTION)
		op.fraction = event->fraction;
	if (fields & GP_HAS_TEXT)
		snprintf(op.text, sizeof(op.text), "%s",
			 trace->texts[event->text]);
	trial_add(trial, &op);
	return true;
}

bool trial_of_trace(struct trial *trial, const struct gp_trace *trace)
{
	uint64_t first_id = 1;

	*trial = (struct trial){ .capacity = 80 * GIB };
	if (trace->settings)
		snprintf(trial->conf, sizeof(trial->conf), "%s",
			 trace->settings);
	for (size_t i = 0; i < trace->device_count; i++) {
		const struct gp_device_trace *device = &trace->devices[i];

		if (device->start.segment_count)
			return false;
		if (device->total_memory)
			trial->capacity = device->total_memory;
		for (size_t k = 0; k < device->event_count; k++)
			if (!read_event(trial, trace, device, first_id,
					&device->events[k]))
				return false;
		first_id += device->block_ids;
	}
	return true;
}
