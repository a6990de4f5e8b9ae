/* SPDX-License-Identifier: MIT */
/* Traces that a question may name (gpupool/ask.h), for what reads them. */
#ifndef COMMANDS_SESSION_H
#define COMMANDS_SESSION_H

#include "gpupool/ask.h"

/* Whose question this thread answers from here on; NULL: nobody's. */
void gp_session_answer(struct gp_session *session);

/* Of the session whose question this thread answers, one more owner's; NULL:
 * none of that name is held. */
struct gp_trace *gp_session_held(const char *name);

/*
 * What was made of a held trace and is worth keeping for the next question: by
 * the trace, of which it is an owner, and a text that says what it is.  It is
 * taken out while it is used, so that nobody else has it, and put back.  The
 * last few are kept, for as long as their trace is held; put without a session
 * it is destroyed at once.
 */
void *gp_session_take(const struct gp_trace *trace, const char *what);
void gp_session_put(const struct gp_trace *trace, const char *what, void *made,
		    void (*destroy)(void *made));

#endif
