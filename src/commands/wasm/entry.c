/* SPDX-License-Identifier: MIT */
/*
 * gpupool in a page: the functions that src/report/page/engine.js calls. A
 * question is asked, and then its answer is read from memory; there is one at a
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "gpupool/ask.h"
#include "gpupool/input.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

void *EXPORT(gp_page_room)(size_t size);
void EXPORT(gp_page_free)(void *room);
int EXPORT(gp_page_read)(char *name, void *bytes, size_t length);
int EXPORT(gp_page_ask)(char *words, int count);
const char *EXPORT(gp_page_text)(int which);
size_t EXPORT(gp_page_length)(int which);

static struct gp_session *session;
static struct gp_reply reply;

/* Memory for bytes that the page writes; NULL: there is not enough. */
void *gp_page_room(size_t size)
{
	return malloc(size ? size : 1);
}

void gp_page_free(void *room)
{
	free(room);
}

/* Prints the message of a command line into err. */
static void print_diag(const struct gp_diag *diag)
{
	struct gp_text_sink sink;
	FILE *err = gp_text_sink_open(&sink);

	fprintf(err, "gpupool: %s", diag->file);
	if (*diag->record)
		fprintf(err, ": %s", diag->record);
	fprintf(err, ": %s\n", diag->what);
	if (*diag->hint)
		fprintf(err, "%s\n", diag->hint);
	reply.err = gp_text_sink_close(&sink, err);
	reply.err_length = sink.size;
}

/* Reads a trace from the bytes of a file and holds it under the name; frees the
 * bytes and the name. Returns the exit status. */
int gp_page_read(char *name, void *bytes, size_t length)
{
	struct gp_input_config config = { .path = name,
					  .bytes = bytes,
					  .length = length };
	struct gp_diag diag = { 0 };
	struct gp_trace *trace;

	gp_reply_release(&reply);
	reply.status = gp_input_read(&config, &trace, &diag);
	free(bytes);
	if (!session)
		session = gp_session_create();
	if (reply.status == GP_OK)
		gp_session_hold(session, name, trace);
	else
		print_diag(&diag);
	free(name);
	return (int)reply.status;
}

/* Answers a command line: its words, each terminated by a NUL; frees them. */
int gp_page_ask(char *words, int count)
{
	const char **argv = gp_mem_alloc((size_t)count + 1, sizeof(*argv));
	const char *word = words;

	for (int i = 0; i < count; i++) {
		argv[i] = word;
		word += strlen(word) + 1;
	}
	gp_reply_release(&reply);
	gp_ask(session, count, argv, &reply);
	free(argv);
	free(words);
	return (int)reply.status;
}

/* The standard output (0) or standard error (1) of the last answer. */
const char *gp_page_text(int which)
{
	return which ? reply.err : reply.out;
}

size_t gp_page_length(int which)
{
	return which ? reply.err_length : reply.out_length;
}
