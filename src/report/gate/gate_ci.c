/* SPDX-License-Identifier: MIT */
/*
 * The gate's verdict in the formats of CI services: GitHub's annotations,
 * JUnit's XML, and GitLab's code quality report.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/safe.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "report/emit.h"
#include "report/gate/gate_report.h"

/* One item that a service shows. */
struct finding {
	const struct gp_gate_file *file;
	const struct gp_gate_result *result;
	const struct gp_gate_device *device;   /* NULL: not judged */
	const struct gp_gate_verdict *verdict; /* NULL: likewise */
	const char *what, *sentence;
};

/* ---- as GitHub's workflow commands, which it shows at the file:
 * "::error file=gpupool.json,title=train::peak_reserved_bytes: ..." ---- */

/* Escapes text for a workflow command: in a message only the escape character,
 * in a property also the characters in special. A safe text has no line
 * ends. */
static void put_property(FILE *out, const char *unsafe, const char *special)
{
	char safe[GP_GATE_SENTENCE + PATH_MAX];
	const char *text = gp_safe_text(unsafe, safe, sizeof(safe));

	for (; *text; text++)
		if (*text == '%' || strchr(special, *text))
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
		else
			putc(*text, out);
}

static void annotate(FILE *out, const struct finding *f, const char *more)
{
	char text[GP_GATE_SENTENCE];

	fputs("::error file=", out);
	if (f->verdict && f->verdict->is_here) {
		put_property(out, f->verdict->source, ":,");
		fprintf(out, ",line=%" PRIu64, f->verdict->line);
	} else {
		put_property(out, gp_gate_repository_path(f->file->gate), ":,");
	}
	fputs(",title=gpupool%3A ", out);
	put_property(out, gp_gate_run_text(f->result, f->device, text), ":,");
	fputs("::", out);
	put_property(out, f->sentence, "");
	if (*more) {
		fputs("; ", out);
		put_property(out, more, "");
	}
	putc('\n', out);
}

static void annotate_result(FILE *out, const struct gp_gate_report *report,
			    struct finding *f)
{
	char text[GP_GATE_TROUBLE], divergence[GP_GATE_SENTENCE];

	if (f->result->status >= GP_INPUT) {
		f->sentence = gp_gate_trouble(&f->result->diag, text);
		annotate(out, f, "");
	}
	for (size_t d = 0; d < f->result->device_count; d++) {
		f->device = &f->result->devices[d];
		gp_gate_divergence_text(f->result, f->device, divergence);
		for (size_t i = 0; i < f->device->verdict_count; i++) {
			f->verdict = &f->device->verdicts[i];
			f->sentence =
				gp_gate_sentence(report, f->verdict, text);
			if (f->verdict->is_worse)
				annotate(out, f, divergence);
		}
	}
}

void gp_report_gate_github(const struct gp_gate_report *report,
			   const struct gp_report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->count; i++)
		for (size_t k = 0; k < report->files[i].count; k++) {
			struct finding f = {
				.file = &report->files[i],
				.result = &report->files[i].results[k],
			};

			annotate_result(out, report, &f);
		}
	gp_report_gate_text(report, style, out);
}

/* ---- JUnit's XML: a test case for each number ---- */

static void put_xml(FILE *out, const char *text)
{
	const char *end = text + strlen(text);

	while (text < end)
		switch (*text) {
		case '&': text++, fputs("&amp;", out); break;
		case '<': text++, fputs("&lt;", out); break;
		case '>': text++, fputs("&gt;", out); break;
		case '"': text++, fputs("&quot;", out); break;
		case '\t':
		case '\n':
		case '\r': text++, putc('?', out); break;
		default:
			text += gp_utf8_put_xml(text, (size_t)(end - text),
						out);
		}
}

static void open_case(FILE *out, const struct gp_gate_result *result,
		      const struct gp_gate_device *device, const char *name)
{
	fputs("    <testcase classname=\"", out);
	put_xml(out, result->run->name);
	if (device && result->device_count > 1)
		fprintf(out, ".device%u", device->device);
	fputs("\" name=\"", out);
	put_xml(out, name);
	fputs("\"", out);
}

static void close_case(FILE *out, const char *kind, const char *message,
		       const char *text)
{
	fprintf(out, ">\n      <%s message=\"", kind);
	put_xml(out, message);
	fputs("\">", out);
	put_xml(out, text);
	fprintf(out, "</%s>\n    </testcase>\n", kind);
}

static void write_cases(FILE *out, const struct gp_gate_report *report,
			const struct gp_gate_result *result,
			const struct gp_gate_device *device)
{
	char sentence[GP_GATE_SENTENCE], divergence[GP_GATE_SENTENCE];

	gp_gate_divergence_text(result, device, divergence);
	for (size_t i = 0; i < device->verdict_count; i++) {
		const struct gp_gate_verdict *v = &device->verdicts[i];

		open_case(out, result, device,
			  report->numbers->items[v->limit->number].name);
		if (v->is_worse)
			close_case(out, "failure",
				   gp_gate_sentence(report, v, sentence),
				   divergence);
		else
			fputs("/>\n", out);
	}
}

static void write_run(FILE *out, const struct gp_gate_report *report,
		      const struct gp_gate_result *result)
{
	char trouble[GP_GATE_TROUBLE];

	if (result->status >= GP_INPUT) {
		open_case(out, result, NULL, "run");
		close_case(out, "error",
			   gp_gate_trouble(&result->diag, trouble), "");
		return;
	}
	for (size_t d = 0; d < result->device_count; d++)
		write_cases(out, report, result, &result->devices[d]);
}

struct counts {
	size_t tests, failures, errors;
};

static struct counts count_cases(const struct gp_gate_file *file)
{
	struct counts counts = { 0 };

	for (size_t i = 0; i < file->count; i++) {
		const struct gp_gate_result *result = &file->results[i];

		if (result->status >= GP_INPUT) {
			counts.tests++;
			counts.errors++;
			continue;
		}
		for (size_t d = 0; d < result->device_count; d++) {
			const struct gp_gate_device *device =
				&result->devices[d];

			counts.tests += device->verdict_count;
			for (size_t k = 0; k < device->verdict_count; k++)
				counts.failures += device->verdicts[k].is_worse;
		}
	}
	return counts;
}

void gp_report_gate_junit(const struct gp_gate_report *report, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<testsuites name=\"gpupool check\">\n",
	      out);
	for (size_t i = 0; i < report->count; i++) {
		const struct gp_gate_file *file = &report->files[i];
		struct counts counts = count_cases(file);

		fputs("  <testsuite name=\"", out);
		put_xml(out, file->gate->path);
		fprintf(out,
			"\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
			counts.tests, counts.failures, counts.errors);
		for (size_t k = 0; k < file->count; k++)
			write_run(out, report, &file->results[k]);
		fputs("  </testsuite>\n", out);
	}
	fputs("</testsuites>\n", out);
}

/* ---- GitLab's code quality report, which it shows in a merge request: a list
 * of findings. GitLab recognizes a finding by its fingerprint, which therefore
 * must not depend on values and lines. ---- */

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

static void emit_finding(struct gp_emit *json, const struct finding *f)
{
	char text[2 * GP_GATE_TROUBLE], safe[2 * GP_GATE_TROUBLE];
	char run[GP_GATE_SENTENCE];

	snprintf(text, sizeof(text), "%s: %s",
		 gp_gate_run_text(f->result, f->device, run), f->sentence);
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "description",
		     gp_safe_text(text, safe, sizeof(safe)));
	gp_emit_text(json, "check_name", f->what);
	emit_fingerprint(json, f);
	gp_emit_text(json, "severity", f->verdict ? "major" : "blocker");
	emit_place(json, f);
	gp_emit_close(json, '}');
}

static void emit_findings(struct gp_emit *json,
			  const struct gp_gate_report *report,
			  struct finding *f)
{
	char text[GP_GATE_TROUBLE];

	if (f->result->status >= GP_INPUT) {
		f->what = "run";
		f->sentence = gp_gate_trouble(&f->result->diag, text);
		emit_finding(json, f);
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
				emit_finding(json, f);
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

			emit_findings(&json, report, &f);
		}
	gp_emit_close(&json, ']');
}
