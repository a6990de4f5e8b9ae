/* SPDX-License-Identifier: MIT */
/* A child process and the socket to it. */
#include "allocator/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#define BUFFER	   65536
#define TAIL_BYTES 400 /* most bytes of its output in a message */

/* The end of the process's output, as one line. */
static void output_tail(const struct channel *channel, char *text, size_t size)
{
	off_t length = lseek(channel->log, 0, SEEK_END);
	off_t from = length > TAIL_BYTES ? length - TAIL_BYTES : 0;
	ssize_t n = pread(channel->log, text, size - 1, from);

	if (n < 0)
		n = 0;
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = 0;
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

/* Kills the process, and with patience_s its process group. */
static void end(const struct channel *channel)
{
	kill(channel->patience_s ? -channel->pid : channel->pid, SIGKILL);
}

/* The process is gone: sets `trouble` to how it ended. */
static bool broken(struct channel *channel)
{
	char words[TAIL_BYTES + 1];
	int status = 0;

	if (channel->is_broken)
		return false;
	channel->is_broken = true;
	shutdown(channel->socket, SHUT_RDWR);
	/* No answer will come. Without patience_s the process has exited by
	 * itself. */
	if (channel->patience_s)
		end(channel);
	waitpid(channel->pid, &status, 0);
	channel->pid = 0;
	output_tail(channel, words, sizeof(words));
	if (WIFSIGNALED(status))
		snprintf(channel->trouble, sizeof(channel->trouble),
			 "%s died of signal %d (%s)%s%s", channel->who,
			 WTERMSIG(status), strsignal(WTERMSIG(status)),
			 *words ? ": " : "", words);
	else
		snprintf(channel->trouble, sizeof(channel->trouble),
			 "%s ended with status %d%s%s", channel->who,
			 WEXITSTATUS(status), *words ? ": " : "", words);
	return false;
}

/* The process exists but neither sends nor receives. */
static bool hung(struct channel *channel)
{
	if (channel->is_broken)
		return false;
	channel->is_broken = true;
	end(channel);
	waitpid(channel->pid, NULL, 0);
	channel->pid = 0;
	snprintf(channel->trouble, sizeof(channel->trouble),
		 "%s did not answer within %u s", channel->who,
		 channel->patience_s);
	return false;
}

static bool lost(struct channel *channel, ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
		       ? hung(channel)
		       : broken(channel);
}

bool channel_send(struct channel *channel, const void *data, size_t size)
{
	const char *at = data;

	while (size && !channel->is_broken) {
		ssize_t n = send(channel->socket, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lost(channel, n);
		at += n;
		size -= (size_t)n;
	}
	return !channel->is_broken;
}

static bool refill(struct channel *channel)
{
	ssize_t n;

	do
		n = recv(channel->socket, channel->buffer, BUFFER, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return lost(channel, n);
	channel->at = 0;
	channel->end = (size_t)n;
	return true;
}

bool channel_receive(struct channel *channel, void *data, size_t size)
{
	char *to = data;

	while (size && !channel->is_broken) {
		size_t n = channel->end - channel->at;

		if (!n) {
			refill(channel);
			continue;
		}
		if (n > size)
			n = size;
		memcpy(to, channel->buffer + channel->at, n);
		channel->at += n;
		to += n;
		size -= n;
	}
	return !channel->is_broken;
}

/* ---- creation and destruction ---- */

static int spawn(struct channel *channel, const struct channel_start *start,
		 int socket)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int error;

	posix_spawnattr_init(&attributes);
	if (start->patience_s)
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, channel->log, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, channel->log, STDERR_FILENO);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, socket, CHANNEL_FD);
	error = posix_spawnp(&channel->pid, start->program, &files, &attributes,
			     start->arguments, start->environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return error;
}

static void be_patient(const struct channel *channel)
{
	const struct timeval time = { .tv_sec = channel->patience_s };

	if (!time.tv_sec)
		return;
	setsockopt(channel->socket, SOL_SOCKET, SO_RCVTIMEO, &time,
		   sizeof(time));
	setsockopt(channel->socket, SOL_SOCKET, SO_SNDTIMEO, &time,
		   sizeof(time));
}

static int refuse(struct channel *channel, int error)
{
	channel->is_broken = true;
	channel->pid = 0;
	return error;
}

int channel_open(struct channel *channel, const struct channel_start *start)
{
	int sockets[2], error;

	*channel = (struct channel){ .socket = -1,
				     .who = start->who,
				     .patience_s = start->patience_s };
	channel->log = gp_memfd("gpupool-engine");
	if (channel->log < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return refuse(channel, errno);
	channel->socket = sockets[0];
	be_patient(channel);
	channel->buffer = gp_mem_alloc(BUFFER, 1);
	error = spawn(channel, start, sockets[1]);
	close(sockets[1]);
	return error ? refuse(channel, error) : 0;
}

void channel_close(struct channel *channel)
{
	if (channel->socket >= 0)
		close(channel->socket);
	if (channel->pid && channel->patience_s)
		end(channel);
	if (channel->pid)
		waitpid(channel->pid, NULL, 0);
	if (channel->log >= 0)
		close(channel->log);
	free(channel->buffer);
	*channel = (struct channel){ .socket = -1, .log = -1 };
}
