/* SPDX-License-Identifier: MIT */
/*
 * gpupool mcp: a Model Context Protocol server on standard input and output,
 * through which assistants ask for replays.
 *
 * A message is a line of JSON-RPC 2.0. Only this thread reads and writes lines;
 * one call at a time runs on another thread, so that messages that arrive
 * meanwhile, such as a ping or a cancellation, are answered at once. No client
 * can make the server hold more than MOST_LINE bytes of input and MOST_CALLS
 * calls, or make it end.
 *
 * Sources: modelcontextprotocol.io's specification, revisions 2024-11-05 to
 * 2025-11-25, which begin with a handshake, and 2026-07-28, in which each
 * request names its revision.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/safe.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/mcp_tools.h"
#include "commands/progress.h"
#include "gpupool/gpupool.h"

#define MOST_LINE  (1 << 20)
#define MOST_CALLS 64 /* waiting */
#define MOST_BATCH 64 /* messages */

/* ---- revisions of the protocol ---- */

static const char *const by_handshake[] = { "2024-11-05", "2025-03-26",
					    "2025-06-18", "2025-11-25" };
#define HANDSHAKES   (sizeof(by_handshake) / sizeof(*by_handshake))
#define BATCHES	     by_handshake[1] /* the only revision with batches */
#define BY_REQUEST   "2026-07-28"
#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_SERVER  "io.modelcontextprotocol/serverInfo"
#define LISTS_STAY_MS                                                          \
	3600000 /* tools are the program's: they do not change                 \
		 */

enum error {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	METHOD_NOT_FOUND = -32601,
	INVALID_PARAMS = -32602,
	BUSY = -32000,
	UNSUPPORTED_VERSION = -32022,
};

/* ---- the state of a session ---- */

/* The messages of an array, whose answers are sent in an array. */
struct batch {
	json_t *answers; /* an array */
	size_t open;	 /* requests without an answer so far */
};

struct call {
	json_t *id, *token; /* token NULL: no progress is asked for */
	json_t *params;
	struct batch *batch; /* NULL: none */
	bool is_modern;	     /* the request named its revision */
	bool is_cancelled;
	/* Used only by the call's thread while it runs. */
	struct gp_mcp_shelf *shelf;
	json_t *result;
	atomic_bool is_done;
	int done; /* receives a byte at the end of the call, to wake poll() */
};

struct server {
	int in, done; /* descriptors to read */
	int done_writes;
	FILE *out;
	char *line; /* MOST_LINE bytes */
	size_t length;
	bool is_overlong;    /* the rest of the line is skipped */
	bool is_over;	     /* the input has ended */
	int read_error;	     /* errno that ended the input; 0: none */
	const char *version; /* negotiated revision; NULL: none yet */
	struct gp_mcp_shelf *shelf;
	struct call *waiting[MOST_CALLS];
	size_t count;
	struct call *running; /* NULL: none */
	pthread_t thread;
	double began;
	unsigned long notified; /* time of the last notification, in seconds */
};

/* ---- answers ---- */

static void put(const struct server *s, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);

	if (text)
		fprintf(s->out, "%s\n", text);
	fflush(s->out);
	free(text);
	json_decref(message);
}

static void end_batch(const struct server *s, struct batch *batch)
{
	if (batch->open)
		return;
	if (json_array_size(batch->answers))
		put(s, batch->answers);
	else
		json_decref(batch->answers);
	free(batch);
}

/* Sends the answer to a request, or adds it to its batch; takes over message.
 * NULL: there is none. */
static void reply(const struct server *s, struct batch *batch, json_t *message)
{
	if (!batch) {
		if (message)
			put(s, message);
		return;
	}
	if (message)
		json_array_append_new(batch->answers, message);
	batch->open--;
	end_batch(s, batch);
}

/* data NULL: none. */
static json_t *error_of(const json_t *id, enum error code, const char *text,
			json_t *data)
{
	json_t *error = json_pack("{s:i, s:s}", "code", code, "message", text);

	if (data)
		json_object_set_new(error, "data", data);
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id",
			 id ? id : json_null(), "error", error);
}

static json_t *server_info(void)
{
	return json_pack("{s:s, s:s, s:s}", "name", "gpupool", "title",
			 "gpupool", "version", GP_VERSION);
}

static json_t *result_of(const json_t *id, json_t *result, bool is_modern)
{
	if (is_modern) {
		json_object_set_new(result, "resultType",
				    json_string("complete"));
		json_object_set_new(
			result, "_meta",
			json_pack("{s:o}", META_SERVER, server_info()));
	}
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id,
			 "result", result);
}

static const char instructions[] =
	"gpupool replays what a program asked a GPU allocator for and says "
	"what came of it. Begin with explain for a run out of memory, suggest "
	"for "
	"the setting to use; every number comes from a replay.";

/* ---- methods that are answered immediately ---- */

static const char *agree(const char *asked)
{
	for (size_t i = 0; i < HANDSHAKES && asked; i++)
		if (!strcmp(by_handshake[i], asked))
			return by_handshake[i];
	return by_handshake[HANDSHAKES - 1];
}

static json_t *capabilities(void)
{
	return json_pack("{s:{}}", "tools");
}

static json_t *initialize(struct server *s, const json_t *params)
{
	s->version = agree(
		json_string_value(json_object_get(params, "protocolVersion")));
	return json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", s->version,
			 "capabilities", capabilities(), "serverInfo",
			 server_info(), "instructions", instructions);
}

static json_t *versions(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < HANDSHAKES; i++)
		json_array_append_new(list, json_string(by_handshake[i]));
	json_array_append_new(list, json_string(BY_REQUEST));
	return list;
}

static json_t *discover(void)
{
	return json_pack("{s:o, s:o, s:s, s:i, s:s}", "supportedVersions",
			 versions(), "capabilities", capabilities(),
			 "instructions", instructions, "ttlMs", LISTS_STAY_MS,
			 "cacheScope", "public");
}

static json_t *list_tools(bool is_modern)
{
	json_t *result = json_pack("{s:o}", "tools", gp_mcp_tools());

	if (is_modern) {
		json_object_set_new(result, "ttlMs",
				    json_integer(LISTS_STAY_MS));
		json_object_set_new(result, "cacheScope",
				    json_string("public"));
	}
	return result;
}

/* ---- calls ---- */

static void *run_call(void *arg)
{
	struct call *call = arg;
	const char *name =
		json_string_value(json_object_get(call->params, "name"));

	call->result = gp_mcp_call(call->shelf, name,
				   json_object_get(call->params, "arguments"));
	atomic_store(&call->is_done, true);
	/* Without this byte, poll() ends by timeout. */
	return write(call->done, "", 1) == 1 ? NULL : arg;
}

static void destroy_call(struct call *call)
{
	json_decref(call->id);
	json_decref(call->token);
	json_decref(call->params);
	json_decref(call->result);
	free(call);
}

static void start_call(struct server *s)
{
	struct call *call;

	if (s->running || !s->count)
		return;
	call = s->waiting[0];
	GP_REMOVE(s->waiting, s->count, 0);
	call->shelf = s->shelf;
	call->done = s->done_writes;
	s->running = call;
	s->began = gp_progress_now();
	s->notified = 0;
	if (!pthread_create(&s->thread, NULL, run_call, call))
		return;
	s->running = NULL;
	reply(s, call->batch,
	      error_of(call->id, BUSY, "there are no threads left", NULL));
	destroy_call(call);
}

static void end_call(struct server *s)
{
	struct call *call = s->running;
	json_t *message = NULL;

	pthread_join(s->thread, NULL);
	gp_interrupt_set(false);
	s->running = NULL;
	if (!call->is_cancelled)
		message = result_of(call->id, json_incref(call->result),
				    call->is_modern);
	reply(s, call->batch, message);
	destroy_call(call);
}

/* Sends progress once a second; the total is unknown. */
static void notify_progress(struct server *s)
{
	const struct call *call = s->running;
	unsigned long seconds;
	char text[64];

	if (!call || !call->token || call->is_cancelled)
		return;
	seconds = (unsigned long)(gp_progress_now() - s->began);
	if (seconds <= s->notified)
		return;
	s->notified = seconds;
	snprintf(text, sizeof(text), "replaying, %lu s", seconds);
	put(s, json_pack("{s:s, s:s, s:{s:O, s:i, s:s}}", "jsonrpc", "2.0",
			 "method", "notifications/progress", "params",
			 "progressToken", call->token, "progress", (int)seconds,
			 "message", text));
}

/* Removes a waiting call. If the call is running, its answer is dropped, and a
 * sweep stops. */
static void cancel(struct server *s, const json_t *params)
{
	const json_t *id = json_object_get(params, "requestId");

	if (s->running && json_equal(s->running->id, id)) {
		s->running->is_cancelled = true;
		gp_interrupt_set(true);
	}
	for (size_t i = 0; i < s->count; i++) {
		struct call *call = s->waiting[i];

		if (!json_equal(call->id, id))
			continue;
		GP_REMOVE(s->waiting, s->count, i);
		reply(s, call->batch, NULL);
		destroy_call(call);
		return;
	}
}

/* ---- a message ---- */

struct request {
	const json_t *id, *params;
	const char *method;
	struct batch *batch;
	bool is_modern;
};

/* Queues a call. NULL: it is answered later. */
static json_t *add_call(struct server *s, const struct request *r)
{
	const json_t *name = json_object_get(r->params, "name");
	const json_t *arguments = json_object_get(r->params, "arguments");
	const json_t *meta = json_object_get(r->params, "_meta");
	const json_t *token = json_object_get(meta, "progressToken");
	char safe[128], text[256];
	struct call *call;

	if (!json_is_string(name))
		return error_of(r->id, INVALID_PARAMS,
				"the name of the tool is missing", NULL);
	if (!gp_mcp_has_tool(json_string_value(name))) {
		snprintf(text, sizeof(text), "there is no tool %s",
			 gp_safe_text(json_string_value(name), safe,
				      sizeof(safe)));
		return error_of(r->id, INVALID_PARAMS, text, NULL);
	}
	if (arguments && !json_is_object(arguments) && !json_is_null(arguments))
		return error_of(r->id, INVALID_PARAMS,
				"arguments are not an object", NULL);
	if (s->count == MOST_CALLS)
		return error_of(r->id, BUSY, "too many calls are waiting",
				NULL);
	call = gp_mem_alloc(1, sizeof(*call));
	call->id = json_deep_copy(r->id);
	call->params = json_deep_copy(r->params);
	call->batch = r->batch;
	call->is_modern = r->is_modern;
	if (json_is_string(token) || json_is_integer(token))
		call->token = json_deep_copy(token);
	s->waiting[s->count++] = call;
	return NULL;
}

static json_t *no_such_method(const struct request *r)
{
	char safe[128], text[256];

	snprintf(text, sizeof(text), "there is no method %s",
		 gp_safe_text(r->method, safe, sizeof(safe)));
	return error_of(r->id, METHOD_NOT_FOUND, text, NULL);
}

/* The answer to a request; NULL: it comes later. */
static json_t *answer(struct server *s, const struct request *r)
{
	const char *method = r->method;
	json_t *result;

	if (!strcmp(method, "tools/call"))
		return add_call(s, r);
	if (!strcmp(method, "initialize"))
		result = initialize(s, r->params);
	else if (!strcmp(method, "server/discover"))
		result = discover();
	else if (!strcmp(method, "ping"))
		result = json_object();
	else if (!strcmp(method, "tools/list"))
		result = list_tools(r->is_modern);
	else
		return no_such_method(r);
	return result_of(r->id, result, r->is_modern);
}

/* NULL: the request names no revision, or a known one. */
static json_t *check_version(struct request *r)
{
	const json_t *meta = json_object_get(r->params, "_meta");
	const json_t *version = json_object_get(meta, META_VERSION);

	if (!version)
		return NULL;
	if (json_is_string(version) &&
	    !strcmp(json_string_value(version), BY_REQUEST)) {
		r->is_modern = true;
		return NULL;
	}
	return error_of(r->id, UNSUPPORTED_VERSION,
			"this revision of the protocol is not known",
			json_pack("{s:o, s:O}", "supported", versions(),
				  "requested", version));
}

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

static bool has_nul(const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		return memchr(json_string_value(value), '\0',
			      json_string_length(value));
	json_array_foreach(value, i, item) if (has_nul(item)) return true;
	/* Not modified; jansson has no const version. */
	json_object_foreach((json_t *)(uintptr_t)value, key,
			    item) if (has_nul(item)) return true;
	return false;
}

/* An error if the message contains a NUL character; NULL: it does not. */
static json_t *check_nul(const struct request *r, const json_t *message)
{
	if (!has_nul(message))
		return NULL;
	return error_of(r->id, INVALID_PARAMS,
			"a string of this request has \\u0000 in it, which is "
			"in no name and no value",
			NULL);
}

static void take_request(struct server *s, const json_t *message,
			 struct batch *batch)
{
	struct request r = {
		.id = json_object_get(message, "id"),
		.params = json_object_get(message, "params"),
		.method = json_string_value(json_object_get(message, "method")),
		.batch = batch,
	};
	json_t *said = check_nul(&r, message);

	if (!said)
		said = check_version(&r);
	if (!said)
		said = answer(s, &r);
	if (said)
		reply(s, batch, said);
}

static bool is_request(const json_t *message)
{
	const char *version =
		json_string_value(json_object_get(message, "jsonrpc"));

	return version && !strcmp(version, "2.0") &&
	       json_is_string(json_object_get(message, "method")) &&
	       is_id(json_object_get(message, "id"));
}

/* Handles a notification or a stray response; only an invalid message is
 * answered. */
static json_t *take_other(struct server *s, const json_t *message)
{
	const char *method =
		json_string_value(json_object_get(message, "method"));
	const json_t *id = json_object_get(message, "id");

	if (!json_is_object(message) || (method && id) ||
	    (!method && !json_object_get(message, "result") &&
	     !json_object_get(message, "error")))
		return error_of(is_id(id) ? id : NULL, INVALID_REQUEST,
				"not a message of JSON-RPC 2.0", NULL);
	if (method && !strcmp(method, "notifications/cancelled"))
		cancel(s, json_object_get(message, "params"));
	return NULL;
}

static void take_batch(struct server *s, const json_t *list)
{
	size_t count = json_array_size(list);
	struct batch *batch;

	if (!s->version || s->version != BATCHES || !count ||
	    count > MOST_BATCH) {
		put(s, error_of(NULL, INVALID_REQUEST,
				"not a message: each line must be one", NULL));
		return;
	}
	batch = gp_mem_alloc(1, sizeof(*batch));
	batch->answers = json_array();
	/* Keep the batch open until all of it is read. */
	batch->open = 1;
	for (size_t i = 0; i < count; i++) {
		const json_t *message = json_array_get(list, i);
		json_t *said;

		if (is_request(message)) {
			batch->open++;
			take_request(s, message, batch);
			continue;
		}
		said = take_other(s, message);
		if (said)
			json_array_append_new(batch->answers, said);
	}
	batch->open--;
	end_batch(s, batch);
}

static void take_line(struct server *s, const char *line, size_t length)
{
	char text[JSON_ERROR_TEXT_LENGTH + 32], safe[JSON_ERROR_TEXT_LENGTH];
	json_error_t why;
	json_t *message, *said;

	if (strspn(line, " \t\r") >= length)
		return;
	message = json_loadb(line, length,
			     JSON_DECODE_ANY | JSON_ALLOW_NUL |
				     JSON_REJECT_DUPLICATES,
			     &why);
	if (!message) {
		snprintf(text, sizeof(text), "this line is not understood: %s",
			 gp_safe_text(why.text, safe, sizeof(safe)));
		put(s, error_of(NULL, PARSE_ERROR, text, NULL));
		return;
	}
	if (json_is_array(message)) {
		take_batch(s, message);
	} else if (is_request(message)) {
		take_request(s, message, NULL);
	} else {
		said = take_other(s, message);
		if (said)
			put(s, said);
	}
	json_decref(message);
}

/* ---- lines ---- */

static void take_lines(struct server *s)
{
	char *from = s->line, *end;

	while ((end = memchr(from, '\n', s->length))) {
		size_t length = (size_t)(end - from);

		*end = '\0';
		if (!s->is_overlong)
			take_line(s, from, length);
		s->is_overlong = false;
		s->length -= length + 1;
		from = end + 1;
	}
	memmove(s->line, from, s->length);
	if (s->length < MOST_LINE)
		return;
	if (!s->is_overlong)
		put(s, error_of(NULL, INVALID_REQUEST,
				"this line is longer than 1 MiB", NULL));
	s->is_overlong = true;
	s->length = 0;
}

static void read_some(struct server *s)
{
	ssize_t n = read(s->in, s->line + s->length, MOST_LINE - s->length);

	if (n > 0) {
		s->length += (size_t)n;
		take_lines(s);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		s->is_over = true;
		s->read_error = n ? errno : 0;
		/* The last line may lack a newline. */
		if (s->length && !s->is_overlong)
			take_line(s, s->line, s->length);
	}
}

/* Output has failed: drop all calls. */
static void give_up(struct server *s)
{
	s->is_over = true;
	while (s->count)
		destroy_call(s->waiting[--s->count]);
	if (s->running)
		gp_interrupt_set(true);
}

/* Serves until the input ends and all calls are answered. */
static void serve(struct server *s)
{
	char byte;

	while (!s->is_over || s->running || s->count) {
		struct pollfd polled[] = { { s->done, POLLIN, 0 },
					   { s->in, POLLIN, 0 } };

		start_call(s);
		if (!s->running && s->is_over)
			continue;
		poll(polled, s->is_over ? 1 : 2, s->running ? 250 : -1);
		if (polled[0].revents && read(s->done, &byte, 1) < 0)
			byte = 0; /* poll() returns immediately, once more */
		if (s->running && atomic_load(&s->running->is_done))
			end_call(s);
		if (!s->is_over && polled[1].revents)
			read_some(s);
		notify_progress(s);
		if (ferror(s->out))
			give_up(s);
	}
}

/* ---- the command ---- */

/* Takes the protocol's streams for itself: anything else that writes to
 * standard output reaches standard error, and standard input is empty. */
static enum gp_status take_streams(struct server *s, struct gp_diag *diag)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), out, pipes[2];

	s->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	s->out = out < 0 ? NULL : fdopen(out, "w");
	if (null < 0 || s->in < 0 || !s->out || pipe(pipes) ||
	    dup2(null, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return gp_diag_set(diag, GP_SYSTEM,
				   "it needs standard input and output: %s",
				   strerror(errno));
	close(null);
	s->done = pipes[0];
	s->done_writes = pipes[1];
	return GP_OK;
}

static enum gp_status check_folders(const struct gp_options *options,
				    struct gp_diag *diag)
{
	for (size_t i = 0; i < options->operand_count; i++) {
		if (gp_file_is_folder(options->operands[i]))
			continue;
		gp_diag_file(diag, options->operands[i]);
		return gp_diag_set(diag, GP_INPUT, "not a folder");
	}
	return GP_OK;
}

static enum gp_status mcp_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct server s = { 0 };
	enum gp_status status;

	if (gp_outlet_is_redirected())
		return gp_diag_set(diag, GP_USAGE,
				   "it serves on standard input and output, "
				   "which belong to another program here");
	status = check_folders(options, diag);
	if (status == GP_OK)
		status = take_streams(&s, diag);
	if (status != GP_OK)
		return status;
	s.line = gp_mem_alloc(MOST_LINE, 1);
	s.shelf =
		gp_mcp_shelf_create(options->operands, options->operand_count);
	serve(&s);
	if (ferror(s.out))
		status = gp_diag_set(diag, GP_SYSTEM,
				     "its answers cannot be written");
	else if (s.read_error)
		status = gp_diag_set(diag, GP_SYSTEM,
				     "standard input cannot be read: %s",
				     strerror(s.read_error));
	gp_mcp_shelf_destroy(s.shelf);
	free(s.line);
	fclose(s.out);
	close(s.in);
	close(s.done);
	close(s.done_writes);
	return status;
}

const struct gp_command gp_mcp_command = {
	.name = "mcp",
	.operands = "[FOLDER]...",
	.most = 1000,
	.sentence = "Answer assistants about traces: a server of the Model "
		    "Context Protocol.",
	.about = "Speaks the protocol on standard input and output, and ends "
		 "with its input. Its tools are replay, suggest, explain, "
		 "sweep, who_holds and info; nothing is written and no program "
		 "is run. With folders, only traces in them are read. man "
		 "gpupool-mcp says how clients start it.",
	.run = mcp_command,
};
