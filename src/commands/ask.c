/* SPDX-License-Identifier: MIT */
/* The command line as a function, and the traces that it is asked about. */
#include "commands/ask.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/dispatch.h"
#include "commands/output.h"

/* ---- traces that are held ---- */

struct held {
	char *name; /* owned */
	struct gp_trace *trace;
};

struct gp_session {
	pthread_mutex_t lock; /* of what is held */
	struct held *held;    /* few: looked through */
	size_t count, room;
};

/* Whose question this thread answers. */
static _Thread_local struct gp_session *asked;

struct gp_session *gp_session_create(void)
{
	struct gp_session *session = gp_mem_alloc(1, sizeof(*session));

	pthread_mutex_init(&session->lock, NULL);
	return session;
}

void gp_session_destroy(struct gp_session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->count; i++) {
		free(session->held[i].name);
		gp_trace_destroy(session->held[i].trace);
	}
	free(session->held);
	pthread_mutex_destroy(&session->lock);
	free(session);
}

static struct held *find(struct gp_session *session, const char *name)
{
	for (size_t i = 0; i < session->count; i++)
		if (!strcmp(session->held[i].name, name))
			return &session->held[i];
	return NULL;
}

void gp_session_drop(struct gp_session *session, const char *name)
{
	struct held *held, gone = { 0 };

	pthread_mutex_lock(&session->lock);
	held = find(session, name);
	if (held) {
		gone = *held;
		*held = session->held[--session->count];
	}
	pthread_mutex_unlock(&session->lock);
	free(gone.name);
	gp_trace_destroy(gone.trace);
}

void gp_session_hold(struct gp_session *session, const char *name,
		     struct gp_trace *trace)
{
	struct gp_trace *before = NULL;
	struct held *held;

	pthread_mutex_lock(&session->lock);
	held = find(session, name);
	if (held) {
		before = held->trace;
	} else {
		session->held = gp_mem_grow(session->held, &session->room,
					    session->count + 1, sizeof(*held));
		held = &session->held[session->count++];
		held->name = gp_mem_copy_text(name, strlen(name));
	}
	held->trace = trace;
	pthread_mutex_unlock(&session->lock);
	gp_trace_destroy(before);
}

struct gp_trace *gp_session_held(const char *name)
{
	struct gp_trace *trace = NULL;
	struct held *held;

	if (!asked)
		return NULL;
	pthread_mutex_lock(&asked->lock);
	held = find(asked, name);
	if (held)
		trace = gp_trace_share(held->trace);
	pthread_mutex_unlock(&asked->lock);
	return trace;
}

/* ---- a question ---- */

/* argv as main() has it: parsing reorders it, and texts stay as they are. */
static char **line_of(int argc, const char *const *argv)
{
	static const char program[] = "gpupool";
	char **line = gp_mem_alloc((size_t)argc + 2, sizeof(*line));

	line[0] = (char *)(uintptr_t)program;
	for (int i = 0; i < argc; i++)
		line[i + 1] = (char *)(uintptr_t)argv[i];
	return line;
}

void gp_ask(struct gp_session *session, int argc, const char *const *argv,
	    struct gp_reply *reply)
{
	char **line = line_of(argc, argv);
	struct gp_text_sink texts[2] = { 0 };
	FILE *out = gp_text_sink_open(&texts[0]);
	FILE *err = gp_text_sink_open(&texts[1]);

	*reply = (struct gp_reply){ 0 };
	asked = session;
	gp_outlet_redirect(out, err);
	reply->status = gp_command_line(argc + 1, line, &reply->diag);
	gp_outlet_redirect(NULL, NULL);
	asked = NULL;
	reply->out = gp_text_sink_close(&texts[0], out);
	reply->out_length = texts[0].size;
	reply->err = gp_text_sink_close(&texts[1], err);
	reply->err_length = texts[1].size;
	free(line);
}

void gp_reply_release(struct gp_reply *reply)
{
	free(reply->out);
	free(reply->err);
	*reply = (struct gp_reply){ 0 };
}
