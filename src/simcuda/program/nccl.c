/*
 * NCCL: communicators, and collectives that succeed at once.  The processes of
 * a job do not talk to each other here: what comes from other ranks is what
 * this one sent, as far as its bytes are kept (kept.h), so that what ranks
 * check of each other agrees.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/memory.h"
#include "simcuda/program/versions.h"
#include "simcuda/stream.h"

#define SUCCESS	      0
#define SYSTEM_ERROR  2
#define SPLIT_NOCOLOR (-1)

struct comm {
	int ranks, rank, device;
};

struct unique_id {
	char bytes[128];
};

int ncclGetVersion(int *version);
int ncclGetVersion(int *version)
{
	*version = (int)versions_nccl();
	return SUCCESS;
}

/* ---- communicators ---- */

static int make(struct comm **comm, int ranks, int rank)
{
	*comm = gp_mem_alloc(1, sizeof(**comm));
	**comm = (struct comm){ ranks, rank, process_current_device() };
	return SUCCESS;
}

int ncclCommInitRank(struct comm **comm, int ranks, struct unique_id id,
		     int rank);
int ncclCommInitRank(struct comm **comm, int ranks, struct unique_id id,
		     int rank)
{
	(void)id;
	return make(comm, ranks, rank);
}

int ncclCommInitRankConfig(struct comm **comm, int ranks, struct unique_id id,
			   int rank, void *config);
int ncclCommInitRankConfig(struct comm **comm, int ranks, struct unique_id id,
			   int rank, void *config)
{
	(void)id;
	(void)config;
	return make(comm, ranks, rank);
}

int ncclCommInitRankScalable(struct comm **comm, int ranks, int rank,
			     int id_count, struct unique_id *ids, void *config);
int ncclCommInitRankScalable(struct comm **comm, int ranks, int rank,
			     int id_count, struct unique_id *ids, void *config)
{
	(void)id_count;
	(void)ids;
	(void)config;
	return make(comm, ranks, rank);
}

int ncclCommInitAll(struct comm **comms, int count, const int *devices);
int ncclCommInitAll(struct comm **comms, int count, const int *devices)
{
	for (int i = 0; i < count; i++) {
		make(&comms[i], count, i);
		comms[i]->device = devices ? devices[i] : i;
	}
	return SUCCESS;
}

/* How many ranks have the same color is known to all of them together only:
 * taken to be all. */
int ncclCommSplit(struct comm *from, int color, int key, struct comm **comm,
		  void *config);
int ncclCommSplit(struct comm *from, int color, int key, struct comm **comm,
		  void *config)
{
	(void)key;
	(void)config;
	*comm = NULL;
	return color == SPLIT_NOCOLOR ? SUCCESS
				      : make(comm, from->ranks, from->rank);
}

int ncclCommShrink(struct comm *from, int *excluded, int excluded_count,
		   struct comm **comm, void *config, int flags);
int ncclCommShrink(struct comm *from, int *excluded, int excluded_count,
		   struct comm **comm, void *config, int flags)
{
	int before = 0;

	(void)config;
	(void)flags;
	for (int i = 0; i < excluded_count; i++)
		before += excluded[i] < from->rank;
	return make(comm, from->ranks - excluded_count, from->rank - before);
}

#define ENDS(X)                                                                \
	X(ncclCommDestroy)                                                     \
	X(ncclCommAbort)

#define END(name)                                                              \
	int name(struct comm *comm);                                           \
	int name(struct comm *comm)                                            \
	{                                                                      \
		free(comm);                                                    \
		return SUCCESS;                                                \
	}
ENDS(END)

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

/* ---- collectives ---- */

/* ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, half, float,
 * double, bfloat16, float8 of two kinds */
static size_t bytes_of(size_t count, int type)
{
	static const unsigned char sizes[] = { 1, 1, 4, 4, 8, 8,
					       2, 4, 8, 2, 1, 1 };

	if (type < 0 || (size_t)type >= sizeof(sizes))
		return 0;
	return count * sizes[type];
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

int ncclAllGather(uint64_t from, uint64_t to, size_t count, int type,
		  const struct comm *comm, void *stream);
int ncclAllGather(uint64_t from, uint64_t to, size_t count, int type,
		  const struct comm *comm, void *stream)
{
	return collect(to, from, bytes_of(count, type), comm->ranks, stream);
}

int ncclAllReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
		  const struct comm *comm, void *stream);
int ncclAllReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
		  const struct comm *comm, void *stream)
{
	(void)op;
	(void)comm;
	return collect(to, from, bytes_of(count, type), 1, stream);
}

/* This rank's part of what it sent. */
int ncclReduceScatter(uint64_t from, uint64_t to, size_t count, int type,
		      int op, const struct comm *comm, void *stream);
int ncclReduceScatter(uint64_t from, uint64_t to, size_t count, int type,
		      int op, const struct comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);

	(void)op;
	return collect(to, from + (uint64_t)comm->rank * size, size, 1, stream);
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
		if (group.waiting[i].size == group.size)
			memory_move(group.waiting[i].to, group.sent,
				    group.size);
	process_unlock();
	free(group.waiting);
	memset(&group, 0, sizeof(group));
}

int ncclGroupStart(void);
int ncclGroupStart(void)
{
	group.depth++;
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

	if (root == comm->rank && group.depth) {
		group.sent = from;
		group.size = size;
	} else if (group.depth) {
		wait_for_group(to, size);
	}
	return collect(to, from, size, root == comm->rank, stream);
}

int ncclBcast(uint64_t buffer, size_t count, int type, int root,
	      const struct comm *comm, void *stream);
int ncclBcast(uint64_t buffer, size_t count, int type, int root,
	      const struct comm *comm, void *stream)
{
	(void)count;
	(void)type;
	(void)root;
	(void)comm;
	return collect(buffer, buffer, 0, 0, stream);
}

int ncclReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
	       int root, const struct comm *comm, void *stream);
int ncclReduce(uint64_t from, uint64_t to, size_t count, int type, int op,
	       int root, const struct comm *comm, void *stream)
{
	(void)op;
	return collect(to, from, bytes_of(count, type), root == comm->rank,
		       stream);
}

int ncclGather(uint64_t from, uint64_t to, size_t count, int type, int root,
	       const struct comm *comm, void *stream);
int ncclGather(uint64_t from, uint64_t to, size_t count, int type, int root,
	       const struct comm *comm, void *stream)
{
	return collect(to, from, bytes_of(count, type),
		       root == comm->rank ? comm->ranks : 0, stream);
}

int ncclAlltoAll(uint64_t from, uint64_t to, size_t count, int type,
		 const struct comm *comm, void *stream);
int ncclAlltoAll(uint64_t from, uint64_t to, size_t count, int type,
		 const struct comm *comm, void *stream)
{
	return collect(to, from, bytes_of(count, type) * (size_t)comm->ranks, 1,
		       stream);
}

int ncclSend(uint64_t from, size_t count, int type, int peer,
	     const struct comm *comm, void *stream);
int ncclSend(uint64_t from, size_t count, int type, int peer,
	     const struct comm *comm, void *stream)
{
	(void)count;
	(void)type;
	(void)peer;
	(void)comm;
	return collect(from, from, 0, 0, stream);
}

int ncclRecv(uint64_t to, size_t count, int type, int peer,
	     const struct comm *comm, void *stream);
int ncclRecv(uint64_t to, size_t count, int type, int peer,
	     const struct comm *comm, void *stream)
{
	(void)count;
	(void)type;
	(void)peer;
	(void)comm;
	return collect(to, to, 0, 0, stream);
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
