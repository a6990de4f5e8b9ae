/* SPDX-License-Identifier: MIT */
/* A pen: writes a scenario's requests down. */
#include "trace/scenario/pen.h"

#include <assert.h>
#include <string.h>

/* Streams of a real program have handles that look like this. */
#define STREAM_HANDLE UINT64_C(0x5500000000)

void pen_site(struct pen *pen, const char *text)
{
	pen->site = gp_build_call(pen->build,
				  gp_build_text(pen->build, text, strlen(text)),
				  GP_NO_SITE);
}

static struct gp_event make_event(const struct pen *pen,
				  enum gp_event_kind kind)
{
	return (struct gp_event){
		.kind = (uint8_t)kind,
		.id = GP_NO_ID,
		.site = GP_NO_SITE,
		.stream = pen->stream,
		.pool = pen->pool,
	};
}

struct held pen_alloc(struct pen *pen, uint64_t size)
{
	struct gp_event event = make_event(pen, GP_ALLOC);
	struct held held = { pen->blocks++, size };

	event.id = 0;
	event.size = size;
	event.site = pen->site;
	gp_build_event(pen->build, pen->device, &event, held.name);
	pen->live_bytes += size;
	if (pen->live_bytes > pen->peak_bytes)
		pen->peak_bytes = pen->live_bytes;
	return held;
}

void pen_free(struct pen *pen, struct held *held)
{
	struct gp_event event = make_event(pen, GP_FREE);

	if (!held->size)
		return;
	event.id = 0;
	gp_build_event(pen->build, pen->device, &event, held->name);
	pen->live_bytes -= held->size;
	*held = (struct held){ 0 };
}

void pen_record_stream(struct pen *pen, const struct held *held,
		       uint16_t stream)
{
	struct gp_event event = make_event(pen, GP_RECORD_STREAM);

	event.id = 0;
	event.stream = stream;
	gp_build_event(pen->build, pen->device, &event, held->name);
}

void pen_synchronize(struct pen *pen)
{
	struct gp_event event = make_event(pen, GP_SYNCHRONIZE);

	event.stream = GP_ALL_STREAMS;
	gp_build_event(pen->build, pen->device, &event, 0);
}

void pen_mark(struct pen *pen, const char *name, enum gp_mark_stage stage)
{
	struct gp_event event = make_event(pen, GP_MARK);

	event.text = gp_build_text(pen->build, name, strlen(name));
	event.mark = (uint16_t)stage;
	gp_build_event(pen->build, pen->device, &event, 0);
}

void pen_ask(struct pen *pen, enum gp_event_kind kind)
{
	struct gp_event event = make_event(pen, kind);

	gp_build_event(pen->build, pen->device, &event, 0);
}

/* The tables have room for many more than a scenario's parameters allow. */
uint16_t pen_stream(struct pen *pen, uint64_t n)
{
	struct gp_diag diag = { 0 };
	uint16_t stream = 0;
	enum gp_status status = gp_build_stream(
		pen->build, STREAM_HANDLE + n * 16, &stream, &diag);

	assert(status == GP_OK);
	(void)status;
	return stream;
}

uint16_t pen_pool(struct pen *pen, uint64_t n)
{
	struct gp_diag diag = { 0 };
	uint16_t pool = 0;
	enum gp_status status = gp_build_pool(
		pen->build, (struct gp_pool_id){ 0, n }, &pool, &diag);

	assert(status == GP_OK);
	(void)status;
	return pool;
}
