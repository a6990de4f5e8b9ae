/* SPDX-License-Identifier: MIT */
/* The command line as a function. */
#include "gpupool/ask.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/dispatch.h"
#include "commands/output.h"
#include "commands/session.h"

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
	gp_session_answer(session);
	gp_outlet_redirect(out, err);
	reply->status = gp_command_line(argc + 1, line, &reply->diag);
	gp_outlet_redirect(NULL, NULL);
	gp_session_answer(NULL);
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
