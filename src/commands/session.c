/* SPDX-License-Identifier: MIT */
/* The command line as a function (gpupool/ask.h), and the traces that questions
 * can name. */
#include "commands/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/output.h"
#include "gpupool/ask.h"

/* ---- traces that are held ---- */

struct held {
	char *name; /* owned */
	struct gp_trace *trace;
};

/* A result that was computed from a held trace. */
struct made {
	const struct gp_trace *trace;
	char *what; /* owned */
	void *made;
	void (*destroy)(void *made);
};
#define MADE_KEPT 2 /* for a run, and for the one it is compared with */

/* A question that is being answered. */
struct question {
	const struct gp_reply *reply;
	atomic_bool is_stopped;
	struct question *next;
};

struct gp_session {
	pthread_mutex_t lock;	    /* protects what is held, and questions */
	struct question *questions; /* borrowed */
	struct held *held;	    /* few: searched linearly */
	size_t count, room;
	struct made made[MADE_KEPT]; /* the oldest first; made NULL: none */
	gp_session_guard *guard;     /* NULL: every file may be read */
	const void *guard_arg;
};

/* The session whose question this thread answers. */
static _Thread_local struct gp_session *asked;

struct gp_session *gp_session_create(void)
{
	struct gp_session *session = gp_mem_alloc(1, sizeof(*session));

	pthread_mutex_init(&session->lock, NULL);
	return session;
}

static void made_destroy(struct made *made)
{
	free(made->what);
	if (made->made)
		made->destroy(made->made);
}

void gp_session_destroy(struct gp_session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < MADE_KEPT; i++)
		made_destroy(&session->made[i]);
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

/* Takes out the results of a trace, so that they are destroyed without the
 * lock. */
static void take_made_of(struct gp_session *session,
			 const struct gp_trace *trace,
			 struct made out[MADE_KEPT])
{
	for (size_t i = 0; i < MADE_KEPT; i++) {
		if (session->made[i].trace != trace)
			continue;
		out[i] = session->made[i];
		session->made[i] = (struct made){ 0 };
	}
}

static void destroy_all(struct made made[MADE_KEPT])
{
	for (size_t i = 0; i < MADE_KEPT; i++)
		made_destroy(&made[i]);
}

void gp_session_drop(struct gp_session *session, const char *name)
{
	struct made made[MADE_KEPT] = { 0 };
	struct held *held, gone = { 0 };

	pthread_mutex_lock(&session->lock);
	held = find(session, name);
	if (held) {
		gone = *held;
		*held = session->held[--session->count];
		take_made_of(session, gone.trace, made);
	}
	pthread_mutex_unlock(&session->lock);
	destroy_all(made);
	free(gone.name);
	gp_trace_destroy(gone.trace);
}

void gp_session_hold(struct gp_session *session, const char *name,
		     struct gp_trace *trace)
{
	struct gp_trace *before = NULL;
	struct made made[MADE_KEPT] = { 0 };
	struct held *held;

	pthread_mutex_lock(&session->lock);
	held = find(session, name);
	if (held) {
		before = held->trace;
		take_made_of(session, before, made);
	} else {
		GP_GROW(session->held, session->count + 1, session->room);
		held = &session->held[session->count++];
		held->name = gp_mem_copy_text(name, strlen(name));
	}
	held->trace = trace;
	pthread_mutex_unlock(&session->lock);
	destroy_all(made);
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

void gp_session_limit(struct gp_session *session, gp_session_guard *guard,
		      const void *arg)
{
	session->guard = guard;
	session->guard_arg = arg;
}

bool gp_session_may_read(const char *path)
{
	return !asked || !asked->guard || asked->guard(asked->guard_arg, path);
}

/* ---- results ---- */

void *gp_session_take(const struct gp_trace *trace, const char *what)
{
	void *found = NULL;

	if (!asked)
		return NULL;
	pthread_mutex_lock(&asked->lock);
	for (size_t i = 0; i < MADE_KEPT; i++) {
		struct made *made = &asked->made[i];

		if (found || !made->made || made->trace != trace ||
		    strcmp(made->what, what) != 0)
			continue;
		found = made->made;
		free(made->what);
		*made = (struct made){ 0 };
	}
	pthread_mutex_unlock(&asked->lock);
	return found;
}

static bool is_held(const struct gp_session *session,
		    const struct gp_trace *trace)
{
	for (size_t i = 0; i < session->count; i++)
		if (session->held[i].trace == trace)
			return true;
	return false;
}

/* Keeps a result. Returns the one to destroy: the oldest, or this one if its
 * trace is not held any more. */
static struct made keep(struct gp_session *session, struct made made)
{
	size_t at = MADE_KEPT - 1;
	struct made gone;

	if (!is_held(session, made.trace))
		return made;
	while (at && session->made[at].made)
		at--;
	gone = session->made[at];
	for (; at + 1 < MADE_KEPT; at++)
		session->made[at] = session->made[at + 1];
	session->made[MADE_KEPT - 1] = made;
	return gone;
}

void gp_session_put(const struct gp_trace *trace, const char *what, void *made,
		    void (*destroy)(void *made))
{
	struct made gone = { trace, NULL, made, destroy };

	if (asked) {
		gone.what = gp_mem_copy_text(what, strlen(what));
		pthread_mutex_lock(&asked->lock);
		gone = keep(asked, gone);
		pthread_mutex_unlock(&asked->lock);
	}
	made_destroy(&gone);
}

/* Sets the session whose question this thread answers from here on, or NULL. */
static void answer_for(struct gp_session *session)
{
	asked = session;
}

/* ---- questions ---- */

/* argv in the form that main() gets: parsing reorders it; the texts are not
 * changed. */
static char **line_of(int argc, const char *const *argv)
{
	static const char program[] = "gpupool";
	char **line = gp_mem_alloc((size_t)argc + 2, sizeof(*line));

	line[0] = (char *)(uintptr_t)program;
	for (int i = 0; i < argc; i++)
		line[i + 1] = (char *)(uintptr_t)argv[i];
	return line;
}

/* A session with a guard belongs to gpupool mcp, which handles interruption
 * itself. */
static void begin(struct gp_session *session, struct question *question)
{
	answer_for(session);
	if (!session || session->guard)
		return;
	pthread_mutex_lock(&session->lock);
	question->next = session->questions;
	session->questions = question;
	pthread_mutex_unlock(&session->lock);
	gp_interrupt_by(&question->is_stopped);
}

static void end(struct gp_session *session, const struct question *question)
{
	gp_interrupt_by(NULL);
	answer_for(NULL);
	if (!session || session->guard)
		return;
	pthread_mutex_lock(&session->lock);
	for (struct question **at = &session->questions; *at;
	     at = &(*at)->next) {
		if (*at != question)
			continue;
		*at = question->next;
		break;
	}
	pthread_mutex_unlock(&session->lock);
}

void gp_ask_stop(struct gp_session *session, const struct gp_reply *reply)
{
	pthread_mutex_lock(&session->lock);
	for (struct question *q = session->questions; q; q = q->next)
		if (q->reply == reply)
			atomic_store(&q->is_stopped, true);
	pthread_mutex_unlock(&session->lock);
}

void gp_ask(struct gp_session *session, int argc, const char *const *argv,
	    struct gp_reply *reply)
{
	char **line = line_of(argc, argv);
	struct gp_text_sink texts[2] = { 0 };
	FILE *out = gp_text_sink_open(&texts[0]);
	FILE *err = gp_text_sink_open(&texts[1]);

	struct question question = { .reply = reply };

	*reply = (struct gp_reply){ 0 };
	begin(session, &question);
	gp_outlet_redirect(out, err);
	reply->status = gp_command_line(argc + 1, line, &reply->diag);
	gp_outlet_redirect(NULL, NULL);
	end(session, &question);
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
