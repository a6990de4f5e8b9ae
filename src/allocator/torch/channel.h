/* SPDX-License-Identifier: MIT */
/* The engine's end of the socket to a helper process (wire.h). */
#ifndef ALLOCATOR_TORCH_CHANNEL_H
#define ALLOCATOR_TORCH_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "allocator/torch/wire.h"
#include "gpupool/status.h"

struct channel {
	pid_t pid;
	int socket;
	int log;      /* what the helper prints: a file without a name */
	char *buffer; /* received and not yet taken: [at, end) */
	size_t at, end;
	bool is_broken;
	char trouble[512]; /* why, once it is broken */
};

struct gp_torch_cuda;

/* Starts the helper of a prepared engine, under these settings; the one on that
 * runtime unless it is NULL. */
enum gp_status channel_open(struct channel *channel, const char *folder,
			    const struct gp_torch_cuda *cuda, const char *conf,
			    struct gp_diag *diag);
/* Ends the helper; also of a zeroed or broken one. */
void channel_close(struct channel *channel);

/* false: the helper is gone, and trouble says why. */
bool channel_send(struct channel *channel, const void *data, size_t size);
bool channel_receive(struct channel *channel, void *data, size_t size);

#endif
