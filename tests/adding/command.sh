# SPDX-License-Identifier: MIT
# A command: a file, a row, a page, a test, and what the overview says.
# shellcheck shell=sh disable=SC2154

add_command() {
	add src/commands/tally.c << 'END'
/* SPDX-License-Identifier: MIT */
/* gpupool tally: how many events a trace has. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/command.h"
#include "commands/output.h"
#include "commands/progress.h"
#include "commands/trace_file.h"
#include "report/report.h"

static void write_tally(void *arg, const struct gp_report_style *style,
			FILE *out)
{
	const struct gp_trace *trace = arg;
	uint64_t events = 0;

	(void)style;
	for (size_t i = 0; i < trace->device_count; i++)
		events += trace->devices[i].event_count;
	fprintf(out, "%" PRIu64 "\n", events);
}

static enum gp_status tally_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options);
	struct gp_trace *trace;
	enum gp_status status = gp_trace_file_read(options->operands[0],
						   &progress, &trace, diag);

	gp_progress_end(&progress);
	if (status != GP_OK)
		return status;
	status = gp_outlet_report(options, write_tally, trace, diag);
	gp_trace_destroy(trace);
	return status;
}

const struct gp_command gp_tally_command = {
	.name = "tally",
	.operands = "TRACE",
	.least = 1,
	.most = 1,
	.sentence = "Count the events of a trace.",
	.options = "output quiet",
	.run = tally_command,
};
END
	insert src/commands/command.h '^	ROW.version.' << 'END'
	ROW(tally) \
END
}

say_command() {
	add man/gpupool-tally.1 << 'END'
.\" SPDX-License-Identifier: MIT
.Dd November 22, 2026
.Dt GPUPOOL-TALLY 1
.Os
.Sh NAME
.Nm gpupool-tally
.Nd count the events of a trace
.Sh SYNOPSIS
.Nm gpupool tally
.Op Fl o Ar file
.Op Fl q
.Ar trace
.Sh DESCRIPTION
Prints how many events
.Ar trace
has.
.Bl -tag -width Ds
.It Fl o , Fl -output Ar file
Where to.
.It Fl q , Fl -quiet
No progress.
.It Fl h , Fl -help
Explain the flags.
.El
.Sh SEE ALSO
.Xr gpupool 1
END
	cat > tests/cli/tally.test << 'END'
$ gpupool tally -q $traces/tiny/small-alloc.json
END
	answers tally
	answers help
}

try_command() {
	grep -q '^| 2$' tests/cli/tally.test || cat tests/cli/tally.test
	grep -q '^|   tally TRACE ' tests/cli/help.test ||
		echo "the overview does not name it"
}
