/* SPDX-License-Identifier: MIT */
/*
 * NCCL: communicators and collectives. Processes of a job that are recorded
 * together have a mailbox for each communicator (exchange.h). A process that is
 * recorded by itself is alone in all of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "simcuda/kept.h"
#include "simcuda/memory.h"
#include "simcuda/program/elements.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/exchange.h"
#include "simcuda/program/torch.h"
#include "simcuda/program/watchdog.h"
#include "simcuda/stream.h"

/* Programs call these through CUDA's own declarations; few arguments matter. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SUCCESS		 0
#define SYSTEM_ERROR	 2
#define INVALID_ARGUMENT 4
#define SPLIT_NOCOLOR	 (-1)

#define COMM_NAME 96

struct comm {
	int ranks, rank, device;
	char name[COMM_NAME]; /* of its mailbox; "": it is alone */
	unsigned children;
	struct line *line;	/* of its collectives */
	struct line **sends;	/* to each rank; NULL: none was sent yet */
	struct line **receives; /* from each rank */
};

struct unique_id {
	char bytes[128];
};

int ncclGetVersion(int *version)
{
	*version = (int)versions_nccl();
	return SUCCESS;
}

/* ---- names that all ranks of a communicator agree on ---- */

static const char id_prefix[] = "gpupool-";

int ncclGetUniqueId(struct unique_id *id)
{
	static _Atomic unsigned count;

	memset(id, 0, sizeof(*id));
	snprintf(id->bytes, COMM_NAME / 2, "%s%ld-%u", id_prefix,
		 (long)getpid(), ++count);
	return SUCCESS;
}

/* The id came through the program: one that was not made here gives no name. */
static void name_by_id(char *name, const struct unique_id *id)
{
	size_t prefix = sizeof(id_prefix) - 1;
	size_t length = strnlen(id->bytes, COMM_NAME / 2);

	*name = 0;
	if (length < COMM_NAME / 2 && !memcmp(id->bytes, id_prefix, prefix) &&
	    strspn(id->bytes + prefix, "0123456789-") == length - prefix)
		memcpy(name, id->bytes, length + 1);
}

/* A child's name is made from what all of its ranks know; "": it is too long.
 */
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

/* A line between two ranks, of which the first sends. */
static struct line *pair(struct comm *comm, int from, int to, bool sends)
{
	char name[COMM_NAME + 32];

	snprintf(name, sizeof(name), "%sfrom%dto%d", comm->name, from, to);
	return line_open(comm->line->is_alone ? NULL : name, 2, !sends);
}

/* The line to a rank, or from it; created on first use. */
static struct line *comm_send_line(struct comm *comm, int peer)
{
	if (!comm->sends[peer])
		comm->sends[peer] = pair(comm, comm->rank, peer, true);
	return comm->sends[peer];
}

static struct line *comm_receive_line(struct comm *comm, int peer)
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
		     int rank)
{
	return init(comm, ranks, &id, rank);
}

int ncclCommInitRankConfig(struct comm **comm, int ranks, struct unique_id id,
			   int rank, void *config)
{
	return init(comm, ranks, &id, rank);
}

int ncclCommInitRankScalable(struct comm **comm, int ranks, int rank,
			     int id_count, struct unique_id *ids, void *config)
{
	return init(comm, ranks, ids, rank);
}

/* All of them belong to this process. */
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

/* The ranks with the same color, ordered by their keys. A rank that is alone
 * assumes that all others chose the same. */
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
		  void *config)
{
	struct choice mine = { color, key }, *all;
	int ranks = from->ranks, rank = from->rank;
	char name[COMM_NAME];

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
		   struct comm **comm, void *config, int flags)
{
	char name[COMM_NAME];
	int before = 0;

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

int ncclCommDestroy(struct comm *comm)
{
	return end(comm);
}

int ncclCommAbort(struct comm *comm)
{
	return end(comm);
}

int ncclCommCount(const struct comm *comm, int *count)
{
	*count = comm->ranks;
	return SUCCESS;
}

int ncclCommUserRank(const struct comm *comm, int *rank)
{
	*rank = comm->rank;
	return SUCCESS;
}

int ncclCommCuDevice(const struct comm *comm, int *device)
{
	*device = comm->device;
	return SUCCESS;
}

int ncclCommGetAsyncError(const struct comm *comm, int *error)
{
	*error = SUCCESS;
	return SUCCESS;
}

/* ---- memory ---- */

int ncclMemAlloc(void **pointer, size_t size)
{
	return cudaMalloc(pointer, size) == cudaSuccess ? SUCCESS
							: SYSTEM_ERROR;
}

int ncclMemFree(void *pointer)
{
	return cudaFree(pointer) == cudaSuccess ? SUCCESS : SYSTEM_ERROR;
}

#define REGISTRATIONS(X)                                                       \
	X(ncclCommRegister)                                                    \
	X(ncclCommWindowRegister)

#define REGISTRATION(name)                                                     \
	int name(void *comm, void *buffer, size_t size, void **handle)         \
	{                                                                      \
		*handle = comm;                                                \
		return SUCCESS;                                                \
	}
REGISTRATIONS(REGISTRATION)

/* ---- collectives ---- */

/*
 * Ranks that are recorded together get each other's bytes, as far as these are
 * kept (exchange.h). For a rank that is alone, collectives succeed at once. It
 * gets what it sent itself in place of the others' data, so that values which
 * ranks compare with each other agree.
 */

static size_t bytes_of(size_t count, int type)
{
	return count * elements_bytes(type);
}

/* Work on the stream that writes `copies` of what was sent, one after the
 * other; 0: nothing is received. */
static int collect(uint64_t to, uint64_t from, size_t size, int copies,
		   void *stream)
{
	process_lock();
	stream_work((uintptr_t)stream);
	for (int i = 0; i < copies; i++)
		if (to + (uint64_t)i * size != from)
			kept_move(to + (uint64_t)i * size, from, size);
	process_unlock();
	return SUCCESS;
}

/* The same with the other ranks; false: there are none. */
static bool collect_from_all(const struct comm *comm,
			     const struct exchange *what)
{
	if (!exchange(comm->line, what))
		return false;
	collect(0, 0, 0, 0, what->stream);
	return true;
}

/* What other ranks would have sent is not known. */
static void doubt(const struct comm *comm, const struct exchange *what)
{
	uint64_t parts =
		what->kind == EXCHANGE_GATHER && what->root == EXCHANGE_ALL
			? (uint64_t)comm->ranks
			: 1;

	if (comm->ranks == 1 || what->kind == EXCHANGE_NOTHING)
		return;
	process_lock();
	for (uint64_t i = 0; i < parts; i++)
		kept_doubt(what->to + i * what->part, what->part);
	process_unlock();
}

/* A gather may consist of broadcasts in one group, one from each rank. For a
 * rank that is alone, all of them give what its own gives. */
#define MOST_GROUPED 4096

struct broadcast {
	uint64_t to;
	size_t size;
};

static _Thread_local struct {
	int depth;
	uint64_t number;
	uint64_t sent; /* 0: nothing */
	size_t size;
	struct broadcast *waiting;
	size_t count, room;
} group;

/* Once per group. */
static void look_before(void)
{
	if (!group.depth)
		watchdog_look();
}

/* With the other ranks; or alone, then with `copies` of this rank's bytes. */
static int collective(const struct comm *comm, const struct exchange *what,
		      uint64_t from, size_t size, int copies)
{
	look_before();
	owners_collective(what->from);
	owners_collective(what->to);
	if (collect_from_all(comm, what))
		return SUCCESS;
	collect(what->to, from, size, copies, what->stream);
	doubt(comm, what);
	return SUCCESS;
}

/* Every rank sends a part, and receives one of each; callers set what is
 * different. */
static struct exchange part_of_all(enum exchange_kind kind, uint64_t from,
				   uint64_t to, size_t size, void *stream)
{
	return (struct exchange){ .kind = kind,
				  .from = from,
				  .sent = size,
				  .root = EXCHANGE_ALL,
				  .to = to,
				  .part = size,
				  .stream = stream };
}

int ncclAllGather(uint64_t from, uint64_t to, size_t count, int type,
		  const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	struct exchange what =
		part_of_all(EXCHANGE_GATHER, from, to, size, stream);

	return collective(comm, &what, from, size, comm->ranks);
}

int ncclAllReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
		  const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	struct exchange what =
		part_of_all(EXCHANGE_REDUCE, from, to, size, stream);

	what.type = type;
	what.op = op;
	return collective(comm, &what, from, size, 1);
}

/* Receives this rank's part of the reduction. */
int ncclReduceScatter(uint64_t from, uint64_t to, size_t count, int type,
		      int op, const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	uint64_t offset = (uint64_t)comm->rank * size;
	struct exchange what =
		part_of_all(EXCHANGE_REDUCE, from, to, size, stream);

	what.sent = size * (size_t)comm->ranks;
	what.offset = offset;
	what.type = type;
	what.op = op;
	return collective(comm, &what, from + offset, size, 1);
}

static void wait_for_group(uint64_t to, size_t size)
{
	if (group.count == MOST_GROUPED)
		return;
	GP_GROW(group.waiting, group.count + 1, group.room);
	group.waiting[group.count++] = (struct broadcast){ to, size };
}

static void end_group(void)
{
	process_lock();
	for (size_t i = 0; group.sent && i < group.count; i++)
		if (group.waiting[i].size == group.size) {
			kept_move(group.waiting[i].to, group.sent, group.size);
			kept_doubt(group.waiting[i].to, group.size);
		}
	process_unlock();
	free(group.waiting);
	memset(&group, 0, sizeof(group));
}

int ncclGroupStart(void)
{
	static _Atomic uint64_t count;

	look_before();
	if (!group.depth++)
		group.number = ++count;
	return SUCCESS;
}

int ncclGroupEnd(void)
{
	if (--group.depth <= 0)
		end_group();
	return SUCCESS;
}

int ncclBroadcast(uint64_t from, uint64_t to, size_t count, int type, int root,
		  const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	struct exchange what =
		part_of_all(EXCHANGE_GATHER, from, to, size, stream);

	what.sent = root == comm->rank ? size : 0;
	what.root = root;
	what.group = group.depth ? group.number : 0;
	look_before();
	if (collect_from_all(comm, &what))
		return SUCCESS;
	if (root == comm->rank && group.depth) {
		group.sent = from;
		group.size = size;
	} else if (group.depth) {
		wait_for_group(to, size);
	}
	collect(to, from, size, root == comm->rank, stream);
	if (root != comm->rank)
		doubt(comm, &what);
	return SUCCESS;
}

int ncclBcast(uint64_t buffer, size_t count, int type, int root,
	      const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	bool sends = root == comm->rank;
	struct exchange what =
		part_of_all(sends ? EXCHANGE_NOTHING : EXCHANGE_GATHER, buffer,
			    buffer, size, stream);

	what.sent = sends ? size : 0;
	what.root = root;
	return collective(comm, &what, buffer, 0, 0);
}

int ncclReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
	       int root, const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	struct exchange what = part_of_all(
		root == comm->rank ? EXCHANGE_REDUCE : EXCHANGE_NOTHING, from,
		to, size, stream);

	what.type = type;
	what.op = op;
	return collective(comm, &what, from, size, root == comm->rank);
}

int ncclGather(uint64_t from, uint64_t to, size_t count, int type, int root,
	       const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	struct exchange what = part_of_all(
		root == comm->rank ? EXCHANGE_GATHER : EXCHANGE_NOTHING, from,
		to, size, stream);

	return collective(comm, &what, from, size,
			  root == comm->rank ? comm->ranks : 0);
}

int ncclScatter(uint64_t from, uint64_t to, size_t count, int type, int root,
		const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	uint64_t offset = (uint64_t)comm->rank * size;
	bool sends = root == comm->rank;
	struct exchange what =
		part_of_all(EXCHANGE_GATHER, from, to, size, stream);

	what.sent = sends ? size * (size_t)comm->ranks : 0;
	what.root = root;
	what.offset = offset;
	return collective(comm, &what, from + offset, size, sends);
}

int ncclAlltoAll(uint64_t from, uint64_t to, size_t count, int type,
		 const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type), ranks = (size_t)comm->ranks;
	struct exchange what =
		part_of_all(EXCHANGE_GATHER, from, to, size, stream);

	what.sent = size * ranks;
	what.offset = (uint64_t)comm->rank * size;
	return collective(comm, &what, from, size * ranks, 1);
}

int ncclSend(uint64_t from, size_t count, int type, int peer, struct comm *comm,
	     void *stream)
{
	if (peer < 0 || peer >= comm->ranks)
		return INVALID_ARGUMENT;
	look_before();
	exchange_send(comm_send_line(comm, peer), from, bytes_of(count, type));
	return collect(from, from, 0, 0, stream);
}

int ncclRecv(uint64_t to, size_t count, int type, int peer, struct comm *comm,
	     void *stream)
{
	const struct exchange what = { .kind = EXCHANGE_GATHER,
				       .is_silent = true,
				       .to = to,
				       .part = bytes_of(count, type),
				       .stream = stream };

	if (peer < 0 || peer >= comm->ranks)
		return INVALID_ARGUMENT;
	look_before();
	if (!exchange(comm_receive_line(comm, peer), &what))
		doubt(comm, &what);
	return collect(to, to, 0, 0, stream);
}
