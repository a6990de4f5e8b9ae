/* SPDX-License-Identifier: MIT */
/* The gate's verdict as JUnit's XML: a test case for each number. */
#include <string.h>

#include "base/utf8.h"
#include "report/gate_report.h"

static void put_text(FILE *out, const char *text)
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
	put_text(out, result->run->name);
	if (device && result->device_count > 1)
		fprintf(out, ".device%u", device->device);
	fputs("\" name=\"", out);
	put_text(out, name);
	fputs("\"", out);
}

static void close_case(FILE *out, const char *kind, const char *message,
		       const char *text)
{
	fprintf(out, ">\n      <%s message=\"", kind);
	put_text(out, message);
	fputs("\">", out);
	put_text(out, text);
	fprintf(out, "</%s>\n    </testcase>\n", kind);
}

static void write_device(FILE *out, const struct gp_gate_report *report,
			 const struct gp_gate_result *result,
			 const struct gp_gate_device *device)
{
	char sentence[GP_GATE_SENTENCE], divergence[GP_GATE_SENTENCE];

	gp_gate_divergence(&device->divergence, divergence);
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

static void write_result(FILE *out, const struct gp_gate_report *report,
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
		write_device(out, report, result, &result->devices[d]);
}

struct counts {
	size_t tests, failures, errors;
};

static struct counts count(const struct gp_gate_file *file)
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
		struct counts counts = count(file);

		fputs("  <testsuite name=\"", out);
		put_text(out, file->gate->path);
		fprintf(out,
			"\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
			counts.tests, counts.failures, counts.errors);
		for (size_t k = 0; k < file->count; k++)
			write_result(out, report, &file->results[k]);
		fputs("  </testsuite>\n", out);
	}
	fputs("</testsuites>\n", out);
}
