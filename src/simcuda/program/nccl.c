/* SPDX-License-Identifier: MIT */
/*
 * NCCL: communicators.  The processes of a job that are recorded together have
 * a mailbox for each communicator (exchange.h); a process that is the only one
 * is alone in all of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "simcuda/memory.h"
#include "simcuda/program/comm.h"
#include "simcuda/program/versions.h"

#define SUCCESS		 0
#define SYSTEM_ERROR	 2
#define INVALID_ARGUMENT 4
#define SPLIT_NOCOLOR	 (-1)

struct unique_id {
	char bytes[128];
};

int ncclGetVersion(int *version);
int ncclGetVersion(int *version)
{
	*version = (int)versions_nccl();
	return SUCCESS;
}

/* ---- names, which all ranks of a communicator know ---- */

static const char id_prefix[] = "gpupool-";

int ncclGetUniqueId(struct unique_id *id);
int ncclGetUniqueId(struct unique_id *id)
{
	static _Atomic unsigned count;

	memset(id, 0, sizeof(*id));
	snprintf(id->bytes, COMM_NAME / 2, "%s%ld-%u", id_prefix,
		 (long)getpid(), ++count);
	return SUCCESS;
}

/* It came through the program: what is no name of ours is none at all. */
static void name_by_id(char *name, const struct unique_id *id)
{
	size_t prefix = sizeof(id_prefix) - 1;
	size_t length = strnlen(id->bytes, COMM_NAME / 2);

	*name = 0;
	if (length < COMM_NAME / 2 && !memcmp(id->bytes, id_prefix, prefix) &&
	    strspn(id->bytes + prefix, "0123456789-") == length - prefix)
		memcpy(name, id->bytes, length + 1);
}

/* A child's name follows from what all of its ranks know; "" without room. */
static void name_child(char *name, struct comm *of, char kind, int color)
{
	int n = snprintf(name, COMM_NAME, "%s%c%u.%d", of->name, kind,
			 ++of->children, color);

	if (!*of->name || n >= COMM_NAME)
		*name = 0;
}

/* ---- communicators ---- */

static struct comm *make(const char *name, int ranks, int rank)
{
	struct comm *comm = gp_mem_alloc(1, sizeof(*comm));

	*comm = (struct comm){ .ranks = ranks,
			       .rank = rank,
			       .device = process_current_device() };
	snprintf(comm->name, sizeof(comm->name), "%s", name);
	comm->line = line_open(*name ? name : NULL, ranks, rank);
	comm->sends = gp_mem_alloc((size_t)ranks, sizeof(struct line *));
	comm->receives = gp_mem_alloc((size_t)ranks, sizeof(struct line *));
	return comm;
}

/* Two ranks, of which the first sends. */
static struct line *pair(struct comm *comm, int from, int to, bool sends)
{
	char name[COMM_NAME + 32];

	snprintf(name, sizeof(name), "%sfrom%dto%d", comm->name, from, to);
	return line_open(comm->line->is_alone ? NULL : name, 2, !sends);
}

struct line *comm_send_line(struct comm *comm, int peer)
{
	if (!comm->sends[peer])
		comm->sends[peer] = pair(comm, comm->rank, peer, true);
	return comm->sends[peer];
}

struct line *comm_receive_line(struct comm *comm, int peer)
{
	if (!comm->receives[peer])
		comm->receives[peer] = pair(comm, peer, comm->rank, false);
	return comm->receives[peer];
}

static int init(struct comm **comm, int ranks, const struct unique_id *id,
		int rank)
{
	char name[COMM_NAME];

	if (ranks < 1 || rank < 0 || rank >= ranks)
		return INVALID_ARGUMENT;
	name_by_id(name, id);
	*comm = make(ranks > 1 ? name : "", ranks, rank);
	return SUCCESS;
}

int ncclCommInitRank(struct comm **comm, int ranks, struct unique_id id,
		     int rank);
int ncclCommInitRank(struct comm **comm, int ranks, struct unique_id id,
		     int rank)
{
	return init(comm, ranks, &id, rank);
}

int ncclCommInitRankConfig(struct comm **comm, int ranks, struct unique_id id,
			   int rank, void *config);
int ncclCommInitRankConfig(struct comm **comm, int ranks, struct unique_id id,
			   int rank, void *config)
{
	(void)config;
	return init(comm, ranks, &id, rank);
}

int ncclCommInitRankScalable(struct comm **comm, int ranks, int rank,
			     int id_count, struct unique_id *ids, void *config);
int ncclCommInitRankScalable(struct comm **comm, int ranks, int rank,
			     int id_count, struct unique_id *ids, void *config)
{
	(void)id_count;
	(void)config;
	return init(comm, ranks, ids, rank);
}

/* All of them are this process's. */
int ncclCommInitAll(struct comm **comms, int count, const int *devices);
int ncclCommInitAll(struct comm **comms, int count, const int *devices)
{
	for (int i = 0; i < count; i++) {
		comms[i] = make("", count, i);
		comms[i]->device = devices ? devices[i] : i;
	}
	return SUCCESS;
}

struct choice {
	int color, key;
};

/* Ranks with the same color, in the order of their keys.  Who is alone takes
 * all to have chosen as it did. */
static void place_among(const struct choice *all, const struct comm *from,
			int *ranks, int *rank)
{
	struct choice mine = all[from->rank];

	*ranks = *rank = 0;
	for (int i = 0; i < from->ranks; i++) {
		if (all[i].color != mine.color)
			continue;
		++*ranks;
		*rank += all[i].key < mine.key ||
			 (all[i].key == mine.key && i < from->rank);
	}
}

int ncclCommSplit(struct comm *from, int color, int key, struct comm **comm,
		  void *config);
int ncclCommSplit(struct comm *from, int color, int key, struct comm **comm,
		  void *config)
{
	struct choice mine = { color, key }, *all;
	int ranks = from->ranks, rank = from->rank;
	char name[COMM_NAME];

	(void)config;
	*comm = NULL;
	all = gp_mem_alloc((size_t)ranks, sizeof(*all));
	if (exchange_values(from->line, &mine, all, sizeof(mine)))
		place_among(all, from, &ranks, &rank);
	free(all);
	name_child(name, from, 's', color);
	if (color != SPLIT_NOCOLOR)
		*comm = make(name, ranks, rank);
	return SUCCESS;
}

int ncclCommShrink(struct comm *from, int *excluded, int excluded_count,
		   struct comm **comm, void *config, int flags);
int ncclCommShrink(struct comm *from, int *excluded, int excluded_count,
		   struct comm **comm, void *config, int flags)
{
	char name[COMM_NAME];
	int before = 0;

	(void)config;
	(void)flags;
	for (int i = 0; i < excluded_count; i++)
		before += excluded[i] < from->rank;
	name_child(name, from, 'x', 0);
	*comm = make(name, from->ranks - excluded_count, from->rank - before);
	return SUCCESS;
}

static void close_all(struct line **lines, int count)
{
	for (int i = 0; i < count; i++)
		line_close(lines[i]);
	free(lines);
}

static int end(struct comm *comm)
{
	if (!comm)
		return SUCCESS;
	close_all(comm->sends, comm->ranks);
	close_all(comm->receives, comm->ranks);
	line_close(comm->line);
	free(comm);
	return SUCCESS;
}

int ncclCommDestroy(struct comm *comm);
int ncclCommDestroy(struct comm *comm)
{
	return end(comm);
}

int ncclCommAbort(struct comm *comm);
int ncclCommAbort(struct comm *comm)
{
	return end(comm);
}

int ncclCommCount(const struct comm *comm, int *count);
int ncclCommCount(const struct comm *comm, int *count)
{
	*count = comm->ranks;
	return SUCCESS;
}

int ncclCommUserRank(const struct comm *comm, int *rank);
int ncclCommUserRank(const struct comm *comm, int *rank)
{
	*rank = comm->rank;
	return SUCCESS;
}

int ncclCommCuDevice(const struct comm *comm, int *device);
int ncclCommCuDevice(const struct comm *comm, int *device)
{
	*device = comm->device;
	return SUCCESS;
}

int ncclCommGetAsyncError(const struct comm *comm, int *error);
int ncclCommGetAsyncError(const struct comm *comm, int *error)
{
	(void)comm;
	*error = SUCCESS;
	return SUCCESS;
}

/* ---- memory ---- */

int ncclMemAlloc(void **pointer, size_t size);
int ncclMemAlloc(void **pointer, size_t size)
{
	return cudaMalloc(pointer, size) == cudaSuccess ? SUCCESS
							: SYSTEM_ERROR;
}

int ncclMemFree(void *pointer);
int ncclMemFree(void *pointer)
{
	return cudaFree(pointer) == cudaSuccess ? SUCCESS : SYSTEM_ERROR;
}

#define REGISTRATIONS(X)                                                       \
	X(ncclCommRegister)                                                    \
	X(ncclCommWindowRegister)

#define REGISTRATION(name)                                                     \
	int name(void *comm, void *buffer, size_t size, void **handle);        \
	int name(void *comm, void *buffer, size_t size, void **handle)         \
	{                                                                      \
		(void)size;                                                    \
		(void)buffer;                                                  \
		*handle = comm;                                                \
		return SUCCESS;                                                \
	}
REGISTRATIONS(REGISTRATION)
