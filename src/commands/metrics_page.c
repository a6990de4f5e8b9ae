/* SPDX-License-Identifier: MIT */
/*
 * man/gpupool-metrics.7, made from the table of measures:
 *
 *	gpupool help metrics.7 > man/gpupool-metrics.7
 */
#include "commands/metrics_page.h"

#include "commands/mdoc.h"
#include "gpupool/metrics.h"

static const char head[] =
	".\\\" Made by gpupool help metrics.7; change the table instead.\n"
	".Dd November 21, 2026\n"
	".Dt GPUPOOL-METRICS 7\n"
	".Os\n"
	".Sh NAME\n"
	".Nm gpupool-metrics\n"
	".Nd what the numbers of gpupool's reports are\n"
	".Sh DESCRIPTION\n"
	"Each number has one name, one formula and one unit, wherever it "
	"stands:\n"
	"in a report, in its JSON, in a timeline, on a page and in a "
	"threshold.\n"
	"PyTorch's own counters keep PyTorch's names and are not repeated "
	"here.\n"
	"A ratio with nothing to divide by is 0.\n";

static const char over_time[] =
	".Ss Over time\n"
	"The measures of a moment are taken behind every event of the trace.\n"
	"For\n"
	".Fl -timeline\n"
	"and for pictures they are thinned: the events fall into at most 256 "
	"buckets of\n"
	"equal width, and of each bucket the moments are kept at which a "
	"measure has its\n"
	"least or its largest value there.\n"
	"So no peak of any measure is lost, and what is kept does not grow "
	"with the\n"
	"trace.\n"
	".Ss Thresholds\n"
	".Dl gpupool replay TRACE --alert \"fragmentation>0.3 for 100 "
	"events\"\n"
	".Pp\n"
	"exits 1 when a measure of this page was beyond its limit for so many "
	"events in a\n"
	"row, and says when that was first.\n"
	"The operators are >, >=, < and <=; a limit in bytes may have a unit\n"
	".Pq 4GiB ,\n"
	"and a ratio may be a percentage\n"
	".Pq 30% .\n"
	"Without\n"
	".Dq for N events\n"
	"one event is enough.\n"
	"Each event counts, not only those that are kept for a timeline.\n";

static const char tail[] = ".Sh SEE ALSO\n"
			   ".Xr gpupool 1 ,\n"
			   ".Xr gpupool-replay 1\n";

static void print_measure(const struct gp_measure *measure, FILE *out)
{
	char formula[256];

	fprintf(out, ".It Cm %s\n", measure->key);
	gp_mdoc_words(measure->reading, out);
	fputs(".br\n", out);
	snprintf(formula, sizeof(formula), "Formula: %s", measure->formula);
	gp_mdoc_words(formula, out);
	fprintf(out, ".br\nUnit: %s; in text: %s\n",
		gp_unit_name(measure->unit), measure->label);
}

static void print_scope(enum gp_measure_scope scope, const char *title,
			FILE *out)
{
	fprintf(out, ".Ss %s\n.Bl -tag -width Ds\n", title);
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (gp_measures[id].scope == scope)
			print_measure(&gp_measures[id], out);
	fputs(".El\n", out);
}

void gp_metrics_page(FILE *out)
{
	fputs(head, out);
	print_scope(GP_SCOPE_MOMENT, "Of a moment", out);
	print_scope(GP_SCOPE_RUN, "Of a run", out);
	print_scope(GP_SCOPE_COUNTER, "PyTorch's counters that thresholds know",
		    out);
	print_scope(GP_SCOPE_CALLS, "Of the device", out);
	print_scope(GP_SCOPE_SUMMARY, "Of a run, where runs are rows", out);
	fputs(over_time, out);
	fputs(tail, out);
}
