/* The command line's flags: one table. */
#include "cli/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "cli/help.h"
#include "cli/nearest.h"
#include "gpupool/knob.h"

enum type {
	FLAG,  /* bool */
	TEXT,  /* const char * */
	WORD,  /* uint32_t: which of the words in the row's argument */
	BYTES, /* uint64_t */
	COUNT, /* uint64_t */
	LIST,  /* struct gp_texts */
};

struct row {
	const char *name;
	char letter; /* 0: none */
	enum type type;
	size_t offset;	      /* of the member of struct gp_options */
	const char *argument; /* NULL for a FLAG */
	unsigned takers;
	const char *sentence;
};

#define AT(member) offsetof(struct gp_options, member)
#define REPLAY	   GP_TAKER_REPLAY
#define DIFF	   GP_TAKER_DIFF
#define SUGGEST	   GP_TAKER_SUGGEST
#define HEADROOM   GP_TAKER_HEADROOM
#define SWEEP	   GP_TAKER_SWEEP
#define SWEEPS	   (GP_TAKER_SWEEP | GP_TAKER_MERGE)
#define CHECK	   GP_TAKER_CHECK
#define INFO	   GP_TAKER_INFO
#define RUNS	   (GP_TAKER_REPLAY | GP_TAKER_VERIFY | DIFF)
#define EXPLAIN	   GP_TAKER_EXPLAIN
#define REPORTS                                                                \
	(GP_TAKER_REPLAY | GP_TAKER_INFO | SUGGEST | HEADROOM | DIFF |         \
	 SWEEPS | EXPLAIN)
#define KNOB_TAKERS (RUNS | HEADROOM | EXPLAIN)

static const struct row table[] = {
	{ "alloc-conf", 0, TEXT, AT(alloc_conf), "STRING", RUNS | EXPLAIN,
	  "Settings as PYTORCH_CUDA_ALLOC_CONF has them, in place of the "
	  "recorded ones; \"\" is PyTorch's defaults." },
	{ "alloc-conf", 0, LIST, AT(confs), "STRING", HEADROOM,
	  "Settings as PYTORCH_CUDA_ALLOC_CONF has them, in place of the "
	  "recorded ones; \"\" is PyTorch's defaults. Given more than once, "
	  "they are compared." },
	{ "alloc-conf", 0, LIST, AT(confs), "STRING", SWEEP,
	  "Try these settings, as PYTORCH_CUDA_ALLOC_CONF has them; may be "
	  "given more than once." },
	{ "confs", 0, TEXT, AT(confs_file), "FILE", SWEEP,
	  "Try the settings in FILE, one PYTORCH_CUDA_ALLOC_CONF a line; # "
	  "begins a remark, \"\" is PyTorch's defaults." },
	{ "preset", 0, TEXT, AT(preset), "quick|full", SWEEP,
	  "Try what people try: each usual setting by itself, or all their "
	  "combinations. quick unless anything else says what to try." },
	{ "set", 0, LIST, AT(sets), "NAME=VALUE,...", SWEEP,
	  "Try each of these values with all else: a setting by PyTorch's "
	  "name, or torch, capacity or engine. none is not set; 32..512*2 and "
	  "0.6..0.9+0.1 are ranges. May be given more than once." },
	{ "rank-by", 0, WORD, AT(rank_by), "reserved|gap|retries|time", SWEEPS,
	  "What makes one setting better than another that serves as many "
	  "requests; reserved unless given." },
	{ "prices", 0, TEXT, AT(prices), "FILE", SWEEP,
	  "What the device's calls cost, in place of the built-in prices." },
	{ "jobs", 'j', COUNT, AT(jobs), "N", SWEEP,
	  "Threads; as many as there are processors unless given." },
	{ "shard", 0, TEXT, AT(shard), "I/N", SWEEP,
	  "Do only the I-th of N parts, and write it for gpupool merge." },
	{ "resume", 0, TEXT, AT(resume), "FILE", SWEEP,
	  "Take over what FILE, an unfinished report or part, has done; it may "
	  "be the output file, which then need not be there yet." },
	{ "torch", 0, TEXT, AT(torch), "RELEASE",
	  RUNS | HEADROOM | SUGGEST | SWEEP | EXPLAIN,
	  "Decide as this release of PyTorch does: 2.0 to 2.15, or latest." },
	{ "capacity", 0, BYTES, AT(capacity), "SIZE",
	  RUNS | SUGGEST | SWEEP | EXPLAIN,
	  "Memory of the device: 80GiB, 512MiB, a number of bytes, or "
	  "unlimited." },
	{ "capacity", 0, BYTES, AT(capacity), "SIZE", GP_TAKER_RECORD,
	  "Memory of each device, in place of what --gpu has: 80GiB, 512MiB, "
	  "a number of bytes." },
	{ "gpu", 0, TEXT, AT(gpu), "NAME", GP_TAKER_RECORD,
	  "The device that the program sees: h100-80gb, which is the default, "
	  "or help for a list." },
	{ "devices", 0, TEXT, AT(devices), "N", GP_TAKER_RECORD,
	  "How many of them, 1 to 16; 1 unless given." },
	{ "events", 0, TEXT, AT(complete), "instant|lag:N", GP_TAKER_RECORD,
	  "When work on a stream is done: at once, which is the default, or N "
	  "launches and copies later." },
	{ "output", 'o', TEXT, AT(output), "FILE", GP_TAKER_RECORD,
	  "The trace, trace.json unless given; its name says the format as "
	  "convert's does." },
	{ "engine", 0, TEXT, AT(engine), "NAME", REPLAY | SWEEP,
	  "The allocator: caching decides as PyTorch's does, torch is "
	  "PyTorch's own, direct asks the device for each request." },
	{ "torch-lib", 0, TEXT, AT(torch_lib), "PATH", (RUNS & ~DIFF) | SWEEP,
	  "PyTorch's own allocator: a wheel, a folder with an unpacked one or "
	  "site-packages, or what make torch-engine made. Without it, one is "
	  "looked for beside the program and in the cache." },
	{ "device", 0, WORD, AT(device), "sim", REPLAY,
	  "The device; sim is a simulated one." },
	{ "on-oom", 0, WORD, AT(on_oom), "go-on|stop", REPLAY,
	  "What follows a request that does not fit: the next one, or the "
	  "end." },
	{ "compare", 0, FLAG, AT(compare), NULL, REPLAY | HEADROOM,
	  "Replay as recorded too, and show both side by side." },
	{ "from", 0, COUNT, AT(from_event), "EVENT", GP_TAKER_SLICE,
	  "The first event of the part; 0 unless given." },
	{ "to", 0, COUNT, AT(to_event), "EVENT", GP_TAKER_SLICE,
	  "The first event behind the part; all unless given." },
	{ "points", 0, COUNT, AT(points), "N", HEADROOM,
	  "Capacities of the curve, beside the answers; 0: no curve. 12 "
	  "unless given." },
	{ "tries", 0, COUNT, AT(tries), "N", HEADROOM,
	  "Replays at most to make sure of each answer; 4000 unless given." },
	{ "without", 0, LIST, AT(without), "NAME", SUGGEST,
	  "A setting that cannot be used, such as expandable_segments; may be "
	  "given more than once." },
	{ "fail-over", 0, TEXT, AT(fail_over), "AMOUNT", DIFF,
	  "Exit 1 when B reserves more than that more: 2%, 100MiB, 0." },
	{ "strict", 0, FLAG, AT(strict), NULL, REPLAY,
	  "Exit 1 unless every recorded address is matched." },
	{ "format", 0, WORD, AT(format),
	  "text|json|memory-summary|memory-summary-abbreviated|html|svg",
	  REPLAY,
	  "For a person, for a program, as torch.cuda.memory_summary() prints "
	  "it, as a page for a browser, or as a drawing." },
	{ "format", 0, WORD, AT(format), "text|json|csv", HEADROOM,
	  "For a person, for a program, or the curve as a table." },
	{ "format", 0, WORD, AT(format), "text|json|csv|markdown", SWEEPS,
	  "For a person, for a program, or as a table." },
	{ "format", 0, WORD, AT(format), "text|json",
	  GP_TAKER_INFO | DIFF | SUGGEST | EXPLAIN,
	  "For a person, or for a program." },
	{ "format", 0, WORD, AT(to), "json|jsonl|binary",
	  GP_TAKER_CONVERT | GP_TAKER_GEN | GP_TAKER_SLICE,
	  "The format to write, where the file's name does not say." },
	{ "to", 0, WORD, AT(to), "json|jsonl|binary", GP_TAKER_CONVERT,
	  "The same as --format." },
	{ "format", 0, WORD, AT(format), "text|json|junit|github", CHECK,
	  "For a person, for a program, as JUnit's XML, or with GitHub's "
	  "annotations." },
	{ "update", 0, FLAG, AT(update), NULL, CHECK,
	  "Write what the runs come to now as the baseline." },
	{ "only", 0, TEXT, AT(only), "NAME", CHECK, "Only that run." },
	{ "output", 'o', TEXT, AT(output), "FILE", GP_TAKER_GEN,
	  "Write the trace there, whole or not at all." },
	{ "output", 'o', TEXT, AT(output), "FILE", REPORTS | CHECK,
	  "Write the report there, whole or not at all." },
	{ "events", 0, TEXT, AT(events), "FILE", REPLAY,
	  "Write each thing the allocator does, one JSON object a line; with "
	  "- and no -o in place of the report." },
	{ "details", 0, FLAG, AT(details), NULL, EXPLAIN,
	  "All that the first screen sums up." },
	{ "map", 0, TEXT, AT(map), "peak|oom|end|EVENT", REPLAY,
	  "Draw how segments and blocks lay in memory at that moment." },
	{ "timeline", 0, TEXT, AT(timeline), "FILE", REPLAY,
	  "Write the measures over time, thinned so that every peak is kept: "
	  "CSV, or JSON where the name ends in .json. See gpupool help "
	  "metrics." },
	{ "alert", 0, LIST, AT(alerts), "CONDITION", REPLAY,
	  "Exit 1 if it was ever so, and say when: \"fragmentation>0.3 for "
	  "100 events\"; may be given more than once." },
	{ "timing", 0, FLAG, AT(timing), NULL, REPLAY,
	  "Say how long reading and replaying took." },
	{ "ascii", 0, FLAG, AT(ascii), NULL, REPORTS,
	  "Draw without Unicode characters." },
	{ "color", 0, WORD, AT(color), "auto|always|never", REPORTS | CHECK,
	  "Colour the text; auto: on a terminal." },
	{ "quiet", 'q', FLAG, AT(quiet), NULL,
	  REPORTS | CHECK | GP_TAKER_VERIFY | GP_TAKER_CONVERT | GP_TAKER_GEN |
		  GP_TAKER_SLICE | GP_TAKER_RECORD,
	  "No progress on standard error." },
	{ "help", 'h', FLAG, AT(help), NULL, GP_TAKER_ALL, "Show this." },
};

#define ROWS (sizeof(table) / sizeof(*table))

#define MOST_COUNT UINT32_MAX /* of anything a flag asks for */

/* getopt_long answers with FIRST + index: rows, then knobs. */
#define FIRST 256

/* ---- parsing ---- */

static enum gp_status usage(struct gp_diag *diag, const char *command)
{
	gp_diag_file(diag, command);
	if (!*diag->hint)
		gp_diag_hint(diag, "see: gpupool help %s", command);
	return GP_USAGE;
}

/* Which of "a|b|c" a word is, or UINT32_MAX. */
static uint32_t word_index(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (uint32_t i = 0;; i++) {
		size_t end = strcspn(words, "|");

		if (end == length && !strncmp(words, word, length))
			return i;
		if (!words[end])
			return UINT32_MAX;
		words += end + 1;
	}
}

static enum gp_status set_word(void *member, const struct row *row,
			       const char *word, struct gp_diag *diag)
{
	uint32_t index = word_index(row->argument, word);

	if (index == UINT32_MAX)
		return gp_diag_set(diag, GP_USAGE, "--%s %s: it takes %s",
				   row->name, word, row->argument);
	*(uint32_t *)member = index;
	return GP_OK;
}

static enum gp_status set_bytes(void *member, const struct row *row,
				const char *text, struct gp_diag *diag)
{
	uint64_t bytes = GP_UNLIMITED;

	if (strcmp(text, "unlimited") != 0 &&
	    (!gp_bytes_parse(text, &bytes) || !bytes))
		return gp_diag_set(diag, GP_USAGE,
				   "--%s %s: not a size such as 80GiB",
				   row->name, text);
	*(uint64_t *)member = bytes;
	return GP_OK;
}

static enum gp_status set_count(void *member, const struct row *row,
				const char *text, struct gp_diag *diag)
{
	char *end;
	unsigned long long count = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || count > MOST_COUNT)
		return gp_diag_set(diag, GP_USAGE,
				   "--%s %s: it takes a number up to %u",
				   row->name, text, MOST_COUNT);
	*(uint64_t *)member = count;
	return GP_OK;
}

static void add_text(struct gp_texts *texts, const char *text)
{
	texts->items = gp_mem_grow(texts->items, &texts->room, texts->count + 1,
				   sizeof(*texts->items));
	texts->items[texts->count++] = text;
}

static enum gp_status set(struct gp_options *options, const struct row *row,
			  const char *argument, struct gp_diag *diag)
{
	void *member = (char *)options + row->offset;

	switch (row->type) {
	case FLAG: *(bool *)member = true; return GP_OK;
	case TEXT: *(const char **)member = argument; return GP_OK;
	case WORD: return set_word(member, row, argument, diag);
	case BYTES: return set_bytes(member, row, argument, diag);
	case COUNT: return set_count(member, row, argument, diag);
	case LIST: add_text(member, argument); return GP_OK;
	}
	return GP_OK;
}

/* PyTorch takes True and False; people type true and false as well. */
static const char *bool_word(const char *text)
{
	if (!strcasecmp(text, "true"))
		return "True";
	return strcasecmp(text, "false") ? NULL : "False";
}

/* Appends "name:value" to the settings. */
static void set_knob(struct gp_options *options, const struct gp_knob *knob,
		     const char *value)
{
	const char *before = options->knobs ? options->knobs : "";
	size_t size = strlen(before) + strlen(knob->name) + strlen(value) + 3;
	char *knobs = gp_mem_alloc(size, 1);

	snprintf(knobs, size, "%s%s%s:%s", before, *before ? "," : "",
		 knob->name, value);
	free(options->knobs);
	options->knobs = knobs;
}

/* A boolean's value may be left out, or stand in the next argument. */
static const char *knob_value(const struct gp_knob *knob, int argc, char **argv)
{
	const char *word;

	if (knob->type != GP_KNOB_BOOL)
		return optarg;
	if (optarg) {
		word = bool_word(optarg);
		return word ? word : optarg;
	}
	word = optind < argc ? bool_word(argv[optind]) : NULL;
	if (!word)
		return "True";
	optind++;
	return word;
}

/* ---- getopt_long's view of the table ---- */

struct grammar {
	struct option *options;
	const char **names; /* for suggestions */
	size_t count;
	char letters[2 * ROWS + 2];
};

static void add_option(struct grammar *grammar, const char *name, int argument,
		       size_t index)
{
	grammar->names[grammar->count] = name;
	grammar->options[grammar->count++] =
		(struct option){ name, argument, NULL, (int)(FIRST + index) };
}

static void add_knobs(struct grammar *grammar)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		if (knobs[i].flag)
			add_option(grammar, knobs[i].flag,
				   knobs[i].type == GP_KNOB_BOOL
					   ? optional_argument
					   : required_argument,
				   ROWS + i);
}

static void make_grammar(struct grammar *grammar, enum gp_taker taker)
{
	size_t knobs, length = 0;

	gp_knob_table(&knobs);
	*grammar = (struct grammar){ 0 };
	grammar->options =
		gp_mem_alloc(ROWS + knobs + 1, sizeof(struct option));
	grammar->names = gp_mem_alloc(ROWS + knobs, sizeof(char *));
	grammar->letters[length++] = ':';
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &table[i];

		if (!(row->takers & taker))
			continue;
		add_option(grammar, row->name,
			   row->argument ? required_argument : no_argument, i);
		if (row->letter)
			grammar->letters[length++] = row->letter;
		if (row->letter && row->argument)
			grammar->letters[length++] = ':';
	}
	if (taker & KNOB_TAKERS)
		add_knobs(grammar);
}

static const struct row *row_of_letter(int letter)
{
	for (size_t i = 0; i < ROWS; i++)
		if (table[i].letter == letter)
			return &table[i];
	return NULL;
}

/* What getopt_long could not make sense of. */
static enum gp_status unknown(const struct grammar *grammar, const char *given,
			      struct gp_diag *diag)
{
	char name[64];
	const char *near;

	if (strncmp(given, "--", 2) != 0)
		return gp_diag_set(diag, GP_USAGE, "there is no flag -%c",
				   optopt);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="),
		 given + 2);
	if (optopt)
		return gp_diag_set(diag, GP_USAGE, "--%s takes no argument",
				   name);
	near = gp_nearest(name, grammar->names, grammar->count);
	if (near)
		gp_diag_hint(diag, "did you mean --%s?", near);
	return gp_diag_set(diag, GP_USAGE, "there is no flag --%s", name);
}

static enum gp_status take(struct gp_options *options, int code, int argc,
			   char **argv, struct gp_diag *diag)
{
	size_t index = (size_t)code - FIRST, count;
	const struct row *row = NULL;

	if (code < FIRST)
		row = row_of_letter(code);
	else if (index < ROWS)
		row = &table[index];
	if (row)
		return set(options, row, optarg, diag);
	const struct gp_knob *knob = &gp_knob_table(&count)[index - ROWS];
	set_knob(options, knob, knob_value(knob, argc, argv));
	return GP_OK;
}

static enum gp_status parse(struct gp_options *options,
			    const struct grammar *grammar, int argc,
			    char **argv, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	int code;

	opterr = 0;
	optind = 0; /* glibc and musl: start anew */
	while (status == GP_OK &&
	       (code = getopt_long(argc, argv, grammar->letters,
				   grammar->options, NULL)) != -1) {
		const char *given = argv[optind - 1];

		if (code == '?')
			status = unknown(grammar, given, diag);
		else if (code == ':')
			status = gp_diag_set(diag, GP_USAGE,
					     "%s needs an argument", given);
		else
			status = take(options, code, argc, argv, diag);
	}
	options->operands = (const char *const *)argv + optind;
	options->operand_count = (size_t)(argc - optind);
	return status;
}

enum gp_status gp_options_parse(struct gp_options *options, enum gp_taker taker,
				int argc, char **argv, struct gp_diag *diag)
{
	struct grammar grammar;
	enum gp_status status;

	*options = (struct gp_options){ .to = GP_TO_BY_NAME,
					.points = GP_COUNT_BY_DEFAULT,
					.tries = GP_COUNT_BY_DEFAULT };
	make_grammar(&grammar, taker);
	status = parse(options, &grammar, argc, argv, diag);
	if (status == GP_USAGE)
		usage(diag, argv[0]);
	free(grammar.options);
	free(grammar.names);
	return status;
}

void gp_options_release(struct gp_options *options)
{
	free(options->knobs);
	free(options->confs.items);
	free(options->without.items);
	free(options->sets.items);
	free(options->alerts.items);
	options->knobs = NULL;
	options->confs = options->without = options->alerts =
		(struct gp_texts){ 0 };
}

/* ---- explaining ---- */

static void explain_knobs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	char flag[80], sentence[512];

	fputs("\nSettings of the allocator (PyTorch's names in brackets):\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct gp_knob *k = &knobs[i];

		if (!k->flag)
			continue;
		snprintf(flag, sizeof(flag), "--%s %s", k->flag,
			 k->type == GP_KNOB_BOOL  ? "[True|False]"
			 : k->type == GP_KNOB_MIB ? "MIB"
						  : "VALUE");
		snprintf(sentence, sizeof(sentence),
			 "[%s] %s (%s; default: %s; since 2.%u)", k->name,
			 k->sentence, k->range, k->by_default, k->since);
		gp_help_entry(flag, sentence, columns, out);
	}
}

void gp_options_help(enum gp_taker taker, unsigned columns, FILE *out)
{
	char flag[80];

	fputs("\nOptions:\n", out);
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &table[i];
		char letter[] = { '-', row->letter, ',', ' ', 0 };

		if (!(row->takers & taker))
			continue;
		snprintf(flag, sizeof(flag), "%s--%s%s%s",
			 row->letter ? letter : "", row->name,
			 row->argument ? " " : "",
			 row->argument ? row->argument : "");
		gp_help_entry(flag, row->sentence, columns, out);
	}
	if (taker & KNOB_TAKERS)
		explain_knobs(columns, out);
}
