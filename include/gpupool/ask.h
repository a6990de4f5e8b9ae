/* SPDX-License-Identifier: MIT */
/*
 * The command line as a function: a question is what follows "gpupool" on a
 * command line, and the reply is what it prints, byte for byte. A session may
 * hold traces, which are read once for any number of questions; the name of a
 * held trace may be used wherever a file name may.
 *
 *	struct gp_session *session = gp_session_create();
 *	const char *question[] = { "suggest", "mine", "--format", "json" };
 *	struct gp_reply reply;
 *
 *	gp_session_hold(session, "mine", trace);
 *	gp_ask(session, 4, question, &reply);
 *	fwrite(reply.out, 1, reply.out_length, stdout);
 *	gp_reply_release(&reply);
 *	gp_session_destroy(session);
 *
 * Thread-safe: any number of threads may ask, hold and drop at the same time. A
 * question may name files to read and to write, as the command line may; but no
 * program is recorded (record), and there is no standard input. An engine that
 * runs in a process of its own (--engine ./mine.so) does so in the program
 * gpupool that was installed with the library, or else the one found by PATH.
 */
#ifndef GPUPOOL_ASK_H
#define GPUPOOL_ASK_H

#include <stddef.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct gp_session;

/* Creates a session without traces. The caller destroys it, which destroys the
 * traces that it holds. */
struct gp_session *gp_session_create(void);
void gp_session_destroy(struct gp_session *session);

/* Holds a trace under a name, in place of a former one with that name. The
 * session takes ownership of the trace. */
void gp_session_hold(struct gp_session *session, const char *name,
		     struct gp_trace *trace);
/* Drops the trace with that name, if there is one. */
void gp_session_drop(struct gp_session *session, const char *name);

struct gp_reply {
	/* The exit status. A failure is explained in diag, and at the end of
	 * err as the command line prints it. */
	enum gp_status status;
	struct gp_diag diag;
	char *out, *err; /* owned; NUL-terminated */
	size_t out_length, err_length;
};

/* Answers a question. session may be NULL: no traces are held. The caller
 * releases the reply. */
void gp_ask(struct gp_session *session, int argc, const char *const *argv,
	    struct gp_reply *reply);
void gp_reply_release(struct gp_reply *reply);

/* Stops the question whose answer gp_ask() is writing to this reply; called on
 * another thread. A sweep ends after the runs that have begun, and its answer
 * has these; other commands go on to their end. No effect once it is answered.
 */
void gp_ask_stop(struct gp_session *session, const struct gp_reply *reply);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
