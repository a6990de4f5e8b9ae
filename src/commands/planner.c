/* SPDX-License-Identifier: MIT */
/* The process that asks the real cuDNN for plans while a program is
 * recorded. */
#include "commands/planner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/output.h"

#define SOCKET_NAME "plans"
/* The ranks of a job connect at the same time. */
#define BACKLOG	    64

/* NVIDIA's wheels are installed next to PyTorch:
 * site-packages/nvidia/cudnn/lib. */
static void find_cudnn(struct gp_planner *planner, const char *torch)
{
	int n = snprintf(planner->library, sizeof(planner->library),
			 "%s/../nvidia/cudnn/lib/libcudnn.so.9", torch);

	if (n < 0 || (size_t)n >= sizeof(planner->library) ||
	    access(planner->library, R_OK))
		*planner->library = 0;
}

enum gp_status gp_planner_find(struct gp_planner *planner, const char *wanted,
			       const char *torch, struct gp_diag *diag)
{
	char *path;

	*planner = (struct gp_planner){ 0 };
	if (wanted && !strcmp(wanted, "none"))
		return GP_OK;
	if (!wanted) {
		/* SIMCUDA_CUDNN asks for another version than the installed
		 * one. */
		if (!getenv("SIMCUDA_CUDNN"))
			find_cudnn(planner, torch);
		return GP_OK;
	}
	path = realpath(wanted, NULL);
	if (!path) {
		gp_diag_file(diag, "record");
		return gp_diag_set(diag, GP_USAGE, "--cudnn %s: %s", wanted,
				   strerror(errno));
	}
	snprintf(planner->library, sizeof(planner->library), "%.*s",
		 PATH_MAX - 1, path);
	free(path);
	return GP_OK;
}

/* ---- the listening process ---- */

/* Detaches from the terminal: without output, and without the signals that are
 * meant for the program. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	signal(SIGCHLD, SIG_IGN);
}

static _Noreturn void listen_on(int listener,
				const struct gp_plans_source *source)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	leave_terminal();
	for (;;) {
		int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0 && errno != EINTR && errno != ECONNABORTED)
			_exit(0);
		if (connection < 0)
			continue;
		if (!fork()) {
			close(listener);
			gp_plans_work(connection, source);
			_exit(0);
		}
		close(connection);
	}
}

/* A socket's address is limited in length, so the path leads through the opened
 * folder. */
static int listen_in(const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path),
		 "/proc/self/fd/%d/" SOCKET_NAME, at);
	if (at < 0 || listener < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, BACKLOG)) {
		int why = errno;

		if (listener >= 0)
			close(listener);
		listener = -1;
		errno = why;
	}
	if (at >= 0)
		close(at);
	return listener;
}

void gp_planner_start(struct gp_planner *planner,
		      const struct gp_plans_source *with)
{
	struct gp_plans_source source = *with;
	int listener;

	unsetenv("SIMCUDA_PLANS");
	if (!*planner->library)
		return;
	source.cudnn = planner->library;
	snprintf(planner->socket, sizeof(planner->socket), "%s/" SOCKET_NAME,
		 source.folder);
	listener = listen_in(source.folder);
	planner->pid = listener < 0 ? -1 : fork();
	if (!planner->pid)
		listen_on(listener, &source);
	if (planner->pid > 0)
		setpgid(planner->pid, planner->pid); /* as it does itself */
	if (planner->pid < 0)
		gp_notice("gpupool: cannot ask cuDNN at %s: %s\n",
			  planner->socket, strerror(errno));
	else
		setenv("SIMCUDA_PLANS", planner->socket, 1);
	if (listener >= 0)
		close(listener);
}

void gp_planner_stop(struct gp_planner *planner)
{
	/* With the processes that it started: they become children of this
	 * process when it ends. The program's processes are not among them. */
	if (planner->pid > 0) {
		kill(planner->pid, SIGKILL);
		kill(-planner->pid, SIGKILL);
		while (waitpid(-planner->pid, NULL, 0) > 0 || errno == EINTR)
			continue;
	}
	if (*planner->socket)
		unlink(planner->socket);
	*planner = (struct gp_planner){ 0 };
}
