/* SPDX-License-Identifier: MIT */
/*
 * Pages of the manual that are made of tables: of each, its words around the
 * table's rows.
 */
#include "commands/pages.h"

#include <stdbool.h>
#include <string.h>

#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "report/schema.h"
#include "study/what_if/what_if.h"

#define LINE 78 /* columns of a page's source */

static void put_words(const char *text, FILE *out)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		bool is_end = length && text[length - 1] == '.';

		if (column && column + 1 + length > LINE) {
			putc('\n', out);
			column = 0;
		}
		fprintf(out, "%s%.*s", column ? " " : "", (int)length, text);
		column += length + (column != 0);
		text += length + (text[length] != 0);
		if (is_end && *text) { /* a sentence starts a line */
			putc('\n', out);
			column = 0;
		}
	}
	putc('\n', out);
}

/* ---- gpupool-report(5) ---- */

static const char report_head[] =
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

static const char report_tail[] = ".Sh SEE ALSO\n"
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
	put_words(gp_key_sentence(key), out);
}

static void print_object(const struct gp_key *object, FILE *out)
{
	fprintf(out, ".Ss %s\n", object->name);
	put_words(object->sentence, out);
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

	fputs(report_head, out);
	fputs(".Sh REPORTS\n", out);
	while ((object = gp_key_object_after(object)))
		if (object->of)
			print_object(object, out);
	fputs(".Sh OBJECTS\n", out);
	while ((object = gp_key_object_after(object)))
		if (!object->of)
			print_object(object, out);
	fputs(report_tail, out);
}

/* ---- gpupool-metrics(7) ---- */

static const char metrics_head[] =
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

static const char metrics_tail[] = ".Sh SEE ALSO\n"
				   ".Xr gpupool 1 ,\n"
				   ".Xr gpupool-replay 1\n";

static void print_measure(const struct gp_measure *measure, FILE *out)
{
	char formula[256];

	fprintf(out, ".It Cm %s\n", measure->key);
	put_words(measure->reading, out);
	fputs(".br\n", out);
	snprintf(formula, sizeof(formula), "Formula: %s", measure->formula);
	put_words(formula, out);
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
	fputs(metrics_head, out);
	print_scope(GP_SCOPE_MOMENT, "Of a moment", out);
	print_scope(GP_SCOPE_RUN, "Of a run", out);
	print_scope(GP_SCOPE_COUNTER, "PyTorch's counters that thresholds know",
		    out);
	print_scope(GP_SCOPE_CALLS, "Of the device", out);
	print_scope(GP_SCOPE_SUMMARY, "Of a run, where runs are rows", out);
	fputs(over_time, out);
	fputs(metrics_tail, out);
}

/* ---- gpupool-settings(7) ---- */

static const char settings_head[] =
	".\\\" Made by gpupool help settings.7; change the table instead.\n"
	".Dd November 21, 2026\n"
	".Dt GPUPOOL-SETTINGS 7\n"
	".Os\n"
	".Sh NAME\n"
	".Nm gpupool-settings\n"
	".Nd settings of PyTorch's CUDA caching allocator\n"
	".Sh DESCRIPTION\n"
	"Settings are written as the environment variable\n"
	".Ev PYTORCH_CUDA_ALLOC_CONF\n"
	"has them:\n"
	".Pp\n"
	".Dl key:value,key:value\n"
	".Pp\n"
	".Xr gpupool-replay 1\n"
	"takes such a string with\n"
	".Fl -alloc-conf ;\n"
	"settings that decide something have a flag of their own as well.\n"
	"A string is accepted and refused exactly as the chosen release of "
	"PyTorch\n"
	"accepts and refuses it, in its words:\n"
	".Bl -bullet\n"
	".It\n"
	"Up to 2.9, separators are insisted on and only spaces are dropped.\n"
	"From 2.10 on all white space is dropped and separators are counted, "
	"not\n"
	"looked at: a:1:b:2 is a:1,b:2.\n"
	".It\n"
	"A comma at the end is accepted; one too many is a key that nobody "
	"knows.\n"
	".It\n"
	"Of a number the leading digits count: 64MB is 64, 128.9 is 128.\n"
	"Up to 2.9 it must fit an int; \\-1 is the largest size there is.\n"
	".It\n"
	"True and False are written like this.\n"
	".El\n"
	".Pp\n"
	"At run time\n"
	".Pq Fn torch.cuda.memory._set_allocator_settings ,\n"
	"max_split_size_mb, garbage_collection_threshold and\n"
	"roundup_power2_divisions go back to their defaults unless they are "
	"named, and\n"
	"from 2.11 on max_non_split_rounding_mb to the large segment size.\n"
	"The others keep their values.\n"
	"A string that is refused then has been read up to the mistake.\n"
	".Ss Settings\n"
	".Bl -tag -width Ds\n";

static const char settings_tail[] = ".El\n"
				    ".Sh SEE ALSO\n"
				    ".Xr gpupool 1 ,\n"
				    ".Xr gpupool-replay 1\n";

static void print_knob(const struct gp_knob *knob, FILE *out)
{
	fprintf(out, ".It Cm %s\n", knob->name);
	put_words(knob->sentence, out);
	fputs(".br\nTakes: ", out);
	put_words(knob->range, out);
	fputs(".br\nDefault: ", out);
	put_words(knob->by_default, out);
	fprintf(out, ".br\nSince 2.%u", knob->since);
	if (knob->flag)
		fprintf(out, "; flag:\n.Fl -%s", knob->flag);
	putc('\n', out);
}

void gp_settings_page(FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	fputs(settings_head, out);
	for (size_t i = 0; i < count; i++)
		print_knob(&knobs[i], out);
	fputs(settings_tail, out);
}

/* ---- gpupool-what-if(7) ---- */

static const char what_if_head[] =
	".\\\" Made by gpupool help what-if.7; change the table instead.\n"
	".Dd November 21, 2026\n"
	".Dt GPUPOOL-WHAT-IF 7\n"
	".Os\n"
	".Sh NAME\n"
	".Nm gpupool-what-if\n"
	".Nd the same program, had it asked otherwise\n"
	".Sh SYNOPSIS\n"
	".Nm gpupool replay\n"
	".Ar trace\n"
	".Fl -merge-streams\n"
	".Nm gpupool explain\n"
	".Ar trace\n"
	".Fl -without-site Ar optimizer.py:88\n"
	".Nm gpupool convert\n"
	".Ar in out\n"
	".Fl -empty-cache-at Cm best\n"
	".Sh DESCRIPTION\n"
	"Settings change how the allocator answers; what-ifs change what it "
	"is asked.\n"
	"Each alters the trace, and what it is worth is seen by a replay of "
	"the altered\n"
	"trace on a simulated device.\n"
	".Xr gpupool-replay 1\n"
	"shows the run without (A) and with it (B), and the difference;\n"
	".Fl -compare\n"
	"makes A the run as it was recorded.\n"
	".Xr gpupool-explain 1\n"
	"explains the altered run.\n"
	".Xr gpupool-convert 1\n"
	"writes the altered trace, whose replay comes to the same numbers.\n"
	".Pp\n"
	"Several may be given, also with settings; they are made in the order "
	"of this\n"
	"page, and those of one name as they were given.\n"
	"A report says of each what it changed.\n"
	".Pp\n"
	"An event keeps its number: one that is left out is a\n"
	".Cm snapshot\n"
	"event, which asks for nothing.\n"
	"Only where events are added\n"
	".Pq by Fl -free-earlier , -checkpointing , -preallocate , "
	"-empty-cache-at\n"
	"do those behind them move on.\n"
	"Numbers of events in a command are those of the recorded trace, but "
	"for\n"
	".Fl -empty-cache-at ,\n"
	"which counts those added before it as well.\n"
	".Ss What-ifs\n"
	".Bl -tag -width Ds\n";

static const char blocks[] =
	".El\n"
	".Ss Blocks\n"
	"Which blocks are meant:\n"
	".Bl -tag -width Ds\n"
	".It Ar text\n"
	"A site as reports name it, such as\n"
	".Dq net/mlp.py:7 run (aten::mul)\n"
	"or\n"
	".Dq MmBackward0 :\n"
	"the blocks that they tell under that name.\n"
	"Any other text means those with the text in a frame of the stack that "
	"asked for\n"
	"them: a line of the source, or a function.\n"
	"Numbers in it are whole: train.py:4 is not in train.py:42.\n"
	".It Cm size: Ns Ar size , Cm size: Ns Ar from Ns Cm .. Ns Ar to\n"
	"Those of such a size, as requested.\n"
	"A size means all that reports write like that: 2.25MiB is 2.25 MiB "
	"and what is\n"
	"rounded to it.\n"
	".It Cm event: Ns Ar number\n"
	"The one that this event of the trace asks for.\n"
	".It Cm addr: Ns Ar address\n"
	"Those that were recorded at that address.\n"
	".It Cm id: Ns Ar number\n"
	"The one that the trace calls that.\n"
	".It Cm all\n"
	"All of them.\n"
	".El\n";

static const char what_if_tail[] = ".Sh SEE ALSO\n"
				   ".Xr gpupool-convert 1 ,\n"
				   ".Xr gpupool-explain 1 ,\n"
				   ".Xr gpupool-replay 1 ,\n"
				   ".Xr gpupool-settings 7\n";

void gp_what_if_page(FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);

	fputs(what_if_head, out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, ".It Fl -%s%s%s\n", rows[i].name,
			rows[i].argument ? " Ar " : "",
			rows[i].argument ? rows[i].argument : "");
		put_words(rows[i].sentence, out);
		put_words(rows[i].method, out);
	}
	fputs(blocks, out);
	fputs(what_if_tail, out);
}
