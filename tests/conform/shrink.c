/* SPDX-License-Identifier: MIT */
/*
 * shrink [--torch RELEASE] TRACE [COMMAND...]
 *
 * Cuts a failing trace down to the fewest and simplest requests, and prints the
 * result in the form of traces/tiny.  COMMAND decides whether a trace fails:
 * "{}" among its words stands for the trace, and exit status 1 means that it
 * fails.  The default compares with PyTorch's own allocator:
 *
 *	build/gpupool verify {} --torch RELEASE
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpupool/input.h"
#include "parts/reduce.h"

#define WORDS_MOST 64
#define FAILS	   1 /* the exit status for failure */

extern char **environ;

struct shrink {
	const char *words[WORDS_MOST + 1]; /* words of the command, then NULL */
	char path[64];			   /* stands for "{}" */
	unsigned runs;
};

/* ---- the command ---- */

static int run_command(struct shrink *shrink)
{
	posix_spawn_file_actions_t actions;
	int status = -1, error;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
					 O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	error = posix_spawnp(&pid, shrink->words[0], &actions, NULL,
			     (char *const *)shrink->words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static bool fails(void *arg, const struct trial *trial)
{
	struct shrink *shrink = arg;
	FILE *file = fopen(shrink->path, "w");

	if (!file)
		return false;
	trial_print(trial, file);
	if (fclose(file))
		return false;
	shrink->runs++;
	return run_command(shrink) == FAILS;
}

static void take_words(struct shrink *shrink, const char *const *words,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		shrink->words[i] =
			strcmp(words[i], "{}") ? words[i] : shrink->path;
}

/* ---- the trace ---- */

static int complain(const char *path, const char *what)
{
	fprintf(stderr, "shrink: %s: %s\n", path, what);
	return GP_INPUT;
}

static int read_trial(struct trial *trial, const char *path)
{
	const struct gp_input_config config = { .path = path };
	struct gp_diag diag = { 0 };
	struct gp_trace *trace;
	bool is_whole;

	if (gp_input_read(&config, &trace, &diag) != GP_OK)
		return complain(path, diag.what);
	is_whole = trial_of_trace(trial, trace);
	gp_trace_destroy(trace);
	if (!is_whole)
		return complain(path, "it starts in the middle of a program, "
				      "or waits for a block");
	return 0;
}

static int run(struct shrink *shrink, const char *path, const char *release)
{
	const struct reducer reducer = { fails, shrink };
	struct trial trial;
	int status = read_trial(&trial, path);

	if (!status && release)
		snprintf(trial.release, sizeof(trial.release), "%s", release);
	if (!status && !fails(shrink, &trial))
		status = complain(path, "it does not fail: the command does "
					"not exit with 1");
	if (!status) {
		size_t before = trial.count;

		reduce(&trial, &reducer);
		trial_print(&trial, stdout);
		fprintf(stderr, "shrink: %zu requests of %zu, %u runs\n",
			trial.count, before, shrink->runs);
	}
	trial_release(&trial);
	return status;
}

static int usage(void)
{
	fprintf(stderr, "usage: shrink [--torch RELEASE] TRACE [COMMAND...]\n");
	return GP_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "torch", required_argument, NULL, 't' },
		{ 0 },
	};
	const char *usual[] = { "build/gpupool", "verify", "{}", "--torch",
				NULL };
	struct shrink shrink = { .path = "/tmp/shrink-XXXXXX" };
	int option, file, status;

	/* "+": the command has its own options. */
	while ((option = getopt_long(argc, argv, "+", options, NULL)) == 't')
		usual[4] = optarg;
	if (option != -1 || optind == argc || argc - optind > WORDS_MOST)
		return usage();
	if (argc - optind > 1)
		take_words(&shrink, (const char *const *)argv + optind + 1,
			   (size_t)(argc - optind - 1));
	else
		take_words(&shrink, usual, usual[4] ? 5 : 3);
	file = mkstemp(shrink.path);
	if (file == -1)
		return complain(shrink.path, strerror(errno));
	close(file);
	status = run(&shrink, argv[optind], usual[4]);
	unlink(shrink.path);
	return status;
}
