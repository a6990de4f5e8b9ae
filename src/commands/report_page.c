/* SPDX-License-Identifier: MIT */
/*
 * man/gpupool-report.5, made from the table of keys:
 *
 *	gpupool help report.5 > man/gpupool-report.5
 */
#include "commands/report_page.h"

#include "commands/mdoc.h"
#include "report/schema.h"

static const char head[] =
	".\\\" Made by gpupool help report.5; change the table instead.\n"
	".Dd November 21, 2026\n"
	".Dt GPUPOOL-REPORT 5\n"
	".Os\n"
	".Sh NAME\n"
	".Nm gpupool-report\n"
	".Nd reports for programs\n"
	".Sh DESCRIPTION\n"
	"With\n"
	".Fl -format Cm json\n"
	"a command writes one JSON object.\n"
	"Its\n"
	".Cm schema\n"
	"names it and has a number that rises where a key changes its name or "
	"meaning;\n"
	"keys may be added.\n"
	"Whole numbers are written in full, up to 2^64 - 1, and ratios with "
	"six "
	"digits;\n"
	"the same trace and settings give the same bytes on every machine.\n"
	"A key that is not said to be null or absent is always there.\n"
	".Pp\n"
	"The same is a JSON Schema, which\n"
	".Dl gpupool help report-schema\n"
	"prints and which is installed as\n"
	".Pa share/gpupool/gpupool-report.schema.json .\n";

static const char tail[] = ".Sh SEE ALSO\n"
			   ".Xr gpupool 1 ,\n"
			   ".Xr gpupool-trace 5 ,\n"
			   ".Xr gpupool-metrics 7 ,\n"
			   ".Xr gpupool-settings 7\n";

static void print_key(void *arg, const struct gp_key *key)
{
	FILE *out = arg;
	char unit[GP_KEY_UNIT];

	if (key->type == GP_KEY_KEYS_OF) {
		fprintf(out, ".It the keys of Cm %s\n", key->of);
		return;
	}
	fprintf(out, ".It Cm %s Pq %s\n", key->name, gp_key_unit(key, unit));
	gp_mdoc_words(gp_key_sentence(key), out);
}

static void print_object(const struct gp_key *object, FILE *out)
{
	fprintf(out, ".Ss %s\n", object->name);
	gp_mdoc_words(object->sentence, out);
	if (object->of)
		fprintf(out, "Schema\n.Ql %s .\n", object->of);
	fputs(".Bl -tag -width Ds -compact\n", out);
	while ((++object)->type != GP_KEY_NEW)
		gp_key_tell(object, print_key, out);
	fputs(".El\n", out);
}

void gp_report_page(FILE *out)
{
	const struct gp_key *object = NULL;

	fputs(head, out);
	fputs(".Sh REPORTS\n", out);
	while ((object = gp_key_object_after(object)))
		if (object->of)
			print_object(object, out);
	fputs(".Sh OBJECTS\n", out);
	while ((object = gp_key_object_after(object)))
		if (!object->of)
			print_object(object, out);
	fputs(tail, out);
}
