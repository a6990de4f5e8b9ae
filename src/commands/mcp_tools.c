/* SPDX-License-Identifier: MIT */
/*
 * The tools of gpupool mcp.
 *
 * A tool is a row: the words of the command line that it stands for, and its
 * arguments, each of which is a flag. The answer is the command's output, as
 * text and as JSON, for a trace that is read once.
 */
#include "commands/mcp_tools.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/safe.h"
#include "base/text.h"
#include "commands/command.h"
#include "commands/nearest.h"
#include "commands/options.h"
#include "commands/session.h"
#include "gpupool/ask.h"
#include "gpupool/input.h"

/* ---- the table of tools ---- */

enum kind {
	STRING,
	SIZE, /* a string, or a number of bytes */
	NUMBER,
	FLAG,
	WORD, /* one of several */
	LIST, /* of strings */
};

struct argument {
	const char *name;
	enum kind kind;
	const char *flag;
	const char *words; /* "site|size"; NULL: any */
	const char *sentence;
};

#define MOST_ARGUMENTS 8
struct tool {
	const char *name, *title, *sentence;
	const char *command[3]; /* ends with NULL */
	/* Keys that are omitted from the JSON answer, as too long for a model
	 * to read. */
	const char *left_out;
	/* Whether merge makes the text from the JSON, because a sweep takes too
	 * long to be run twice. */
	bool is_merged;
	struct argument arguments[MOST_ARGUMENTS]; /* besides the trace */
};

#define SETTINGS                                                               \
	{                                                                      \
		"settings", STRING, "alloc-conf", NULL,                        \
			"Settings as PYTORCH_CUDA_ALLOC_CONF has them, such "  \
			"as expandable_segments:True,max_split_size_mb:128; "  \
			"default: the recorded ones."                          \
	}
#define CAPACITY                                                               \
	{                                                                      \
		"capacity", SIZE, "capacity", NULL,                            \
			"Memory of the device: 80GiB, a device such as h100, " \
			"a number of bytes, or unlimited."                     \
	}
#define RELEASE                                                                \
	{                                                                      \
		"release", STRING, "torch", NULL,                              \
			"The release of PyTorch whose decisions are made: "    \
			"2.0 to 2.15, or latest; default: the recorded one."   \
	}

static const struct tool tools[] = {
	{ "replay",
	  "Replay a trace",
	  "Replay a recorded GPU allocator trace (a PyTorch memory snapshot, "
	  "a gpupool trace and others) and report peaks, fragmentation, "
	  "retries and out-of-memory errors; with settings, a capacity or a "
	  "release, what would have happened with them.",
	  { "replay", NULL },
	  "",
	  false,
	  { SETTINGS,
	    CAPACITY,
	    RELEASE,
	    { "compare", FLAG, "compare", NULL,
	      "Show it beside the run as it was recorded." } } },
	{ "suggest",
	  "Find the setting to use",
	  "Replay a trace under the settings that people try and name the one "
	  "under which it fits the device, with its line, its proof and its "
	  "cost, or say how much memory is missing.",
	  { "suggest", NULL },
	  "",
	  false,
	  { CAPACITY,
	    RELEASE,
	    { "without", LIST, "without", NULL,
	      "Settings that cannot be used, such as "
	      "expandable_segments." } } },
	{ "explain",
	  "Explain a trace's memory",
	  "Say why reserved memory could not be used: what a run out of "
	  "memory came from, where the gap between reserved and allocated "
	  "lies, who holds and pins memory, and what would help.",
	  { "explain", NULL },
	  "",
	  false,
	  { SETTINGS,
	    CAPACITY,
	    RELEASE,
	    { "details", FLAG, "details", NULL,
	      "Everything that the first screen summarises." } } },
	{ "sweep",
	  "Try many settings",
	  "Replay a trace under many settings and rank them: fewest requests "
	  "not served, then least memory reserved, retries and time.",
	  { "sweep", NULL },
	  "runs prices combinations devices",
	  true,
	  { { "settings", LIST, "alloc-conf", NULL,
	      "Settings to try, each as PYTORCH_CUDA_ALLOC_CONF has them; "
	      "default: what people usually try." },
	    { "set", LIST, "set", NULL,
	      "Axes: NAME=VALUE,... tries each of these values with all "
	      "else, such as max_split_size_mb=32..512*2." },
	    CAPACITY,
	    RELEASE,
	    { "rank_by", WORD, "rank-by", "reserved|gap|retries|time",
	      "What makes one setting better than another; default: "
	      "reserved." } } },
	{ "who_holds",
	  "Who holds the memory",
	  "Who holds the allocated memory at a moment, by line of the program "
	  "or otherwise, the most first.",
	  { "view", "holders", NULL },
	  "",
	  false,
	  { { "at", STRING, "at", NULL,
	      "The moment: an event's number, peak, oom, oom:N or end; "
	      "default: the first out-of-memory error, or the peak." },
	    { "by", WORD, "by", "site|size|stream|pool|category|module",
	      "What belongs together; default: site." },
	    { "device", NUMBER, "device", NULL,
	      "The device, by CUDA's ordinal; default: the one with "
	      "the most reserved." },
	    { "rows", NUMBER, "rows", NULL, "How many holders at most." },
	    SETTINGS,
	    CAPACITY,
	    RELEASE } },
	{ "info",
	  "What is in a trace",
	  "Say what a trace holds: its format, devices, events, settings and "
	  "release, and whether a replay makes the recorded decisions.",
	  { "info", NULL },
	  "",
	  false,
	  { { 0 } } },
};
#define TOOLS (sizeof(tools) / sizeof(*tools))

static const struct argument trace_argument = {
	"trace", STRING, NULL, NULL,
	"The file of the trace, or a folder with one for each rank of a job."
};
static const struct argument trace_of_one = { "trace", STRING, NULL, NULL,
					      "The file of the trace." };

static const struct argument *trace_of(const struct tool *tool)
{
	const struct gp_command *command = gp_command_find(tool->command[0]);

	return strstr(command->operands, "...") ? &trace_argument
						: &trace_of_one;
}

static const struct tool *find_tool(const char *name)
{
	for (size_t i = 0; i < TOOLS; i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

bool gp_mcp_has_tool(const char *name)
{
	return find_tool(name) != NULL;
}

/* The argument of that name; NULL: there is none. */
static const struct argument *find_argument(const struct tool *tool,
					    const char *name)
{
	if (!strcmp(name, trace_argument.name))
		return trace_of(tool);
	for (size_t i = 0; i < MOST_ARGUMENTS && tool->arguments[i].name; i++)
		if (!strcmp(tool->arguments[i].name, name))
			return &tool->arguments[i];
	return NULL;
}

/* ---- tools/list ---- */

static json_t *words_of(const char *words)
{
	json_t *list = json_array();

	while (*words) {
		size_t length = strcspn(words, "|");

		json_array_append_new(list, json_stringn(words, length));
		words += length + (words[length] == '|');
	}
	return list;
}

static json_t *schema_of(const struct argument *argument)
{
	json_t *schema = json_object();
	json_t *type = NULL;

	switch (argument->kind) {
	case STRING:
	case WORD: type = json_string("string"); break;
	case SIZE: type = json_pack("[s,s]", "string", "integer"); break;
	case NUMBER: type = json_string("integer"); break;
	case FLAG: type = json_string("boolean"); break;
	case LIST: type = json_string("array"); break;
	}
	json_object_set_new(schema, "type", type);
	if (argument->kind == NUMBER)
		json_object_set_new(schema, "minimum", json_integer(0));
	if (argument->kind == LIST)
		json_object_set_new(schema, "items",
				    json_pack("{s:s}", "type", "string"));
	if (argument->words)
		json_object_set_new(schema, "enum", words_of(argument->words));
	json_object_set_new(schema, "description",
			    json_string(argument->sentence));
	return schema;
}

static json_t *describe_tool(const struct tool *tool)
{
	json_t *properties = json_object();

	json_object_set_new(properties, trace_argument.name,
			    schema_of(trace_of(tool)));
	for (size_t i = 0; i < MOST_ARGUMENTS && tool->arguments[i].name; i++)
		json_object_set_new(properties, tool->arguments[i].name,
				    schema_of(&tool->arguments[i]));
	return json_pack("{s:s, s:s, s:s, s:{s:s, s:o, s:[s], s:b},"
			 " s:{s:s, s:b, s:b, s:b}}",
			 "name", tool->name, "title", tool->title,
			 "description", tool->sentence, "inputSchema", "type",
			 "object", "properties", properties, "required",
			 trace_argument.name, "additionalProperties", 0,
			 "annotations", "title", tool->title, "readOnlyHint", 1,
			 "idempotentHint", 1, "openWorldHint", 0);
}

json_t *gp_mcp_tools(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TOOLS; i++)
		json_array_append_new(list, describe_tool(&tools[i]));
	return list;
}

/* ---- traces that are kept ---- */

#define SHELF 4 /* traces: a training's may take a gigabyte each */

struct kept {
	char *path; /* owned; NULL: empty */
	struct stat file;
	unsigned long used; /* when it was last used, by a counter */
};

struct gp_mcp_shelf {
	const char *const *folders;
	size_t folder_count;
	struct gp_session *session;
	struct kept kept[SHELF];
	unsigned long clock;
};

static bool is_below(const char *path, const char *folder)
{
	char whole[PATH_MAX], top[PATH_MAX];
	size_t length;

	if (!realpath(path, whole) || !realpath(folder, top))
		return false;
	length = strlen(top);
	return !strncmp(whole, top, length) &&
	       (whole[length] == '/' || !whole[length] || length == 1);
}

/* Also called by a session's guard: a link in a folder of ranks may lead out of
 * it. */
static bool is_allowed(const void *arg, const char *path)
{
	const struct gp_mcp_shelf *shelf = arg;

	for (size_t i = 0; i < shelf->folder_count; i++)
		if (is_below(path, shelf->folders[i]))
			return true;
	return !shelf->folder_count;
}

struct gp_mcp_shelf *gp_mcp_shelf_create(const char *const *folders,
					 size_t count)
{
	struct gp_mcp_shelf *shelf = gp_mem_alloc(1, sizeof(*shelf));

	shelf->folders = folders;
	shelf->folder_count = count;
	shelf->session = gp_session_create();
	gp_session_limit(shelf->session, is_allowed, shelf);
	return shelf;
}

void gp_mcp_shelf_destroy(struct gp_mcp_shelf *shelf)
{
	if (!shelf)
		return;
	for (size_t i = 0; i < SHELF; i++)
		free(shelf->kept[i].path);
	gp_session_destroy(shelf->session);
	free(shelf);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The slot of that path, else the least recently used one. */
static struct kept *place_for(struct gp_mcp_shelf *shelf, const char *path)
{
	struct kept *oldest = &shelf->kept[0];

	for (size_t i = 0; i < SHELF; i++) {
		struct kept *kept = &shelf->kept[i];

		if (kept->path && !strcmp(kept->path, path))
			return kept;
		if (kept->used < oldest->used)
			oldest = kept;
	}
	return oldest;
}

static void forget(struct gp_mcp_shelf *shelf, struct kept *kept)
{
	if (kept->path)
		gp_session_drop(shelf->session, kept->path);
	free(kept->path);
	*kept = (struct kept){ 0 };
}

/* Drops traces whose files have changed since they were read: a question about
 * a folder of ranks would use them. */
static void refresh(struct gp_mcp_shelf *shelf)
{
	for (size_t i = 0; i < SHELF; i++) {
		struct kept *kept = &shelf->kept[i];
		struct stat now;

		if (kept->path && (stat(kept->path, &now) ||
				   !is_same_file(&kept->file, &now)))
			forget(shelf, kept);
	}
}

/* Reads the trace if it is not kept yet or has changed. Errors are reported by
 * the command that needs it. */
static void keep(struct gp_mcp_shelf *shelf, const char *path,
		 const struct stat *file)
{
	struct gp_input_config config = { .path = path };
	struct kept *kept = place_for(shelf, path);
	struct gp_diag ignored = { 0 };
	struct gp_trace *trace;

	if (kept->path && !strcmp(kept->path, path) &&
	    is_same_file(&kept->file, file)) {
		kept->used = ++shelf->clock;
		return;
	}
	forget(shelf, kept);
	if (gp_input_read(&config, &trace, &ignored) != GP_OK)
		return;
	gp_session_hold(shelf->session, path, trace);
	*kept = (struct kept){ gp_mem_copy_text(path, strlen(path)), *file,
			       ++shelf->clock };
}

/* ---- an answer ---- */

#define MOST_TEXT	(32 << 10)  /* bytes of text for a reader */
#define MOST_STRUCTURED (256 << 10) /* the same for JSON */

static json_t *result_of(const char *text, size_t length, bool is_error)
{
	const char *cut = length > MOST_TEXT ? "\n[cut]" : "";
	size_t shown = length > MOST_TEXT ? MOST_TEXT : length;
	json_t *whole;
	char *copy;

	/* Do not cut within a character. */
	while (shown < length && shown &&
	       ((unsigned char)text[shown] & 0xc0) == 0x80)
		shown--;
	while (shown && text[shown - 1] == '\n')
		shown--;
	copy = gp_mem_alloc(shown + strlen(cut) + 1, 1);
	memcpy(copy, text, shown);
	memcpy(copy + shown, cut, strlen(cut) + 1);
	whole = json_string(copy);
	if (!whole)
		whole = json_string("The answer is not valid UTF-8.");
	free(copy);
	return json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text",
			 "text", whole, "isError", is_error);
}

/* An error in the form of gpupool's messages; names from outside are made safe.
 */
static json_t *refuse(const struct tool *tool, const char *what,
		      const char *name, const char *hint)
{
	char safe[512], text[1024];

	snprintf(text, sizeof(text), "gpupool: %s: %s%s%s%s", tool->name, what,
		 name ? gp_safe_text(name, safe, sizeof(safe)) : "",
		 hint ? "\n" : "", hint ? hint : "");
	return result_of(text, strlen(text), true);
}

/* ---- a question ---- */

#define MOST_WORDS 512

struct question {
	const struct tool *tool;
	const char *words[MOST_WORDS];
	size_t count;
	char *made[MOST_WORDS]; /* owned words */
	size_t made_count;
	const char *trace;
};

static bool add(struct question *q, const char *word)
{
	if (q->count >= MOST_WORDS - 8)
		return false;
	q->words[q->count++] = word;
	return true;
}

/* "--flag=value": a value is never a flag. */
static bool add_flag(struct question *q, const char *flag, const char *value)
{
	size_t size = strlen(flag) + strlen(value) + 4;
	char *word;

	if (q->count >= MOST_WORDS - 8)
		return false;
	word = gp_mem_alloc(size, 1);
	snprintf(word, size, "--%s=%s", flag, value);
	q->made[q->made_count++] = word;
	return add(q, word);
}

static bool add_number(struct question *q, const char *flag, json_int_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, number);
	return number >= 0 && add_flag(q, flag, text);
}

static bool add_list(struct question *q, const char *flag, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (!json_is_string(item) ||
		    !add_flag(q, flag, json_string_value(item)))
			return false;
	}
	return json_is_array(list);
}

/* False: the argument does not accept the value. */
static bool add_argument(struct question *q, const struct argument *argument,
			 const json_t *value)
{
	const char *text = json_string_value(value), *flag = argument->flag;

	if (!flag) {
		q->trace = text;
		return text && *text;
	}
	switch (argument->kind) {
	case SIZE:
		if (json_is_integer(value))
			return add_number(q, flag, json_integer_value(value));
		return text && add_flag(q, flag, text);
	case STRING: return text && add_flag(q, flag, text);
	case WORD:
		return text &&
		       gp_word_index(argument->words, text) != UINT32_MAX &&
		       add_flag(q, flag, text);
	case NUMBER:
		return json_is_integer(value) &&
		       add_number(q, flag, json_integer_value(value));
	case FLAG:
		if (!json_is_true(value))
			return json_is_false(value);
		q->made[q->made_count] = gp_mem_alloc(strlen(flag) + 3, 1);
		snprintf(q->made[q->made_count], strlen(flag) + 3, "--%s",
			 flag);
		return add(q, q->made[q->made_count++]);
	case LIST: return add_list(q, flag, value);
	}
	return false;
}

/* NULL: all arguments are valid; else the result that says what is wrong. */
static json_t *add_arguments(struct question *q, const json_t *arguments)
{
	const struct tool *tool = q->tool;
	const char *names[MOST_ARGUMENTS + 1], *key, *near;
	char hint[64];
	size_t count = 0;
	json_t *value;

	names[count++] = trace_argument.name;
	for (size_t i = 0; i < MOST_ARGUMENTS && tool->arguments[i].name; i++)
		names[count++] = tool->arguments[i].name;
	/* Not modified; jansson has no const version. */
	json_object_foreach((json_t *)(uintptr_t)arguments, key, value)
	{
		const struct argument *argument = find_argument(tool, key);

		if (!argument) {
			near = gp_nearest(key, names, count);
			snprintf(hint, sizeof(hint), "did you mean %s?",
				 near ? near : "");
			return refuse(tool, "there is no argument ", key,
				      near ? hint : NULL);
		}
		if (!json_is_null(value) && !add_argument(q, argument, value))
			return refuse(tool, "not a value of ", key,
				      argument->words ? argument->words
						      : argument->sentence);
	}
	if (!q->trace)
		return refuse(tool, "which trace is not given", NULL,
			      trace_of(tool)->sentence);
	return NULL;
}

static void release(struct question *q)
{
	for (size_t i = 0; i < q->made_count; i++)
		free(q->made[i]);
}

/* The client was not told which folders it may name. */
static json_t *refuse_folder(const struct question *q,
			     const struct gp_mcp_shelf *shelf)
{
	char hint[400] = "name a trace with its folder: ", safe[512];

	for (size_t i = 0; i < shelf->folder_count; i++) {
		size_t length = strlen(hint);

		snprintf(hint + length, sizeof(hint) - length, "%s%s",
			 i ? ", " : "", shelf->folders[i]);
	}
	return refuse(q->tool, "not in a folder that may be read: ", q->trace,
		      gp_safe_text(hint, safe, sizeof(safe)));
}

/* NULL: the trace may be read. Not standard input, which is the protocol's, and
 * no pipes or devices, which may not end. */
static json_t *check_trace(const struct question *q,
			   const struct gp_mcp_shelf *shelf, struct stat *file)
{
	if (!is_allowed(shelf, q->trace))
		return refuse_folder(q, shelf);
	if (stat(q->trace, file)) {
		char what[128];

		snprintf(what, sizeof(what), "%s: ", strerror(errno));
		return refuse(q->tool, what, q->trace, NULL);
	}
	if (!S_ISREG(file->st_mode) && !S_ISDIR(file->st_mode))
		return refuse(q->tool,
			      "neither a file nor a folder: ", q->trace, NULL);
	return NULL;
}

enum form { AS_TEXT, AS_JSON };

static void ask(const struct question *q, struct gp_mcp_shelf *shelf,
		enum form form, struct gp_reply *reply)
{
	const char *words[MOST_WORDS];
	size_t count = q->count;

	memcpy(words, q->words, count * sizeof(*words));
	words[count++] = "--quiet";
	words[count++] = "--color=never";
	words[count++] = form == AS_JSON ? "--format=json" : "--format=text";
	words[count++] = "--";
	words[count++] = q->trace;
	gp_ask(shelf->session, (int)count, words, reply);
}

/* ---- the answer's two forms ---- */

static json_t *structured(const struct tool *tool, const struct gp_reply *reply)
{
	json_t *report = json_loadb(reply->out, reply->out_length, 0, NULL);
	const char *key = tool->left_out;
	size_t length;

	for (; *key; key += length + (key[length] == ' ')) {
		char name[32];

		length = strcspn(key, " ");
		snprintf(name, sizeof(name), "%.*s", (int)length, key);
		json_object_del(report, name);
	}
	if (json_is_object(report) &&
	    json_dumpb(report, NULL, 0, 0) <= MOST_STRUCTURED)
		return report;
	json_decref(report);
	return NULL;
}

/* The order that the question asks for, as a flag of merge. */
static const char *order_of(const struct question *q)
{
	static const char flag[] = "--rank-by=";

	for (size_t i = 0; i < q->count; i++)
		if (!strncmp(q->words[i], flag, strlen(flag)))
			return q->words[i];
	return "--rank-by=reserved";
}

/* Turns a sweep's JSON into text with gpupool merge; false: it failed. */
static bool merge(const struct question *q, const struct gp_reply *json,
		  struct gp_reply *text)
{
	const char *words[] = { "merge", "--quiet", "--color=never",
				order_of(q), NULL };
	int fd = gp_memfd("gpupool");
	char path[32];
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return false;
	while (done < json->out_length && n >= 0) {
		n = write(fd, json->out + done, json->out_length - done);
		done += n > 0 ? (size_t)n : 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	words[4] = path;
	if (n >= 0)
		gp_ask(NULL, 5, words, text);
	close(fd);
	return n >= 0;
}

/* Exit status 1 is an answer: a limit that was given is exceeded. So is a
 * report without the ranks that could not be read. */
static bool is_error(const struct gp_reply *reply)
{
	return reply->status > GP_FAILED && !reply->diag.is_partial;
}

/* The answer's text, after a note on the ranks that are missing from it. */
static json_t *told(const struct gp_reply *text, const struct gp_reply *json)
{
	size_t said = json->diag.is_partial ? json->err_length : 0;
	char *whole = gp_mem_alloc(said + text->out_length + 2, 1);
	json_t *result;

	memcpy(whole, json->err, said);
	if (said)
		whole[said++] = '\n';
	memcpy(whole + said, text->out, text->out_length);
	result = result_of(whole, said + text->out_length, false);
	free(whole);
	return result;
}

static json_t *answer(const struct question *q, struct gp_mcp_shelf *shelf)
{
	struct gp_reply text = { 0 }, json = { 0 };
	const struct gp_reply *failed = NULL;
	json_t *result, *report = NULL;
	bool has_text = false;

	ask(q, shelf, AS_JSON, &json);
	if (is_error(&json))
		failed = &json;
	else if (q->tool->is_merged)
		has_text = merge(q, &json, &text);
	if (!failed && !has_text)
		ask(q, shelf, AS_TEXT, &text);
	if (!failed && is_error(&text))
		failed = &text;
	if (failed) {
		result = result_of(failed->err, failed->err_length, true);
	} else {
		result = told(&text, &json);
		report = structured(q->tool, &json);
	}
	if (report)
		json_object_set_new(result, "structuredContent", report);
	gp_reply_release(&text);
	gp_reply_release(&json);
	return result;
}

json_t *gp_mcp_call(struct gp_mcp_shelf *shelf, const char *name,
		    const json_t *arguments)
{
	struct question q = { .tool = find_tool(name) };
	struct stat file;
	json_t *result;

	for (size_t i = 0; q.tool->command[i]; i++)
		add(&q, q.tool->command[i]);
	result = add_arguments(&q, arguments);
	if (!result)
		result = check_trace(&q, shelf, &file);
	if (!result) {
		if (S_ISREG(file.st_mode))
			keep(shelf, q.trace, &file);
		else
			refresh(shelf);
		result = answer(&q, shelf);
	}
	release(&q);
	return result;
}
