/* SPDX-License-Identifier: MIT */
/* Writes a scenario's requests down, as a trace's events. */
#include "trace/scenario/writer.h"

#include <assert.h>
#include <string.h>

/* Streams of a real program have handles that look like this. */
#define STREAM_HANDLE UINT64_C(0x5500000000)

void writer_site(struct trace_writer *writer, const char *text)
{
	writer->site = gp_build_call(
		writer->build, gp_build_text(writer->build, text, strlen(text)),
		GP_NO_SITE);
}

static struct gp_event make_event(const struct trace_writer *writer,
				  enum gp_event_kind kind)
{
	return (struct gp_event){
		.kind = (uint8_t)kind,
		.id = GP_NO_ID,
		.site = GP_NO_SITE,
		.stream = writer->stream,
		.pool = writer->pool,
	};
}

struct held writer_alloc(struct trace_writer *writer, uint64_t size)
{
	struct gp_event event = make_event(writer, GP_ALLOC);
	struct held held = { writer->blocks++, size };

	event.id = 0;
	event.size = size;
	event.site = writer->site;
	gp_build_event(writer->build, writer->device, &event, held.name);
	writer->live_bytes += size;
	if (writer->live_bytes > writer->peak_bytes)
		writer->peak_bytes = writer->live_bytes;
	return held;
}

void writer_free(struct trace_writer *writer, struct held *held)
{
	struct gp_event event = make_event(writer, GP_FREE);

	if (!held->size)
		return;
	event.id = 0;
	gp_build_event(writer->build, writer->device, &event, held->name);
	writer->live_bytes -= held->size;
	*held = (struct held){ 0 };
}

void writer_record_stream(struct trace_writer *writer, const struct held *held,
			  uint16_t stream)
{
	struct gp_event event = make_event(writer, GP_RECORD_STREAM);

	event.id = 0;
	event.stream = stream;
	gp_build_event(writer->build, writer->device, &event, held->name);
}

void writer_synchronize(struct trace_writer *writer)
{
	struct gp_event event = make_event(writer, GP_SYNCHRONIZE);

	event.stream = GP_ALL_STREAMS;
	gp_build_event(writer->build, writer->device, &event, 0);
}

void writer_mark(struct trace_writer *writer, const char *name,
		 enum gp_mark_stage stage)
{
	struct gp_event event = make_event(writer, GP_MARK);

	event.text = gp_build_text(writer->build, name, strlen(name));
	event.mark = (uint16_t)stage;
	gp_build_event(writer->build, writer->device, &event, 0);
}

void writer_ask(struct trace_writer *writer, enum gp_event_kind kind)
{
	struct gp_event event = make_event(writer, kind);

	gp_build_event(writer->build, writer->device, &event, 0);
}

/* The tables have room for many more than a scenario's parameters allow. */
uint16_t writer_stream(struct trace_writer *writer, uint64_t n)
{
	struct gp_diag diag = { 0 };
	uint16_t stream = 0;
	enum gp_status status = gp_build_stream(
		writer->build, STREAM_HANDLE + n * 16, &stream, &diag);

	assert(status == GP_OK);
	(void)status;
	return stream;
}

uint16_t writer_pool(struct trace_writer *writer, uint64_t n)
{
	struct gp_diag diag = { 0 };
	uint16_t pool = 0;
	enum gp_status status = gp_build_pool(
		writer->build, (struct gp_pool_id){ 0, n }, &pool, &diag);

	assert(status == GP_OK);
	(void)status;
	return pool;
}
