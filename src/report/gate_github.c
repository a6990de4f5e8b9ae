/* SPDX-License-Identifier: MIT */
/*
 * The gate's verdict as GitHub's workflow commands, which it shows at the
 * file: "::error file=gpupool.json,title=train::peak_reserved_bytes: ...".
 */
#include <limits.h>
#include <string.h>

#include "base/safe.h"
#include "report/gate_value.h"

/* A message keeps to its line; a property also ends at : and , */
static void put(FILE *out, const char *told, const char *special)
{
	char safe[GP_GATE_SENTENCE + PATH_MAX];
	const char *text = gp_safe_text(told, safe, sizeof(safe));

	for (; *text; text++)
		if (*text == '%' || *text == '\r' || *text == '\n' ||
		    strchr(special, *text))
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
		else
			putc(*text, out);
}

static void annotate(FILE *out, const struct gp_gate_file *file,
		     const struct gp_gate_result *result, const char *message,
		     const char *more)
{
	fputs("::error file=", out);
	put(out, file->gate->path, ":,");
	fputs(",title=gpupool%3A ", out);
	put(out, result->run->name, ":,");
	fputs("::", out);
	put(out, message, "");
	if (*more) {
		fputs("; ", out);
		put(out, more, "");
	}
	putc('\n', out);
}

static void write_result(FILE *out, const struct gp_gate_report *report,
			 const struct gp_gate_file *file,
			 const struct gp_gate_result *result)
{
	char text[GP_GATE_TROUBLE], parting[GP_GATE_SENTENCE];

	if (result->status >= GP_INPUT)
		annotate(out, file, result,
			 gp_gate_trouble(&result->diag, text), "");
	for (size_t d = 0; d < result->device_count; d++) {
		const struct gp_gate_device *device = &result->devices[d];

		gp_gate_parting(&device->parting, parting);
		for (size_t i = 0; i < device->verdict_count; i++)
			if (device->verdicts[i].is_worse)
				annotate(out, file, result,
					 gp_gate_sentence(report,
							  &device->verdicts[i],
							  text),
					 parting);
	}
}

void gp_report_gate_github(const struct gp_gate_report *report,
			   const struct gp_report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->count; i++)
		for (size_t k = 0; k < report->files[i].count; k++)
			write_result(out, report, &report->files[i],
				     &report->files[i].results[k]);
	gp_report_gate_text(report, style, out);
}
