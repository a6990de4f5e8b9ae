/* SPDX-License-Identifier: MIT */
/* What gpupool doctor finds on a machine. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text_sink.h"
#include "report/emit.h"
#include "report/object.h"
#include "report/page.h"
#include "report/schema.h"

static void print_libraries(const struct gp_page *page,
			    const struct gp_doctor *doctor)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	char *text;

	for (size_t i = 0; i < doctor->library_count; i++)
		fprintf(out, "%s%s %s", i ? ", " : "",
			doctor->libraries[i].name,
			doctor->libraries[i].version);
	text = gp_text_sink_close(&sink, out);
	gp_page_field(page, "libraries", "%s", text ? text : "");
	free(text);
}

static void print_check(const struct gp_page *page,
			const struct gp_doctor_check *check)
{
	gp_page_field(page, check->name, "%s%s",
		      check->is_there ? "" : "missing: ", check->found);
	if (check->is_there)
		return;
	gp_page_field(page, "", "needed for %s", check->needed_for);
	if (check->hint)
		gp_page_field(page, "", "%s", check->hint);
}

void gp_report_doctor_text(const struct gp_doctor *doctor,
			   const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	gp_page_field(&page, "gpupool", "%s, built by %s for %s",
		      doctor->version, doctor->compiler, doctor->architecture);
	gp_page_field(&page, "system", "%s, %" PRIu32 " processor%s",
		      doctor->system, doctor->processors,
		      doctor->processors == 1 ? "" : "s");
	print_libraries(&page, doctor);
	gp_page_blank(&page);
	for (size_t i = 0; i < doctor->check_count; i++)
		print_check(&page, &doctor->checks[i]);
}

void gp_report_doctor_json(const struct gp_doctor *doctor, FILE *out)
{
	struct gp_emit json = gp_emit_begin("gpupool-doctor/1", out);

	gp_emit_keys(&json, "doctor", doctor);
	gp_emit_objects(&json, "libraries", "doctor_library", doctor->libraries,
			doctor->library_count, sizeof(*doctor->libraries));
	gp_emit_objects(&json, "checks", "doctor_check", doctor->checks,
			doctor->check_count, sizeof(*doctor->checks));
	gp_emit_close(&json, '}');
}
