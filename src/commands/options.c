/* SPDX-License-Identifier: MIT */
/* Parses command lines: getopt_long, with the options of a command. */
#include "commands/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text.h"
#include "commands/command.h"
#include "commands/nearest.h"
#include "device/gpu.h"
#include "gpupool/knob.h"

#define LETTERS 64 /* room for all of them, each with its colon */

#define MOST_COUNT UINT32_MAX	    /* of anything a flag asks for */
#define MOST_ANY   (UINT64_MAX - 1) /* GP_COUNT_BY_DEFAULT is the next one */

/* getopt_long returns a letter, or FIRST plus the index of a flag. */
#define FIRST 256

/* ---- parsing ---- */

static enum gp_status usage(struct gp_diag *diag, const char *command)
{
	gp_diag_file(diag, command);
	if (!*diag->hint)
		gp_diag_hint(diag, "see: gpupool help %s", command);
	return GP_USAGE;
}

static enum gp_status set_word(void *member, const struct gp_option *row,
			       const char *word, struct gp_diag *diag)
{
	uint32_t index = gp_word_index(row->argument, word);

	if (index == UINT32_MAX)
		return gp_diag_set(diag, GP_USAGE, "--%s %s: it takes %s",
				   row->name, word, row->argument);
	*(uint32_t *)member = index;
	return GP_OK;
}

static const char *const formats[] = {
	[GP_FORMAT_TEXT] = "text",
	[GP_FORMAT_JSON] = "json",
	[GP_FORMAT_JSONL] = "jsonl",
	[GP_FORMAT_BINARY] = "binary",
	[GP_FORMAT_PICKLE] = "pickle",
	[GP_FORMAT_PERFETTO] = "perfetto",
	[GP_FORMAT_SPEEDSCOPE] = "speedscope",
	[GP_FORMAT_FOLDED] = "folded",
	[GP_FORMAT_CSV] = "csv",
	[GP_FORMAT_MARKDOWN] = "markdown",
	[GP_FORMAT_SUMMARY] = "memory-summary",
	[GP_FORMAT_SUMMARY_ABBREVIATED] = "memory-summary-abbreviated",
	[GP_FORMAT_HTML] = "html",
	[GP_FORMAT_SVG] = "svg",
	[GP_FORMAT_JUNIT] = "junit",
	[GP_FORMAT_GITHUB] = "github",
	[GP_FORMAT_CODEQUALITY] = "codequality",
};
#define FORMATS (sizeof(formats) / sizeof(*formats))

static bool takes_format(const struct gp_option *row, enum gp_format format)
{
	return gp_word_index(row->argument, formats[format]) != UINT32_MAX;
}

static enum gp_status set_format(enum gp_format *member,
				 const struct gp_option *row, const char *word,
				 struct gp_diag *diag)
{
	uint32_t index;
	enum gp_status status;

	if (!strcmp(word, "md") && takes_format(row, GP_FORMAT_MARKDOWN))
		word = formats[GP_FORMAT_MARKDOWN];
	status = set_word(&index, row, word, diag);
	for (enum gp_format f = GP_FORMAT_TEXT; f < FORMATS; f++)
		if (status == GP_OK && !strcmp(formats[f], word))
			*member = f;
	return status;
}

static enum gp_status set_capacity(void *member, const struct gp_option *row,
				   const char *text, struct gp_diag *diag)
{
	struct gp_diag why = { 0 };

	if (row->type == GP_OPTION_ROOM && gp_bytes_parse(text, member) &&
	    *(uint64_t *)member)
		return GP_OK;
	if (gp_capacity_parse(text, member, &why) == GP_OK)
		return GP_OK;
	gp_diag_hint(diag, "%s", why.hint);
	return gp_diag_set(diag, GP_USAGE, "--%s %.400s", row->name, why.what);
}

static enum gp_status set_bytes(void *member, const struct gp_option *row,
				const char *text, struct gp_diag *diag)
{
	uint64_t bytes;

	if (!gp_bytes_parse(text, &bytes) || !bytes)
		return gp_diag_set(diag, GP_USAGE,
				   "--%s %s: not a size such as 2MiB",
				   row->name, text);
	*(uint64_t *)member = bytes;
	return GP_OK;
}

static enum gp_status set_count(void *member, const struct gp_option *row,
				const char *text, struct gp_diag *diag)
{
	uint64_t most = row->type == GP_OPTION_ANY ? MOST_ANY : MOST_COUNT;
	uint64_t count;

	if (!gp_count_parse(text, &count) || count > most)
		return gp_diag_set(diag, GP_USAGE,
				   "--%s %s: it takes a number up to %" PRIu64,
				   row->name, text, most);
	if (!count && row->type == GP_OPTION_SOME)
		return gp_diag_set(diag, GP_USAGE, "--%s 0: it takes 1 or more",
				   row->name);
	*(uint64_t *)member = count;
	return GP_OK;
}

static void add_text(struct gp_texts *texts, const char *text)
{
	GP_GROW(texts->items, texts->count + 1, texts->room);
	texts->items[texts->count++] = text;
}

/* Accepts settings as pasted from a shell: strips the variable's name and
 * quotes, in place. */
static const char *pasted(char *argument)
{
	size_t length;
	const char *conf = gp_conf_pasted(argument, &length);

	argument[(size_t)(conf - argument) + length] = 0;
	return conf;
}

static enum gp_status set(struct gp_options *options,
			  const struct gp_option *row, char *argument,
			  struct gp_diag *diag)
{
	void *member = (char *)options + row->offset;

	switch (row->type) {
	case GP_OPTION_FLAG: *(bool *)member = true; return GP_OK;
	case GP_OPTION_TEXT: *(const char **)member = argument; return GP_OK;
	case GP_OPTION_CONF:
		*(const char **)member = pasted(argument);
		return GP_OK;
	case GP_OPTION_CONFS: add_text(member, pasted(argument)); return GP_OK;
	case GP_OPTION_WORD: return set_word(member, row, argument, diag);
	case GP_OPTION_FORMAT: return set_format(member, row, argument, diag);
	case GP_OPTION_ROOM:
	case GP_OPTION_CAPACITY:
		return set_capacity(member, row, argument, diag);
	case GP_OPTION_BYTES: return set_bytes(member, row, argument, diag);
	case GP_OPTION_SOME:
	case GP_OPTION_ANY:
	case GP_OPTION_COUNT: return set_count(member, row, argument, diag);
	case GP_OPTION_LIST: add_text(member, argument); return GP_OK;
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

static void add_what_if(struct gp_options *options,
			const struct gp_what_if_row *row, const char *argument)
{
	GP_GROW(options->what_ifs, options->what_if_count + 1,
		options->what_if_room);
	options->what_ifs[options->what_if_count++] =
		(struct gp_what_if){ row, argument };
}

/* A boolean's value may be left out, or be the next argument. */
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

/* ---- the flags of a command ---- */

struct flags {
	struct gp_flag *items;
	size_t count, room;
};

static void add_flag(struct flags *flags, const struct gp_flag *flag)
{
	GP_GROW(flags->items, flags->count + 1, flags->room);
	flags->items[flags->count++] = *flag;
}

/* --json is --format json, and so on. */
static void add_formats(struct flags *flags, const struct gp_option *row)
{
	for (enum gp_format f = GP_FORMAT_TEXT; row && f < FORMATS; f++)
		if (takes_format(row, f))
			add_flag(flags, &(struct gp_flag){ .name = formats[f],
							   .format = f });
}

static void add_knobs(struct flags *flags)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		if (knobs[i].flag)
			add_flag(flags, &(struct gp_flag){
						.name = knobs[i].flag,
						.argument = "VALUE",
						.is_optional = knobs[i].type ==
							       GP_KNOB_BOOL,
						.sentence = knobs[i].sentence,
						.knob = &knobs[i],
					});
}

static void add_what_ifs(struct flags *flags)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);

	for (size_t i = 0; i < count; i++)
		add_flag(flags, &(struct gp_flag){
					.name = rows[i].name,
					.argument = rows[i].argument,
					.sentence = rows[i].sentence,
					.what_if = &rows[i],
				});
}

size_t gp_command_flags(const struct gp_command *command,
			struct gp_flag **flags)
{
	struct flags all = { 0 };
	const struct gp_option *row, *format = NULL;

	for (size_t i = 0; (row = gp_command_option(command, i)); i++) {
		add_flag(&all, &(struct gp_flag){ .name = row->name,
						  .argument = row->argument,
						  .sentence = row->sentence,
						  .option = row });
		if (!strcmp(row->name, "format"))
			format = row;
	}
	if (command->takes_settings)
		add_knobs(&all);
	if (command->takes_what_ifs)
		add_what_ifs(&all);
	add_formats(&all, format);
	*flags = all.items;
	return all.count;
}

/* ---- the flags in getopt_long's form ---- */

#define SPELLING 64
struct spelling {
	char name[SPELLING];
};

struct grammar {
	struct gp_flag *flags;
	size_t flag_count;
	struct option *options;
	const char **names; /* for suggestions */
	size_t count;
	struct spelling *spellings;   /* owned names of flags, by flag */
	const struct gp_option *conf; /* NULL: it takes none */
	const struct gp_option *own;  /* of the command; NULL: none */
	bool takes_text;	      /* as a format */
	char letters[LETTERS];
};

static void add_name(struct grammar *grammar, const char *name, size_t index)
{
	const struct gp_flag *flag = &grammar->flags[index];
	int argument = flag->is_optional ? optional_argument
		       : flag->argument	 ? required_argument
					 : no_argument;

	grammar->names[grammar->count] = name;
	grammar->options[grammar->count++] =
		(struct option){ name, argument, NULL, (int)(FIRST + index) };
}

/* Replaces _ by - in a flag, as people copy names such as max_split_size_mb. */
static void put_dashes(char *name)
{
	for (; *name && *name != '='; name++)
		if (*name == '_')
			*name = '-';
}

/* Also accepts a setting by PyTorch's name. */
static void add_spelling(struct grammar *grammar, size_t index)
{
	char *name = grammar->spellings[index].name;

	snprintf(name, SPELLING, "%s", grammar->flags[index].knob->name);
	put_dashes(name);
	if (strcmp(name, grammar->flags[index].name) != 0)
		add_name(grammar, name, index);
}

static void add_letter(struct grammar *grammar, const struct gp_option *row)
{
	size_t length = strlen(grammar->letters);

	snprintf(grammar->letters + length, LETTERS - length, "%c%s",
		 row->letter, row->argument ? ":" : "");
}

static void make_grammar(struct grammar *grammar,
			 const struct gp_command *command)
{
	*grammar = (struct grammar){ .letters = ":", .own = command->own };
	grammar->flag_count = gp_command_flags(command, &grammar->flags);
	grammar->options = gp_mem_alloc(2 * grammar->flag_count + 1,
					sizeof(struct option));
	grammar->names = gp_mem_alloc(2 * grammar->flag_count, sizeof(char *));
	grammar->spellings =
		gp_mem_alloc(grammar->flag_count, sizeof(struct spelling));
	for (size_t i = 0; i < grammar->flag_count; i++) {
		const struct gp_flag *flag = &grammar->flags[i];
		const struct gp_option *row = flag->option;

		add_name(grammar, flag->name, i);
		if (flag->knob)
			add_spelling(grammar, i);
		if (!strcmp(flag->name, formats[GP_FORMAT_MARKDOWN]))
			add_name(grammar, "md", i);
		if (row && row->letter)
			add_letter(grammar, row);
		if (row && (row->type == GP_OPTION_CONF ||
			    row->type == GP_OPTION_CONFS))
			grammar->conf = row;
		grammar->takes_text |= flag->format == GP_FORMAT_TEXT;
	}
}

static const struct gp_flag *flag_of_letter(const struct grammar *grammar,
					    int letter)
{
	const struct gp_flag *flag = grammar->flags;

	while (flag->option->letter != letter)
		flag++;
	return flag;
}

/* The flags that a short form may mean, as a list for a hint; "": none. */
static void list_meanings(const struct grammar *grammar, const char *name,
			  char *list, size_t room)
{
	size_t length = strlen(name), used = 0;

	*list = '\0';
	for (size_t i = 0; *name && i < grammar->count && used < room; i++)
		if (!strncmp(grammar->names[i], name, length))
			used += (size_t)snprintf(list + used, room - used,
						 "%s--%s", used ? ", " : "",
						 grammar->names[i]);
}

/* Reports an argument that getopt_long rejects. */
static enum gp_status unknown(const struct grammar *grammar, const char *given,
			      struct gp_diag *diag)
{
	char name[64], meanings[160];
	const char *near;

	if (strncmp(given, "--", 2) != 0)
		return gp_diag_set(diag, GP_USAGE, "there is no flag -%c",
				   optopt);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="),
		 given + 2);
	if (optopt)
		return gp_diag_set(diag, GP_USAGE, "--%s takes no argument",
				   name);
	list_meanings(grammar, name, meanings, sizeof(meanings));
	if (*meanings) {
		gp_diag_hint(diag, "%s", meanings);
		return gp_diag_set(diag, GP_USAGE,
				   "--%s is short for several flags", name);
	}
	near = gp_nearest(name, grammar->names, grammar->count);
	if (near)
		gp_diag_hint(diag, "did you mean --%s?", near);
	return gp_diag_set(diag, GP_USAGE, "there is no flag --%s", name);
}

static void note_own(struct gp_options *options, const struct grammar *grammar,
		     const struct gp_option *row)
{
	for (size_t i = 0; grammar->own && grammar->own[i].name; i++)
		if (row == &grammar->own[i])
			options->own |= UINT32_C(1) << i;
}

static enum gp_status take(struct gp_options *options,
			   const struct grammar *grammar, int code, int argc,
			   char **argv, struct gp_diag *diag)
{
	const struct gp_flag *flag = code < FIRST
					     ? flag_of_letter(grammar, code)
					     : &grammar->flags[code - FIRST];

	note_own(options, grammar, flag->option);
	if (flag->option)
		return set(options, flag->option, optarg, diag);
	if (flag->knob)
		set_knob(options, flag->knob,
			 knob_value(flag->knob, argc, argv));
	else if (flag->what_if)
		add_what_if(options, flag->what_if, optarg);
	else
		options->format = flag->format;
	return GP_OK;
}

/* "PYTORCH_CUDA_ALLOC_CONF=..." or "max_split_size_mb:128", and no file. */
static bool is_settings(const char *operand)
{
	size_t count, length = strcspn(operand, ":=");
	const struct gp_knob *knobs = gp_knob_table(&count);

	if (!operand[length] || !access(operand, F_OK))
		return false;
	if (gp_conf_has_name(operand))
		return true;
	for (size_t i = 0; i < count; i++)
		if (strlen(knobs[i].name) == length &&
		    !strncmp(knobs[i].name, operand, length))
			return true;
	return false;
}

/* Moves settings among the operands to --alloc-conf. */
static enum gp_status take_settings(struct gp_options *options,
				    const struct gp_option *conf, int *argc,
				    char **argv, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	int kept = optind;

	for (int i = optind; i < *argc && status == GP_OK; i++) {
		if (!is_settings(argv[i]))
			argv[kept++] = argv[i];
		else if (conf->type == GP_OPTION_CONF && options->alloc_conf)
			status = gp_diag_set(
				diag, GP_USAGE,
				"%.200s: --alloc-conf is given already",
				argv[i]);
		else
			status = set(options, conf, argv[i], diag);
	}
	*argc = kept;
	return status;
}

/* "--capacity --strict": what follows is a flag, not the argument. */
static bool took_flag(const struct grammar *grammar, const char *word)
{
	if (optarg != word || strncmp(word, "--", 2) != 0)
		return false;
	for (const struct option *o = grammar->options; o->name; o++)
		if (!strcmp(o->name, word + 2))
			return true;
	return false;
}

/* getopt keeps global state. */
static pthread_mutex_t getopt_lock = PTHREAD_MUTEX_INITIALIZER;

static enum gp_status parse(struct gp_options *options,
			    const struct grammar *grammar, int argc,
			    char **argv, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	int code;

	pthread_mutex_lock(&getopt_lock);
	opterr = 0;
	optind = 0; /* glibc and musl: start again */
	while (status == GP_OK &&
	       (code = getopt_long(argc, argv, grammar->letters,
				   grammar->options, NULL)) != -1) {
		const char *given = argv[optind - 1];

		if (code == '?')
			status = unknown(grammar, given, diag);
		else if (code == ':')
			status = gp_diag_set(diag, GP_USAGE,
					     "%s needs an argument", given);
		else if (took_flag(grammar, given))
			status = gp_diag_set(diag, GP_USAGE,
					     "%s needs an argument",
					     argv[optind - 2]);
		else
			status = take(options, grammar, code, argc, argv, diag);
	}
	if (status == GP_OK && grammar->conf)
		status = take_settings(options, grammar->conf, &argc, argv,
				       diag);
	options->operands = (const char *const *)argv + optind;
	options->operand_count = (size_t)(argc - optind);
	pthread_mutex_unlock(&getopt_lock);
	return status;
}

enum gp_status gp_options_parse(struct gp_options *options,
				const struct gp_command *command, int argc,
				char **argv, struct gp_diag *diag)
{
	struct grammar grammar;
	enum gp_status status;

	*options = (struct gp_options){ .command = argv[0],
					.to_event = GP_COUNT_BY_DEFAULT,
					.points = GP_COUNT_BY_DEFAULT,
					.tries = GP_COUNT_BY_DEFAULT,
					.gpu_device = GP_COUNT_BY_DEFAULT,
					.block = GP_COUNT_BY_DEFAULT,
					.byte = GP_COUNT_BY_DEFAULT };
	make_grammar(&grammar, command);
	if (grammar.takes_text)
		options->format = GP_FORMAT_TEXT;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strncmp(argv[i], "--", 2))
			put_dashes(argv[i]);
	status = parse(options, &grammar, argc, argv, diag);
	if (status == GP_USAGE)
		usage(diag, argv[0]);
	free(grammar.flags);
	free(grammar.options);
	free(grammar.names);
	free(grammar.spellings);
	return status;
}

size_t gp_options_threads(const struct gp_options *options)
{
	cpu_set_t set;

	if (options->jobs)
		return options->jobs;
	if (!sched_getaffinity(0, sizeof(set), &set))
		return (size_t)CPU_COUNT(&set);
	return (size_t)sysconf(_SC_NPROCESSORS_ONLN);
}

enum gp_status gp_options_check_device(const struct gp_options *options,
				       struct gp_diag *diag)
{
	if (options->device == GP_DEVICE_CUDA)
		return GP_OK;
	if (options->check_memory)
		return gp_diag_usage(
			diag, options->command,
			"--check-memory needs real memory, which a simulated "
			"device does not have",
			"add --device cuda, on a machine with a GPU");
	if (options->cudart)
		return gp_diag_usage(diag, options->command,
				     "--cudart is for --device cuda",
				     "a simulated device needs no CUDA");
	return GP_OK;
}

void gp_options_release(struct gp_options *options)
{
	free(options->knobs);
	free(options->confs.items);
	free(options->without.items);
	free(options->sets.items);
	free(options->alerts.items);
	free(options->vary.items);
	free(options->what_ifs);
	options->what_ifs = NULL;
	options->knobs = NULL;
	options->confs = options->without = options->alerts = options->vary =
		(struct gp_texts){ 0 };
}
