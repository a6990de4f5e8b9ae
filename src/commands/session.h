/* SPDX-License-Identifier: MIT */
/* The traces that a session holds (gpupool/ask.h), for the code that reads
 * traces. */
#ifndef COMMANDS_SESSION_H
#define COMMANDS_SESSION_H

#include <stdbool.h>

#include "gpupool/ask.h"

/* A trace of the session whose question this thread answers, with a reference
 * for the caller; NULL: none of that name is held. */
struct gp_trace *gp_session_held(const char *name);

/* Decides which files the session's questions may read, besides held traces;
 * without a guard, all. The argument is borrowed. */
typedef bool gp_session_guard(const void *arg, const char *path);
void gp_session_limit(struct gp_session *session, gp_session_guard *guard,
		      const void *arg);
/* For the session whose question this thread answers. */
bool gp_session_may_read(const char *path);

/* A cache of results computed from held traces, by trace and a text that says
 * what the result is. A result holds a reference to its trace. It is taken out
 * while in use, so that it has one user, and put back. The last few are kept
 * while their trace is held; without a session, put destroys the result. */
void *gp_session_take(const struct gp_trace *trace, const char *what);
void gp_session_put(const struct gp_trace *trace, const char *what, void *made,
		    void (*destroy)(void *made));

#endif
