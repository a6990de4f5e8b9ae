/* SPDX-License-Identifier: MIT */
/*
 * The file: a head for each rank, then for each the bytes of its messages, one
 * behind the other and from the beginning again.  Only its own rank writes what
 * belongs to a rank; numbers that only grow tell the others how far it is.
 */
#include "simcuda/program/mailbox.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "simcuda/program/peers.h"

#define MESSAGES   256 /* of a rank that are there at a time */
#define RING	   (2 * MAILBOX_MOST)
#define MOST_RANKS 4096

struct message {
	uint64_t at; /* bytes that were written before it */
	uint64_t size;
	bool is_known;
};

struct head {
	_Atomic int64_t process; /* 0: it has not come yet */
	_Atomic uint64_t posted;
	_Atomic uint64_t done;
	uint64_t end; /* bytes written */
	struct message messages[MESSAGES];
};

struct mailbox {
	int ranks, rank;
	size_t size;
	struct head *heads;
	char *rings;
	char path[PATH_MAX];
};

static bool map(struct mailbox *c)
{
	int file = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *at = MAP_FAILED;

	if (file < 0)
		return false;
	if (!ftruncate(file, (off_t)c->size))
		at = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			  file, 0);
	close(file);
	if (at == MAP_FAILED)
		return false;
	c->heads = at;
	c->rings = (char *)at + (size_t)c->ranks * sizeof(struct head);
	return true;
}

struct mailbox *mailbox_open(const char *name, int ranks, int rank)
{
	const char *folder = peers_folder();
	struct mailbox *c;

	if (!folder || ranks < 1 || ranks > MOST_RANKS || rank < 0 ||
	    rank >= ranks)
		return NULL;
	c = gp_mem_alloc(1, sizeof(*c));
	*c = (struct mailbox){ .ranks = ranks, .rank = rank };
	c->size = (size_t)ranks * (sizeof(struct head) + RING);
	if ((size_t)snprintf(c->path, sizeof(c->path), "%s/%s.ranks", folder,
			     name) >= sizeof(c->path) ||
	    !map(c)) {
		free(c);
		return NULL;
	}
	atomic_store(&c->heads[rank].process, (int64_t)getpid());
	/* Nobody else will look for it. */
	if (mailbox_is_complete(c))
		unlink(c->path);
	return c;
}

void mailbox_close(struct mailbox *c)
{
	if (!c)
		return;
	munmap(c->heads, c->size);
	free(c);
}

static uint64_t done_by_all(const struct mailbox *c)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < c->ranks; i++) {
		uint64_t done = atomic_load(&c->heads[i].done);

		if (done < least)
			least = done;
	}
	return least;
}

/* Bytes of its messages that somebody may still read. */
static uint64_t bytes_in_use(const struct head *head, uint64_t done,
			     uint64_t posted)
{
	return done < posted ? head->end - head->messages[done % MESSAGES].at
			     : 0;
}

static void put(char *ring, uint64_t at, const char *bytes, uint64_t size)
{
	uint64_t first = at % RING;
	uint64_t n = size < RING - first ? size : RING - first;

	memcpy(ring + first, bytes, n);
	memcpy(ring, bytes + n, size - n);
}

static void get(const char *ring, uint64_t at, char *bytes, uint64_t size)
{
	uint64_t first = at % RING;
	uint64_t n = size < RING - first ? size : RING - first;

	memcpy(bytes, ring + first, n);
	memcpy(bytes + n, ring, size - n);
}

bool mailbox_post(struct mailbox *c, const void *bytes, uint64_t size,
		  bool is_known)
{
	struct head *head = &c->heads[c->rank];
	uint64_t posted = atomic_load(&head->posted);
	uint64_t done = done_by_all(c);

	if (!bytes || size > MAILBOX_MOST)
		size = 0;
	if (posted >= done + MESSAGES ||
	    bytes_in_use(head, done, posted) + size > RING)
		return false;
	head->messages[posted % MESSAGES] =
		(struct message){ head->end, size, is_known };
	if (size)
		put(c->rings + (size_t)c->rank * RING, head->end, bytes, size);
	head->end += size;
	atomic_store(&head->posted, posted + 1);
	return true;
}

uint64_t mailbox_posted(const struct mailbox *c, int rank)
{
	return atomic_load(&c->heads[rank].posted);
}

bool mailbox_read(const struct mailbox *c, int rank, uint64_t number,
		  uint64_t from, void *to, uint64_t size)
{
	struct message m = c->heads[rank].messages[number % MESSAGES];

	memset(to, 0, size);
	if (from > m.size || size > m.size - from || !size)
		return false;
	get(c->rings + (size_t)rank * RING, m.at + from, to, size);
	return true;
}

bool mailbox_is_known(const struct mailbox *c, int rank, uint64_t number)
{
	return c->heads[rank].messages[number % MESSAGES].is_known;
}

void mailbox_done(struct mailbox *c, uint64_t number)
{
	if (number > atomic_load(&c->heads[c->rank].done))
		atomic_store(&c->heads[c->rank].done, number);
}

bool mailbox_is_deserted(const struct mailbox *c)
{
	for (int i = 0; i < c->ranks; i++) {
		int64_t process = atomic_load(&c->heads[i].process);

		if (process && !peers_is_alive(process))
			return true;
	}
	return false;
}

bool mailbox_is_complete(const struct mailbox *c)
{
	for (int i = 0; i < c->ranks; i++)
		if (!atomic_load(&c->heads[i].process))
			return false;
	return true;
}

uint64_t mailbox_progress(const struct mailbox *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < c->ranks; i++)
		sum += atomic_load(&c->heads[i].posted) +
		       atomic_load(&c->heads[i].done) +
		       (atomic_load(&c->heads[i].process) != 0);
	return sum;
}
