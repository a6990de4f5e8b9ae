/* SPDX-License-Identifier: MIT */
/*
 * NCCL's collectives.  Ranks that are recorded together get each other's bytes,
 * where they are kept (exchange.h).  For a rank that is alone they succeed at
 * once, and what comes from others is what this one sent, so that what ranks
 * check of each other agrees.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/kept.h"
#include "simcuda/memory.h"
#include "simcuda/program/comm.h"
#include "simcuda/program/elements.h"
#include "simcuda/stream.h"

#define SUCCESS		 0
#define INVALID_ARGUMENT 4

static size_t bytes_of(size_t count, int type)
{
	return count * elements_bytes(type);
}

/* Work on the stream, after which `copies` of what was sent lie one behind the
 * other; 0: nothing is received. */
static int collect(uint64_t to, uint64_t from, size_t size, int copies,
		   void *stream)
{
	process_lock();
	stream_work((uintptr_t)stream);
	for (int i = 0; i < copies; i++)
		if (to + (uint64_t)i * size != from)
			memory_move(to + (uint64_t)i * size, from, size);
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

/* What others would have sent is not known, whatever lies there. */
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

/* With the others, or alone: then `copies` of size bytes of one's own. */
static int collective(const struct comm *comm, const struct exchange *what,
		      uint64_t from, size_t size, int copies)
{
	if (collect_from_all(comm, what))
		return SUCCESS;
	collect(what->to, from, size, copies, what->stream);
	doubt(comm, what);
	return SUCCESS;
}

int ncclAllGather(uint64_t from, uint64_t to, size_t count, int type,
		  const struct comm *comm, void *stream);
int ncclAllGather(uint64_t from, uint64_t to, size_t count, int type,
		  const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	const struct exchange what = { .kind = EXCHANGE_GATHER,
				       .from = from,
				       .sent = size,
				       .root = EXCHANGE_ALL,
				       .to = to,
				       .part = size,
				       .stream = stream };

	return collective(comm, &what, from, size, comm->ranks);
}

int ncclAllReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
		  const struct comm *comm, void *stream);
int ncclAllReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
		  const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	const struct exchange what = { .kind = EXCHANGE_REDUCE,
				       .from = from,
				       .sent = size,
				       .root = EXCHANGE_ALL,
				       .to = to,
				       .part = size,
				       .type = type,
				       .op = op,
				       .stream = stream };

	return collective(comm, &what, from, size, 1);
}

/* This rank's part of what was sent. */
int ncclReduceScatter(uint64_t from, uint64_t to, size_t count, int type,
		      int op, const struct comm *comm, void *stream);
int ncclReduceScatter(uint64_t from, uint64_t to, size_t count, int type,
		      int op, const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	uint64_t offset = (uint64_t)comm->rank * size;
	const struct exchange what = { .kind = EXCHANGE_REDUCE,
				       .from = from,
				       .sent = size * (size_t)comm->ranks,
				       .root = EXCHANGE_ALL,
				       .to = to,
				       .part = size,
				       .offset = offset,
				       .type = type,
				       .op = op,
				       .stream = stream };

	return collective(comm, &what, from + offset, size, 1);
}

/* A gather may be made of broadcasts in one group, one from each rank: those
 * of the others then give what this rank's gives. */
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

static void wait_for_group(uint64_t to, size_t size)
{
	if (group.count == MOST_GROUPED)
		return;
	group.waiting = gp_mem_grow(group.waiting, &group.room, group.count + 1,
				    sizeof(*group.waiting));
	group.waiting[group.count++] = (struct broadcast){ to, size };
}

static void end_group(void)
{
	process_lock();
	for (size_t i = 0; group.sent && i < group.count; i++)
		if (group.waiting[i].size == group.size) {
			memory_move(group.waiting[i].to, group.sent,
				    group.size);
			kept_doubt(group.waiting[i].to, group.size);
		}
	process_unlock();
	free(group.waiting);
	memset(&group, 0, sizeof(group));
}

int ncclGroupStart(void);
int ncclGroupStart(void)
{
	static _Atomic uint64_t count;

	if (!group.depth++)
		group.number = ++count;
	return SUCCESS;
}

int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
	if (--group.depth <= 0)
		end_group();
	return SUCCESS;
}

int ncclBroadcast(uint64_t from, uint64_t to, size_t count, int type, int root,
		  const struct comm *comm, void *stream);
int ncclBroadcast(uint64_t from, uint64_t to, size_t count, int type, int root,
		  const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	const struct exchange what = { .kind = EXCHANGE_GATHER,
				       .from = from,
				       .sent = root == comm->rank ? size : 0,
				       .root = root,
				       .to = to,
				       .part = size,
				       .stream = stream,
				       .group =
					       group.depth ? group.number : 0 };

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
	      const struct comm *comm, void *stream);
int ncclBcast(uint64_t buffer, size_t count, int type, int root,
	      const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	const struct exchange what = { .kind = root == comm->rank
						       ? EXCHANGE_NOTHING
						       : EXCHANGE_GATHER,
				       .from = buffer,
				       .sent = root == comm->rank ? size : 0,
				       .root = root,
				       .to = buffer,
				       .part = size,
				       .stream = stream };

	return collective(comm, &what, buffer, 0, 0);
}

int ncclReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
	       int root, const struct comm *comm, void *stream);
int ncclReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
	       int root, const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	const struct exchange what = { .kind = root == comm->rank
						       ? EXCHANGE_REDUCE
						       : EXCHANGE_NOTHING,
				       .from = from,
				       .sent = size,
				       .root = EXCHANGE_ALL,
				       .to = to,
				       .part = size,
				       .type = type,
				       .op = op,
				       .stream = stream };

	return collective(comm, &what, from, size, root == comm->rank);
}

int ncclGather(uint64_t from, uint64_t to, size_t count, int type, int root,
	       const struct comm *comm, void *stream);
int ncclGather(uint64_t from, uint64_t to, size_t count, int type, int root,
	       const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	const struct exchange what = { .kind = root == comm->rank
						       ? EXCHANGE_GATHER
						       : EXCHANGE_NOTHING,
				       .from = from,
				       .sent = size,
				       .root = EXCHANGE_ALL,
				       .to = to,
				       .part = size,
				       .stream = stream };

	return collective(comm, &what, from, size,
			  root == comm->rank ? comm->ranks : 0);
}

int ncclScatter(uint64_t from, uint64_t to, size_t count, int type, int root,
		const struct comm *comm, void *stream);
int ncclScatter(uint64_t from, uint64_t to, size_t count, int type, int root,
		const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);
	uint64_t offset = (uint64_t)comm->rank * size;
	bool sends = root == comm->rank;
	const struct exchange what = {
		.kind = EXCHANGE_GATHER,
		.from = from,
		.sent = sends ? size * (size_t)comm->ranks : 0,
		.root = root,
		.to = to,
		.part = size,
		.offset = offset,
		.stream = stream,
	};

	return collective(comm, &what, from + offset, size, sends);
}

int ncclAlltoAll(uint64_t from, uint64_t to, size_t count, int type,
		 const struct comm *comm, void *stream);
int ncclAlltoAll(uint64_t from, uint64_t to, size_t count, int type,
		 const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type), ranks = (size_t)comm->ranks;
	const struct exchange what = { .kind = EXCHANGE_GATHER,
				       .from = from,
				       .sent = size * ranks,
				       .root = EXCHANGE_ALL,
				       .to = to,
				       .part = size,
				       .offset = (uint64_t)comm->rank * size,
				       .stream = stream };

	return collective(comm, &what, from, size * ranks, 1);
}

int ncclSend(uint64_t from, size_t count, int type, int peer, struct comm *comm,
	     void *stream);
int ncclSend(uint64_t from, size_t count, int type, int peer, struct comm *comm,
	     void *stream)
{
	if (peer < 0 || peer >= comm->ranks)
		return INVALID_ARGUMENT;
	exchange_send(comm_send_line(comm, peer), from, bytes_of(count, type));
	return collect(from, from, 0, 0, stream);
}

int ncclRecv(uint64_t to, size_t count, int type, int peer, struct comm *comm,
	     void *stream);
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
	if (!exchange(comm_receive_line(comm, peer), &what))
		doubt(comm, &what);
	return collect(to, to, 0, 0, stream);
}
