/* SPDX-License-Identifier: MIT */
/*
 * The command line as a function: a question is what stands behind "gpupool",
 * and the answer is what it prints, to the byte.  Traces may be held, read once
 * for any number of questions; a held name stands for a trace wherever a file
 * may.
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
 * Any number of threads may ask, hold and drop at once.  A question may name
 * files to read and to write, as the command line may; programs are not run
 * (record), and there is no standard input.
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

struct gp_session *gp_session_create(void);
void gp_session_destroy(struct gp_session *session);

/* The trace is the session's from here on; one that had the name goes. */
void gp_session_hold(struct gp_session *session, const char *name,
		     struct gp_trace *trace);
/* Nothing where there is none of that name. */
void gp_session_drop(struct gp_session *session, const char *name);

struct gp_reply {
	/* The exit status; what went wrong is in the diag, as data, and at the
	 * end of err, as the command line says it. */
	enum gp_status status;
	struct gp_diag diag;
	char *out, *err; /* owned; each with a NUL behind it */
	size_t out_length, err_length;
};

/* session may be NULL: nothing is held. */
void gp_ask(struct gp_session *session, int argc, const char *const *argv,
	    struct gp_reply *reply);
void gp_reply_release(struct gp_reply *reply);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
