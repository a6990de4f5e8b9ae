/* SPDX-License-Identifier: MIT */
/* A helper process and the socket to it. */
#include "allocator/torch/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "gpupool/allocator.h"

#define BUFFER	   65536
#define LAST_WORDS 400 /* bytes of the helper's output that are told */

/* The end of what the helper printed, on one line. */
static void last_words(const struct channel *channel, char *text, size_t size)
{
	off_t length = lseek(channel->log, 0, SEEK_END);
	off_t from = length > LAST_WORDS ? length - LAST_WORDS : 0;
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

/* The helper is gone: finds out how it ended. */
static bool broken(struct channel *channel)
{
	char words[LAST_WORDS + 1];
	int status = 0;

	if (channel->is_broken)
		return false;
	channel->is_broken = true;
	shutdown(channel->socket, SHUT_RDWR);
	waitpid(channel->pid, &status, 0);
	channel->pid = 0;
	last_words(channel, words, sizeof(words));
	if (WIFSIGNALED(status))
		snprintf(channel->trouble, sizeof(channel->trouble),
			 "PyTorch's process died of signal %d (%s)%s%s",
			 WTERMSIG(status), strsignal(WTERMSIG(status)),
			 *words ? ": " : "", words);
	else
		snprintf(channel->trouble, sizeof(channel->trouble),
			 "PyTorch's process ended with status %d%s%s",
			 WEXITSTATUS(status), *words ? ": " : "", words);
	return false;
}

bool channel_send(struct channel *channel, const void *data, size_t size)
{
	const char *at = data;

	while (size && !channel->is_broken) {
		ssize_t n = send(channel->socket, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return broken(channel);
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
		return broken(channel);
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

/* ---- life ---- */

static const char setting_name[] = "PYTORCH_CUDA_ALLOC_CONF=";

static char *setting_of(const char *conf)
{
	size_t size = sizeof(setting_name) + strlen(conf);
	char *setting = gp_mem_alloc(size, 1);

	snprintf(setting, size, "%s%s", setting_name, conf);
	return setting;
}

/* PyTorch's streams and events are the trace's, in front of the runtime. */
static char *preload_of(const char *folder, const char *runtime)
{
	static const char format[] =
		"LD_PRELOAD=%s/cuda/libgpupool-streams.so:%s";
	size_t size = sizeof(format) + strlen(folder) + strlen(runtime);
	char *preload = gp_mem_alloc(size, 1);

	snprintf(preload, size, format, folder, runtime);
	return preload;
}

static bool is_ours(const char *variable)
{
	static const char *const names[] = { setting_name, "LD_PRELOAD=",
					     "PYTORCH_ALLOC_CONF=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * Nothing of the environment reaches the helper but the settings, so that runs
 * are alike everywhere, unless it is to find a device.  PyTorch reads settings
 * before its main begins.  setting, preload: NULL for none.
 */
static char **environment_of(const struct gp_torch_cuda *cuda, char *setting,
			     char *preload)
{
	char *const *from = cuda ? cuda->environment : NULL;
	size_t count = 0, n = 0;
	char **all;

	while (from && from[count])
		count++;
	all = gp_mem_alloc(count + 3, sizeof(*all));
	if (setting)
		all[n++] = setting;
	if (preload)
		all[n++] = preload;
	for (size_t i = 0; i < count; i++)
		if (!is_ours(from[i]))
			all[n++] = from[i];
	return all;
}

static int spawn(struct channel *channel, const char *folder,
		 const struct gp_torch_cuda *cuda, const char *conf, int socket)
{
	char program[4096];
	char *setting = *conf ? setting_of(conf) : NULL;
	char *preload = cuda ? preload_of(folder, cuda->runtime) : NULL;
	char **environment = environment_of(cuda, setting, preload);
	char *const arguments[] = { program, NULL };
	posix_spawn_file_actions_t files;
	int error;

	snprintf(program, sizeof(program), "%s%s/gpupool-torch", folder,
		 cuda ? "/cuda" : "");
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, channel->log, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, channel->log, STDERR_FILENO);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, socket, TORCH_WIRE_FD);
	error = posix_spawn(&channel->pid, program, &files, NULL, arguments,
			    environment);
	posix_spawn_file_actions_destroy(&files);
	free(environment);
	free(setting);
	free(preload);
	return error;
}

static enum gp_status refuse(struct channel *channel, const char *folder,
			     int error, struct gp_diag *diag)
{
	channel->is_broken = true;
	channel->pid = 0;
	gp_diag_file(diag, folder);
	if (error == ENOENT)
		gp_diag_hint(diag, "an engine that an older gpupool prepared "
				   "lacks what runs on a device: make "
				   "torch-engine prepares it again");
	return gp_diag_set(diag, GP_SYSTEM,
			   "PyTorch's allocator could not be started: %s",
			   strerror(error));
}

enum gp_status channel_open(struct channel *channel, const char *folder,
			    const struct gp_torch_cuda *cuda, const char *conf,
			    struct gp_diag *diag)
{
	int sockets[2], error;

	*channel = (struct channel){ .socket = -1 };
	channel->log = memfd_create("gpupool-torch", MFD_CLOEXEC);
	if (channel->log < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return refuse(channel, folder, errno, diag);
	channel->socket = sockets[0];
	channel->buffer = gp_mem_alloc(BUFFER, 1);
	error = spawn(channel, folder, cuda, conf, sockets[1]);
	close(sockets[1]);
	return error ? refuse(channel, folder, error, diag) : GP_OK;
}

void channel_close(struct channel *channel)
{
	if (channel->socket >= 0)
		close(channel->socket);
	if (channel->pid)
		waitpid(channel->pid, NULL, 0);
	if (channel->log >= 0)
		close(channel->log);
	free(channel->buffer);
	*channel = (struct channel){ .socket = -1, .log = -1 };
}
