/* SPDX-License-Identifier: MIT */
/* The parts of <signal.h> that the program uses; no signal is ever received. */
#ifndef WASM_POSIX_SIGNAL_H
#define WASM_POSIX_SIGNAL_H
#ifdef __wasi__

#include <sys/types.h>

struct sigaction {
	void (*sa_handler)(int number);
	sigset_t sa_mask;
	int sa_flags;
};

#define SIG_DFL	    ((void (*)(int))0)
#define SIG_IGN	    ((void (*)(int))1)
#define SIG_BLOCK   0
#define SIG_SETMASK 2
#define SA_RESTART  0

#define SIGHUP	1
#define SIGINT	2
#define SIGKILL 9
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17

static inline int sigemptyset(sigset_t *set)
{
	return *set = 0;
}

static inline int sigaddset(sigset_t *set, int number)
{
	(void)set, (void)number;
	return 0;
}

static inline int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	(void)how, (void)set;
	if (before)
		*before = 0;
	return 0;
}

static inline int sigaction(int number, const struct sigaction *action,
			    struct sigaction *before)
{
	(void)number, (void)action;
	if (before)
		*before = (struct sigaction){ 0 };
	return 0;
}

static inline int raise(int number)
{
	(void)number;
	return 0;
}

#endif
#endif
