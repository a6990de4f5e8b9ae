/* SPDX-License-Identifier: MIT */
/*
 * man/gpupool-what-if.7, made from the table of what-ifs:
 *
 *	gpupool help what-if.7 > man/gpupool-what-if.7
 */
#include "commands/what_if_page.h"

#include "commands/mdoc.h"
#include "study/what_if/what_if.h"

static const char head[] =
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

static const char tail[] = ".Sh SEE ALSO\n"
			   ".Xr gpupool-convert 1 ,\n"
			   ".Xr gpupool-explain 1 ,\n"
			   ".Xr gpupool-replay 1 ,\n"
			   ".Xr gpupool-settings 7\n";

void gp_what_if_page(FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);

	fputs(head, out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, ".It Fl -%s%s%s\n", rows[i].name,
			rows[i].argument ? " Ar " : "",
			rows[i].argument ? rows[i].argument : "");
		gp_mdoc_words(rows[i].sentence, out);
		gp_mdoc_words(rows[i].method, out);
	}
	fputs(blocks, out);
	fputs(tail, out);
}
