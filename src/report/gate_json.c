/* SPDX-License-Identifier: MIT */
/* gpupool-check/1: the gate's verdict for a program. */
#include "report/gate_value.h"

static const char *status_word(enum gp_status status)
{
	switch (status) {
	case GP_OK: return "ok";
	case GP_FAILED: return "worse";
	default: return "error";
	}
}

static void write_reading(struct gp_emit *json, const char *key,
			  const struct gp_number *number,
			  const struct gp_reading *reading)
{
	if (reading->is_there)
		gp_gate_emit_value(json, key, number, reading->value);
	else
		gp_emit_null(json, key);
}

static void write_verdict(struct gp_emit *json,
			  const struct gp_gate_report *report,
			  const struct gp_gate_verdict *v)
{
	const struct gp_number *number =
		&report->numbers->items[v->limit->number];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "number", number->name);
	gp_emit_text(json, "status", v->is_worse ? "worse" : "ok");
	write_reading(json, "baseline", number, &v->baseline);
	write_reading(json, "value", number, &v->now);
	gp_emit_text(json, "limit", v->limit->text);
	gp_gate_emit_value(json, "bound", number, v->bound);
	if (v->event == GP_EVENT_NONE)
		gp_emit_null(json, "event");
	else
		gp_emit_uint(json, "event", v->event);
	gp_emit_close(json, '}');
}

static void write_parting(struct gp_emit *json,
			  const struct gp_parting *parting)
{
	if (!parting->is_there) {
		gp_emit_null(json, "parting");
		return;
	}
	gp_emit_open(json, "parting", '{', GP_EMIT_LINES);
	gp_emit_text(json, "who",
		     parting->is_program ? "program" : "allocator");
	gp_emit_uint(json, "first_event", parting->first);
	gp_emit_uint(json, "last_event", parting->last);
	gp_emit_close(json, '}');
}

static void write_device(struct gp_emit *json,
			 const struct gp_gate_report *report,
			 const struct gp_gate_device *device)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	write_parting(json, &device->parting);
	gp_emit_open(json, "limits", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < device->verdict_count; i++)
		write_verdict(json, report, &device->verdicts[i]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

static void write_result(struct gp_emit *json,
			 const struct gp_gate_report *report,
			 const struct gp_gate_result *result)
{
	char trouble[GP_GATE_TROUBLE];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "name", result->run->name);
	gp_emit_text(json, "trace", result->run->trace);
	gp_emit_text(json, "status", status_word(result->status));
	gp_emit_text(json, "error",
		     result->status < GP_INPUT
			     ? NULL
			     : gp_gate_trouble(&result->diag, trouble));
	gp_emit_text(json, "alloc_conf",
		     result->now ? result->now->conf : NULL);
	gp_emit_text(json, "torch", result->now ? result->now->torch : NULL);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t d = 0; d < result->device_count; d++)
		write_device(json, report, &result->devices[d]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

void gp_report_gate_json(const struct gp_gate_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin("gpupool-check/1", out);

	gp_emit_open(&json, "files", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->count; i++) {
		const struct gp_gate_file *file = &report->files[i];

		gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
		gp_emit_text(&json, "path", file->gate->path);
		gp_emit_open(&json, "runs", '[', GP_EMIT_LINES);
		for (size_t k = 0; k < file->count; k++)
			write_result(&json, report, &file->results[k]);
		gp_emit_close(&json, ']');
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
