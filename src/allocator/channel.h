/* SPDX-License-Identifier: MIT */
/*
 * A child process in which an engine runs, and the socket to it. A crash there
 * is a result here: the channel is then broken and says why.
 */
#ifndef ALLOCATOR_CHANNEL_H
#define ALLOCATOR_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CHANNEL_FD 3 /* the other end, in the child process */

struct channel {
	pid_t pid;
	int socket;
	int log;      /* the process's output: an unnamed file */
	char *buffer; /* received but not yet consumed: [at, end) */
	size_t at, end;
	bool is_broken;
	const char *who; /* borrowed */
	unsigned patience_s;
	char trouble[512]; /* why the channel is broken */
};

struct channel_start {
	const char *who; /* "PyTorch's process", for messages */
	const char *program;
	char *const *arguments, *const *environment;
	/* A process that is silent for this long is killed, as is one that is
	 * still running at the end, each with its process group; 0: wait
	 * without a limit. */
	unsigned patience_s;
};

/* Starts the process. Returns 0, or the errno of the failure; the channel is
 * then broken. */
int channel_open(struct channel *channel, const struct channel_start *start);
/* Ends the process. Accepts a zeroed or broken channel. */
void channel_close(struct channel *channel);

/* false: the process is gone, and `trouble` says why */
bool channel_send(struct channel *channel, const void *data, size_t size);
bool channel_receive(struct channel *channel, void *data, size_t size);

#endif
