/* SPDX-License-Identifier: MIT */
#include "commands/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/output.h"

static const int passed[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
			      SIGUSR1, SIGUSR2, SIGALRM };
#define PASSED_COUNT (sizeof(passed) / sizeof(*passed))

static volatile sig_atomic_t running;

/* Forwards a signal, unless it is from the terminal: then the child gets it as
 * well. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0)
		kill((pid_t)running, number);
}

static void catch_signals(struct sigaction before[PASSED_COUNT])
{
	struct sigaction action = { .sa_sigaction = pass_on,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	for (size_t i = 0; i < PASSED_COUNT; i++)
		sigaction(passed[i], &action, &before[i]);
}

static void restore_signals(const struct sigaction before[PASSED_COUNT])
{
	for (size_t i = 0; i < PASSED_COUNT; i++)
		sigaction(passed[i], &before[i], NULL);
}

/* Runs the program in the child; writes errno to the pipe if that fails. */
static _Noreturn void become(const struct gp_child *child, int report_fd)
{
	int error;

	if (child->prepare)
		child->prepare(child->data);
	execvp(*child->command, (char *const *)(uintptr_t)child->command);
	error = errno;
	if (write(report_fd, &error, sizeof(error)) < 0)
		error = 0;
	_exit(127);
}

static enum gp_status started(struct gp_child *child, int listening,
			      struct gp_diag *diag)
{
	int error;

	if (read(listening, &error, sizeof(error)) != sizeof(error))
		return GP_OK;
	gp_diag_file(diag, *child->command);
	return gp_diag_set(diag, GP_SYSTEM, "cannot run it: %s",
			   strerror(error));
}

/* Signals are blocked until there is a child to pass them on to. */
static pid_t fork_held(const struct gp_child *child, const int ends[2],
		       struct sigaction before[PASSED_COUNT])
{
	sigset_t all, old;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	if (!pid) {
		gp_outlet_unguard();
		sigprocmask(SIG_SETMASK, &old, NULL);
		become(child, ends[1]);
	}
	running = pid;
	if (pid > 0)
		catch_signals(before);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

enum gp_status gp_child_run(struct gp_child *child, struct gp_diag *diag)
{
	struct sigaction before[PASSED_COUNT];
	enum gp_status status;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return gp_diag_set(diag, GP_SYSTEM, "cannot make a pipe: %s",
				   strerror(errno));
	pid = fork_held(child, ends, before);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return gp_diag_set(diag, GP_SYSTEM, "cannot fork: %s",
				   strerror(errno));
	}
	status = started(child, ends[0], diag);
	close(ends[0]);
	while (waitpid(pid, &child->ending, 0) < 0 && errno == EINTR)
		continue;
	restore_signals(before);
	return status;
}

void gp_child_repeat_signal(const struct gp_child *child)
{
	if (WIFSIGNALED(child->ending))
		gp_notice("gpupool: signal %d (%s) ended the program; what it "
			  "did until then is recorded\n",
			  WTERMSIG(child->ending),
			  strsignal(WTERMSIG(child->ending)));
}

void gp_child_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool gp_child_left_one(void)
{
	pid_t ended;

	do
		ended = waitpid(-1, NULL, WNOHANG);
	while (ended > 0);
	return !ended;
}

_Noreturn void gp_child_end_as(int ending)
{
	const struct rlimit none = { 0 };

	fflush(NULL);
	if (WIFSIGNALED(ending)) {
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(ending), SIG_DFL);
		raise(WTERMSIG(ending));
	}
	exit(WIFEXITED(ending) ? WEXITSTATUS(ending) : GP_SYSTEM);
}
