/* SPDX-License-Identifier: MIT */
/*
 * The command line as a function: reads a trace once, and answers questions
 * about it as gpupool would, one per line of standard input.
 *
 *	cc ask.c $(pkg-config --cflags --libs gpupool) -o ask
 *	echo "suggest it --capacity 24GiB" | ./ask snapshot.pickle it
 */
#include <stdio.h>
#include <string.h>

#include <gpupool/gpupool.h>

#define MOST_WORDS 64

static size_t words_of(char *line, const char *words[MOST_WORDS])
{
	size_t count = 0;

	for (char *word = strtok_r(line, " \n", &line);
	     word && count < MOST_WORDS; word = strtok_r(NULL, " \n", &line))
		words[count++] = word;
	return count;
}

static enum gp_status answer(struct gp_session *session)
{
	enum gp_status status = GP_OK;
	const char *words[MOST_WORDS];
	struct gp_reply reply;
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		gp_ask(session, (int)words_of(line, words), words, &reply);
		fwrite(reply.out, 1, reply.out_length, stdout);
		fwrite(reply.err, 1, reply.err_length, stderr);
		status = reply.status;
		gp_reply_release(&reply);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct gp_input_config input = { .path = argc > 1 ? argv[1] : "-" };
	struct gp_session *session = gp_session_create();
	struct gp_diag diag = { 0 };
	struct gp_trace *trace;
	enum gp_status status = gp_input_read(&input, &trace, &diag);

	if (status == GP_OK) {
		gp_session_hold(session, argc > 2 ? argv[2] : "it", trace);
		status = answer(session);
	} else {
		fprintf(stderr, "%s: %s\n", diag.file, diag.what);
	}
	gp_session_destroy(session);
	return (int)status;
}
