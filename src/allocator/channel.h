/* SPDX-License-Identifier: MIT */
/*
 * A process beside this one in which an engine runs, and the socket to it.  A
 * crash there is an answer here: the channel is broken, and says why.
 */
#ifndef ALLOCATOR_CHANNEL_H
#define ALLOCATOR_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CHANNEL_FD 3 /* the other end, in that process */

struct channel {
	pid_t pid;
	int socket;
	int log;      /* what the process prints: a file without a name */
	char *buffer; /* received and not yet taken: [at, end) */
	size_t at, end;
	bool is_broken;
	const char *who; /* borrowed */
	unsigned patience_s;
	char trouble[512]; /* why, once it is broken */
};

struct channel_start {
	const char *who; /* "PyTorch's process", for messages */
	const char *program;
	char *const *arguments, *const *environment;
	/* Who says nothing for so long is ended, as is who is still there at
	 * the end, each with the processes it started; 0: it is waited for. */
	unsigned patience_s;
};

/* Starts the process.  Returns 0, or the errno that says why not; the channel
 * is then broken. */
int channel_open(struct channel *channel, const struct channel_start *start);
/* Ends the process; also of a zeroed or broken one. */
void channel_close(struct channel *channel);

/* false: the process is gone, and trouble says why. */
bool channel_send(struct channel *channel, const void *data, size_t size);
bool channel_receive(struct channel *channel, void *data, size_t size);

#endif
