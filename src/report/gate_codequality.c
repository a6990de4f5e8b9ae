/* SPDX-License-Identifier: MIT */
/*
 * The gate's verdict as GitLab's code quality report, which it shows in a merge
 * request: a list of findings.  One is the same as before where its fingerprint
 * is, which therefore knows of no values and no lines.
 */
#include <string.h>

#include "base/sha256.h"
#include "base/safe.h"
#include "report/emit.h"
#include "report/gate_report.h"

struct finding {
	const struct gp_gate_file *file;
	const struct gp_gate_result *result;
	const struct gp_gate_device *device;   /* NULL: not judged */
	const struct gp_gate_verdict *verdict; /* NULL: likewise */
	const char *what, *sentence;
};

static void emit_fingerprint(struct gp_emit *json, const struct finding *f)
{
	char key[2 * GP_GATE_TROUBLE], text[GP_SHA256_TEXT];

	snprintf(key, sizeof(key), "%.500s\n%.500s\n%u\n%.100s",
		 gp_gate_repository_path(f->file->gate), f->result->run->name,
		 f->device ? f->device->device : 0, f->what);
	gp_emit_text(json, "fingerprint",
		     gp_sha256_base64(key, strlen(key), text));
}

static void emit_place(struct gp_emit *json, const struct finding *f)
{
	bool is_here = f->verdict && f->verdict->is_here;

	gp_emit_open(json, "location", '{', GP_EMIT_LINES);
	gp_emit_text(json, "path",
		     is_here ? f->verdict->source
			     : gp_gate_repository_path(f->file->gate));
	gp_emit_open(json, "lines", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "begin", is_here ? f->verdict->line : 1);
	gp_emit_close(json, '}');
	gp_emit_close(json, '}');
}

static void emit(struct gp_emit *json, const struct finding *f)
{
	char text[2 * GP_GATE_TROUBLE], safe[2 * GP_GATE_TROUBLE];

	snprintf(text, sizeof(text), "%s: %s", f->result->run->name,
		 f->sentence);
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "description",
		     gp_safe_text(text, safe, sizeof(safe)));
	gp_emit_text(json, "check_name", f->what);
	emit_fingerprint(json, f);
	gp_emit_text(json, "severity", f->verdict ? "major" : "blocker");
	emit_place(json, f);
	gp_emit_close(json, '}');
}

static void emit_result(struct gp_emit *json,
			const struct gp_gate_report *report, struct finding *f)
{
	char text[GP_GATE_TROUBLE];

	if (f->result->status >= GP_INPUT) {
		f->what = "run";
		f->sentence = gp_gate_trouble(&f->result->diag, text);
		emit(json, f);
	}
	for (size_t d = 0; d < f->result->device_count; d++) {
		f->device = &f->result->devices[d];
		for (size_t i = 0; i < f->device->verdict_count; i++) {
			f->verdict = &f->device->verdicts[i];
			f->what = report->numbers
					  ->items[f->verdict->limit->number]
					  .name;
			f->sentence =
				gp_gate_sentence(report, f->verdict, text);
			if (f->verdict->is_worse)
				emit(json, f);
		}
	}
}

void gp_report_gate_codequality(const struct gp_gate_report *report, FILE *out)
{
	struct gp_emit json = { .out = out };

	gp_emit_open(&json, NULL, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->count; i++)
		for (size_t k = 0; k < report->files[i].count; k++) {
			struct finding f = {
				.file = &report->files[i],
				.result = &report->files[i].results[k],
			};

			emit_result(&json, report, &f);
		}
	gp_emit_close(&json, ']');
}
