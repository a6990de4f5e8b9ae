/* SPDX-License-Identifier: MIT */
/* gpupool help formats. */
#include "commands/formats_topic.h"

#include "commands/help.h"
#include "gpupool/trace.h"

#define TEXT 640 /* bytes of an entry */

struct row {
	const char *name, *sentence;
	const char *source; /* of traces that are read; NULL: told in full */
};

static const struct row read[] = {
	{ "PyTorch snapshot",
	  "torch.cuda.memory._dump_snapshot(), pickle of protocol 2 to 5, or "
	  "the same as JSON. An answer key: every address is compared.",
	  NULL },
	{ "gpupool-trace", "JSON, JSON Lines or binary: gpupool-trace(5).",
	  NULL },
	{ "torch.profiler",
	  "export_chrome_trace() of a profile with profile_memory=True.",
	  "torch-profiler" },
	{ "RMM log", "rmm::mr::logging_resource_adaptor's CSV.", "rmm-log" },
};

static const struct row written[] = {
	{ ".json .jsonl .gpt .bin",
	  "gpupool-trace: as one document, one event a line, or binary.",
	  NULL },
};

/* With --run. */
static const struct row runs[] = {
	{ ".pickle .pkl",
	  "A PyTorch snapshot of the run: memory_viz shows it, gpupool replays "
	  "it.",
	  NULL },
	{ ".perfetto.json",
	  "Memory over time, for ui.perfetto.dev and chrome://tracing.", NULL },
	{ ".speedscope.json",
	  "Memory at the peak by stack, for www.speedscope.app.", NULL },
	{ ".folded", "The same as folded stacks, for flame graphs.", NULL },
	{ ".csv", "One row for each request.", NULL },
};

static void print_rows(const struct row *rows, size_t count, unsigned columns,
		       FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct gp_trace trace = { .source = rows[i].source };
		const char *unknown = gp_trace_unknown(&trace);
		char text[TEXT];

		snprintf(text, sizeof(text), "%s%s%s%s", rows[i].sentence,
			 unknown ? " Not told: " : "", unknown ? unknown : "",
			 unknown ? "." : "");
		gp_help_entry(rows[i].name, text, columns, out);
	}
}

#define PRINT(rows)                                                            \
	print_rows(rows, sizeof(rows) / sizeof(*(rows)), columns, out)

void gp_formats_topic(unsigned columns, FILE *out)
{
	fputs("Read, whatever the file is called, also packed with gzip or "
	      "zstd:\n\n",
	      out);
	PRINT(read);
	fputs("\nWritten by gpupool convert, by the file's name; .gz or .zst "
	      "behind it packs:\n\n",
	      out);
	PRINT(written);
	fputs("\nWritten by gpupool convert --run, of a replay:\n\n", out);
	PRINT(runs);
}
