/* SPDX-License-Identifier: MIT */
/*
 * Whole command lines on any trace: output in a format is valid in that format,
 * and errors have a message. The bytes choose the command line; random bytes
 * are rarely a trace, so the bundled ones are altered.
 */
#include <jansson.h>
#include <string.h>

#include "base/map.h"
#include "commands/command.h"
#include "fuzz/trace_bytes.h"

enum form { TEXT, JSON, PAGE, TRACE };

/* @ stands for the trace, > for the file that is written. */
static const struct {
	const char *line;
	enum form form;
} lines[] = {
	{ "look @ -o >", TEXT },
	{ "look @ --json -o >", JSON },
	{ "replay @ -o >", TEXT },
	{ "replay @ --json -o >", JSON },
	{ "replay @ --html -o >", PAGE },
	{ "replay @ --svg -o >", PAGE },
	{ "replay @ --map peak -o >", TEXT },
	{ "replay @ --format memory-summary --capacity 64MiB -o >", TEXT },
	{ "replay @ --capacity 40MiB --json -o >", JSON },
	{ "replay @ --timeline > -o /dev/null", TEXT },
	{ "replay @ --events > -o /dev/null", TEXT },
	{ "replay @ --expandable-segments --compare -o >", TEXT },
	{ "replay @ --max-split-mb 32 --gc-threshold 0.5 --json -o >", JSON },
	{ "replay @ --engine async -o >", TEXT },
	{ "info @ -o >", TEXT },
	{ "info @ --json -o >", JSON },
	{ "explain @ --capacity 64MiB -o >", TEXT },
	{ "explain @ --capacity 64MiB --json -o >", JSON },
	{ "explain @ --html -o >", PAGE },
	{ "diff @ @ -o >", TEXT },
	{ "diff @ @ --json -o >", JSON },
	{ "convert @ > --format json", TRACE },
	{ "convert @ > --format jsonl --anonymous", TRACE },
	{ "convert @ > --format binary", TRACE },
	{ "convert @ > --run --format pickle", TEXT },
	{ "convert @ > --run --format perfetto", JSON },
	{ "convert @ > --run --format speedscope", JSON },
	{ "convert @ > --run --format folded", TEXT },
	{ "convert @ > --run --format csv", TEXT },
	{ "convert @ > --format jsonl --round-sizes pow2", TRACE },
	{ "convert @ > --format jsonl --checkpointing all", TRACE },
	{ "convert @ > --format jsonl --free-earlier all,2", TRACE },
	{ "convert @ > --format jsonl --without-site size:0..1MiB", TRACE },
	{ "convert @ > --format jsonl --keep-site all", TRACE },
	{ "convert @ > --format jsonl --merge-streams --no-delay", TRACE },
	{ "convert @ > --format jsonl --no-private-pools", TRACE },
	{ "convert @ > --format jsonl --no-empty-cache", TRACE },
	{ "convert @ > --format jsonl --preallocate 50%", TRACE },
	{ "convert @ > --format jsonl --sort-step", TRACE },
	{ "convert @ > --format jsonl --empty-cache-at 1", TRACE },
	{ "slice @ > --format jsonl --from 1 --to 5", TRACE },
	{ "slice @ > --format jsonl --from 3", TRACE },
	{ "floor @ --steps 1 --json -o >", JSON },
	{ "suggest @ --capacity 64MiB -o >", TEXT },
	{ "headroom @ --jobs 1 --json -o >", JSON },
	{ "sweep @ --set max_split_size_mb=none,32 --jobs 1 --json -o >",
	  JSON },
	{ "sweep @ --set max_split_size_mb=none,32 --jobs 1 --html -o >",
	  PAGE },
	{ "sweep @ --set max_split_size_mb=none,32 --jobs 1 --csv -o >", TEXT },
};
#define LINES (sizeof(lines) / sizeof(*lines))

#define MOST_WORDS 16

static enum gp_status run(const char *line, const char *in, const char *out,
			  struct gp_diag *diag)
{
	char text[256], *rest = text, *words[MOST_WORDS + 1] = { NULL };
	const struct gp_command *command;
	struct gp_options options;
	enum gp_status status;
	int count = 0;

	snprintf(text, sizeof(text), "%s", line);
	while (count < MOST_WORDS && (words[count] = strsep(&rest, " "))) {
		if (*words[count] == '@')
			words[count] = (char *)(uintptr_t)in;
		else if (*words[count] == '>')
			words[count] = (char *)(uintptr_t)out;
		count++;
	}
	command = gp_command_find(words[0]);
	must(command != NULL, "there is no such command");
	status = gp_options_parse(&options, command, count, words, diag);
	if (status != GP_OK)
		fprintf(stderr, "%s: %s\n", line, diag->what);
	must(status == GP_OK, "a flag is not known");
	status = command->run(&options, diag);
	gp_options_release(&options);
	return status;
}

static void check_json(const char *text, size_t size)
{
	json_t *value = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);

	must(value != NULL, "what should be JSON is none");
	json_decref(value);
}

static void check_trace(const char *text, size_t size)
{
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	if (trace_read(text, size, &trace, &diag) != GP_OK) {
		fprintf(stderr, "%s: %s\n", diag.record, diag.what);
		must(0, "what was written cannot be read");
	}
	gp_trace_destroy(trace);
}

static void check_output(enum form form, int file)
{
	off_t size = lseek(file, 0, SEEK_END);
	char *text = malloc((size_t)size + 1);

	must(text && pread(file, text, (size_t)size, 0) == size,
	     "the output cannot be read");
	text[size] = 0;
	if (form == JSON)
		check_json(text, (size_t)size);
	else if (form == TRACE)
		check_trace(text, (size_t)size);
	else if (form == PAGE)
		must(strstr(text, "</html>") || strstr(text, "</svg>"),
		     "a page does not end");
	free(text);
}

static uint64_t hash(const uint8_t *data, size_t size)
{
	uint64_t sum = size;

	for (size_t i = 0; i < size; i++)
		sum = gp_hash64(sum + data[i]);
	return sum;
}

static void try_line(size_t index, const uint8_t *data, size_t size)
{
	struct bytes in = bytes_of(data, size), out = bytes_of("", 0);
	struct gp_diag diag = { 0 };
	enum gp_status status =
		run(lines[index].line, in.path, out.path, &diag);

	if (status != GP_OK && status != GP_FAILED && status != GP_INPUT &&
	    status != GP_USAGE) {
		fprintf(stderr, "%s: %s\n", lines[index].line, diag.what);
		must(0, "neither done nor refused");
	}
	must(status == GP_OK || *diag.what, "an error says nothing");
	if (status == GP_OK)
		check_output(lines[index].form, out.fd);
	close(in.fd);
	close(out.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };
	uint64_t sum = hash(data, size);

	if (trace_read(data, size, &trace, &diag) != GP_OK)
		return 0;
	gp_trace_destroy(trace);
	for (int i = 0; i < 3; i++, sum = gp_hash64(sum))
		try_line(sum % LINES, data, size);
	return 0;
}
