/* SPDX-License-Identifier: MIT */
#include "simcuda/program/exchange.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "simcuda/kept.h"
#include "simcuda/program/elements.h"
#include "simcuda/program/peers.h"
#include "simcuda/stream.h"

/*
 * ---- mailboxes ----
 *
 * Messages between the ranks of a job, in a file in the recording's folder that
 * all of them map. Each rank posts messages, numbered from 0, which all ranks
 * can read. The file's size is bounded: messages that all ranks have read are
 * overwritten. Not thread-safe.
 *
 * The file has a head for each rank, followed by a ring buffer for each rank
 * with the bytes of its messages. Only the rank itself writes its head and
 * ring; counters that only increase show the others how far it is.
 */

/* The most bytes in a message. */
#define MAILBOX_MOST ((uint64_t)1 << 20)

#define MESSAGES   256 /* of a rank, that exist at a time */
#define RING	   (2 * MAILBOX_MOST)
#define MOST_RANKS 4096

struct message {
	uint64_t at; /* offset: bytes written before it */
	uint64_t size;
	enum kept_state state; /* the weakest of its bytes */
};

struct head {
	_Atomic int64_t process; /* 0: it has not opened the file yet */
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

static bool mailbox_is_complete(const struct mailbox *c)
{
	for (int i = 0; i < c->ranks; i++)
		if (!atomic_load(&c->heads[i].process))
			return false;
	return true;
}

/* NULL: not possible. The name is the file's, without ".ranks". */
static struct mailbox *mailbox_open(const char *name, int ranks, int rank)
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
	/* Nobody else will open it. */
	if (mailbox_is_complete(c))
		unlink(c->path);
	return c;
}

static void mailbox_close(struct mailbox *c)
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

/* Bytes of messages that other ranks may still read. */
static uint64_t bytes_in_use(const struct head *head, uint64_t done,
			     uint64_t posted)
{
	return done < posted ? head->end - head->messages[done % MESSAGES].at
			     : 0;
}

static void put_in_ring(char *ring, uint64_t at, const char *bytes,
			uint64_t size)
{
	uint64_t first = at % RING;
	uint64_t n = size < RING - first ? size : RING - first;

	memcpy(ring + first, bytes, n);
	memcpy(ring, bytes + n, size - n);
}

static void take_from_ring(const char *ring, uint64_t at, char *bytes,
			   uint64_t size)
{
	uint64_t first = at % RING;
	uint64_t n = size < RING - first ? size : RING - first;

	memcpy(bytes, ring + first, n);
	memcpy(bytes + n, ring, size - n);
}

/* Posts this rank's next message; bytes NULL: an empty one. false: not possible
 * until others have read earlier messages. */
static bool mailbox_post(struct mailbox *c, const void *bytes, uint64_t size,
			 enum kept_state state)
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
		(struct message){ head->end, size, state };
	if (size)
		put_in_ring(c->rings + (size_t)c->rank * RING, head->end, bytes,
			    size);
	head->end += size;
	atomic_store(&head->posted, posted + 1);
	return true;
}

/* The number of messages that a rank has posted. */
static uint64_t mailbox_posted(const struct mailbox *c, int rank)
{
	return atomic_load(&c->heads[rank].posted);
}

/* Reads a part of a posted message. false: the message does not have that part;
 * it is filled with zeros. */
static bool mailbox_read(const struct mailbox *c, int rank, uint64_t number,
			 uint64_t from, void *to, uint64_t size)
{
	struct message m = c->heads[rank].messages[number % MESSAGES];

	memset(to, 0, size);
	if (from > m.size || size > m.size - from || !size)
		return false;
	take_from_ring(c->rings + (size_t)rank * RING, m.at + from, to, size);
	return true;
}

/* The weakest state of the message's bytes, as given by its sender. */
static enum kept_state mailbox_state(const struct mailbox *c, int rank,
				     uint64_t number)
{
	return c->heads[rank].messages[number % MESSAGES].state;
}

/* This rank no longer needs messages before this number. */
static void mailbox_done(struct mailbox *c, uint64_t number)
{
	if (number > atomic_load(&c->heads[c->rank].done))
		atomic_store(&c->heads[c->rank].done, number);
}

/* Whether the process of a rank has ended. */
static bool mailbox_is_deserted(const struct mailbox *c)
{
	for (int i = 0; i < c->ranks; i++) {
		int64_t owner = atomic_load(&c->heads[i].process);

		if (owner && !peers_is_alive(owner))
			return true;
	}
	return false;
}

/* Changes whenever a rank makes progress. */
static uint64_t mailbox_progress(const struct mailbox *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < c->ranks; i++)
		sum += atomic_load(&c->heads[i].posted) +
		       atomic_load(&c->heads[i].done) +
		       (atomic_load(&c->heads[i].process) != 0);
	return sum;
}

/* ---- data from other ranks ---- */

#define PLACES 64

struct pending {
	struct line *line; /* NULL: the place is free */
	uint64_t number;   /* of its line's message */
	uint64_t issued;   /* number among all exchanges */
	struct exchange what;
};

static struct {
	pthread_mutex_t lock;
	struct pending places[PLACES];
	_Atomic unsigned count;
	uint64_t issued;
	bool is_alone; /* no other process uses a device */
	uint64_t deserted;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- data that has arrived ---- */

static bool is_there(const struct pending *p)
{
	const struct line *l = p->line;

	if (p->what.root != EXCHANGE_ALL)
		return mailbox_posted(l->mailbox, p->what.root) > p->number;
	for (int i = 0; i < l->ranks; i++)
		if (mailbox_posted(l->mailbox, i) <= p->number)
			return false;
	return true;
}

#define SENT(line, group)                                                      \
	((line)->sent[(group) % (sizeof((line)->sent) / sizeof(*(line)->sent))])

/* A rank that is alone takes its own message for everyone's; false: it sent
 * none. */
static bool find_own(const struct pending *p, uint64_t *number)
{
	const struct line *l = p->line;
	uint64_t group = p->what.group;

	*number = p->number;
	if (p->what.root == EXCHANGE_ALL || p->what.root == l->rank)
		return !p->what.is_silent;
	*number = SENT(l, group).number;
	return group && SENT(l, group).group == group;
}

static void lower(enum kept_state *state, enum kept_state to)
{
	if (*state > to)
		*state = to;
}

/* false: there is no data. Lowers the state to that of the data. */
static bool read_part(const struct pending *p, int rank, void *bytes,
		      enum kept_state *state)
{
	const struct line *l = p->line;
	uint64_t number = p->number;

	memset(bytes, 0, p->what.part);
	if (l->is_alone && !find_own(p, &number))
		return false;
	if (l->is_alone)
		rank = l->rank;
	if (mailbox_posted(l->mailbox, rank) <= number) {
		*state = KEPT_UNKNOWN;
		return false;
	}
	if (l->is_alone && rank != p->what.root)
		*state = KEPT_UNKNOWN;
	lower(state, mailbox_state(l->mailbox, rank, number));
	return mailbox_read(l->mailbox, rank, number, p->what.offset, bytes,
			    p->what.part);
}

static void put(uint64_t to, const void *bytes, uint64_t size, bool is_there,
		enum kept_state state)
{
	process_lock();
	if (!is_there)
		kept_forget(to, size);
	else if (state == KEPT_DRAWN)
		kept_draw(to, bytes, size);
	else
		kept_write(to, bytes, size);
	if (state == KEPT_UNKNOWN)
		kept_doubt(to, size);
	process_unlock();
}

static void gather(const struct pending *p, void *bytes)
{
	const struct exchange *e = &p->what;
	bool from_all = e->root == EXCHANGE_ALL;

	for (int i = 0; i < (from_all ? p->line->ranks : 1); i++) {
		enum kept_state state = KEPT_KNOWN;
		bool is_there =
			read_part(p, from_all ? i : e->root, bytes, &state);

		put(e->to + (uint64_t)i * e->part, bytes, e->part, is_there,
		    state);
	}
}

static void combine(const struct pending *p, char *bytes)
{
	const struct exchange *e = &p->what;
	size_t step = elements_bytes(e->type);
	size_t count = step ? e->part / step : 0;
	char *other = gp_mem_alloc(e->part, 1);
	enum kept_state state = KEPT_KNOWN;
	bool is_there = read_part(p, 0, bytes, &state);

	for (int i = 1; i < p->line->ranks && !p->line->is_alone; i++) {
		bool has_part = read_part(p, i, other, &state);

		if (is_there != has_part)
			state = KEPT_UNKNOWN;
		is_there |= has_part;
		elements_reduce(bytes, other, count, e->type, e->op);
	}
	if (!p->line->is_alone)
		elements_finish(bytes, count, e->type, e->op, p->line->ranks);
	put(e->to, bytes, e->part, is_there, is_there ? state : KEPT_UNKNOWN);
	free(other);
}

static void put_in_place(const struct pending *p)
{
	uint64_t part = p->what.part, number;
	char *bytes;

	if (p->what.kind == EXCHANGE_NOTHING || !part || part > MAILBOX_MOST ||
	    (p->line->is_alone && !find_own(p, &number)))
		return;
	bytes = gp_mem_alloc(part, 1);
	if (p->what.kind == EXCHANGE_GATHER)
		gather(p, bytes);
	else
		combine(p, bytes);
	free(bytes);
}

/* Reports the messages that this rank no longer needs. */
static void notify_done(const struct line *line)
{
	uint64_t least = line->issued;

	for (size_t i = 0; i < PLACES; i++)
		if (all.places[i].line == line && all.places[i].number < least)
			least = all.places[i].number;
	mailbox_done(line->mailbox, least);
}

static void finish(size_t place)
{
	struct pending *p = &all.places[place];
	struct line *line = p->line;

	put_in_place(p);
	p->line = NULL;
	atomic_fetch_sub(&all.count, 1);
	process_lock();
	streams_arrived((unsigned)place);
	process_unlock();
	notify_done(line);
}

static void progress(void)
{
	for (size_t i = 0; i < PLACES; i++)
		if (all.places[i].line &&
		    (all.places[i].line->is_alone || is_there(&all.places[i])))
			finish(i);
}

/* ---- waiting ---- */

#define NAP_NS	     200000
#define LONG_NAP_NS  2000000
#define SHORT_NAPS   500
/* After this many naps, half a second, the other ranks are looked for. */
#define LOOK_NAPS    250
/* The number of such looks until missing ranks are given up, and until ranks
 * without progress are: 10 minutes, as NCCL's timeout in PyTorch. */
#define MOST_MISSING 8
#define MOST_IDLE    1200

struct patience {
	unsigned naps, missing, idle;
	uint64_t progress;
};

static void nap(struct patience *p)
{
	const struct timespec time = {
		.tv_nsec = p->naps < SHORT_NAPS ? NAP_NS : LONG_NAP_NS,
	};

	p->naps++;
	nanosleep(&time, NULL);
}

/* A rank may be started alone, as the first of many. */
static bool is_missing(const struct line *line, struct patience *p)
{
	int others;

	if (mailbox_is_complete(line->mailbox))
		return false;
	others = peers_count();
	if (others >= line->ranks || ++p->missing < MOST_MISSING)
		return false;
	all.is_alone |= others <= 1;
	return true;
}

static bool is_idle(const struct line *line, struct patience *p)
{
	uint64_t now = mailbox_progress(line->mailbox);

	if (p->progress != now)
		p->idle = 0;
	p->progress = now;
	return ++p->idle >= MOST_IDLE;
}

/* One step of waiting on a line. */
static void wait_a_little(struct line *line, struct patience *p)
{
	nap(p);
	if (p->naps % LOOK_NAPS)
		return;
	pthread_mutex_lock(&all.lock);
	progress();
	if (is_missing(line, p))
		line->is_alone = true;
	if (!line->is_alone &&
	    (mailbox_is_deserted(line->mailbox) || is_idle(line, p))) {
		line->is_alone = true;
		all.deserted++;
	}
	progress();
	pthread_mutex_unlock(&all.lock);
}

/* The line of the first exchange that is still awaited, or NULL. Returns with
 * the lock held. */
static struct line *first_awaited(bool (*is_awaited)(const struct pending *,
						     const void *),
				  const void *what)
{
	pthread_mutex_lock(&all.lock);
	progress();
	for (size_t i = 0; i < PLACES; i++)
		if (all.places[i].line && is_awaited(&all.places[i], what))
			return all.places[i].line;
	return NULL;
}

/* false: it was not there after this many naps. */
static bool wait_with_patience(bool (*is_awaited)(const struct pending *,
						  const void *),
			       const void *what, unsigned most_naps)
{
	struct patience patience = { 0 };
	struct line *line;

	if (!atomic_load(&all.count))
		return true;
	for (;;) {
		line = first_awaited(is_awaited, what);
		pthread_mutex_unlock(&all.lock);
		if (!line || patience.naps >= most_naps)
			return !line;
		wait_a_little(line, &patience);
	}
}

static void wait_until_none(bool (*is_awaited)(const struct pending *,
					       const void *),
			    const void *what)
{
	wait_with_patience(is_awaited, what, UINT_MAX);
}

static bool is_among(const struct pending *p, const void *what)
{
	const struct awaited *awaited = what;
	size_t place = (size_t)(p - all.places);

	return awaited->places >> place & 1 && p->issued <= awaited->issued;
}

struct range {
	uint64_t addr, size;
};

static uint64_t received(const struct pending *p)
{
	return p->what.part *
	       (p->what.kind == EXCHANGE_GATHER && p->what.root == EXCHANGE_ALL
			? (uint64_t)p->line->ranks
			: 1);
}

/* Whether the exchange will write into the range. */
static bool is_within(const struct pending *p, const void *what)
{
	const struct range *r = what;

	return p->what.kind != EXCHANGE_NOTHING &&
	       p->what.part <= MAILBOX_MOST && p->what.to < r->addr + r->size &&
	       r->addr < p->what.to + received(p);
}

void exchange_forget(uint64_t addr, uint64_t size)
{
	const struct range range = { addr, size };

	if (!atomic_load(&all.count))
		return;
	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < PLACES; i++)
		if (all.places[i].line && is_within(&all.places[i], &range))
			all.places[i].what.kind = EXCHANGE_NOTHING;
	pthread_mutex_unlock(&all.lock);
}

static void before(uint64_t addr, uint64_t size, bool is_written)
{
	const struct range range = { addr, size };

	(void)is_written; /* a write waits too: late data would overwrite it */
	wait_until_none(is_within, &range);
}

static void await(const struct awaited *what)
{
	wait_until_none(is_among, what);
}

static bool is_awaited(const struct awaited *what)
{
	bool is_there = false;

	if (atomic_load(&all.count)) {
		is_there = first_awaited(is_among, what) != NULL;
		pthread_mutex_unlock(&all.lock);
	}
	return is_there;
}

bool exchange_wait(const struct awaited *what, unsigned seconds)
{
	return wait_with_patience(is_among, what,
				  seconds * (1000000000 / LONG_NAP_NS));
}

bool exchange_is_receive(const struct awaited *what)
{
	bool is_one = false;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < PLACES; i++)
		is_one |= all.places[i].line &&
			  is_among(&all.places[i], what) &&
			  all.places[i].issued == what->issued &&
			  all.places[i].what.is_silent;
	pthread_mutex_unlock(&all.lock);
	return is_one;
}

__attribute__((constructor)) static void start(void)
{
	process_hooks.before = before;
	process_hooks.await = await;
	process_hooks.is_awaited = is_awaited;
}

/* ---- lines ---- */

uint64_t exchange_deserted(void)
{
	return all.deserted;
}

struct line *line_open(const char *name, int ranks, int rank)
{
	struct line *line = gp_mem_alloc(1, sizeof(*line));

	*line = (struct line){ .ranks = ranks, .rank = rank };
	if (name && !all.is_alone)
		line->mailbox = mailbox_open(name, ranks, rank);
	line->is_alone = !line->mailbox;
	return line;
}

void line_close(struct line *line)
{
	if (!line)
		return;
	pthread_mutex_lock(&all.lock);
	progress();
	line->is_alone = true;
	progress();
	pthread_mutex_unlock(&all.lock);
	mailbox_close(line->mailbox);
	free(line);
}

/* ---- exchanges ---- */

/* The kept bytes, or NULL; to be freed by the caller. */
static void *bytes_at(uint64_t from, uint64_t size, enum kept_state *state)
{
	void *bytes = NULL;

	*state = KEPT_UNKNOWN;
	if (!size || size > MAILBOX_MOST)
		return NULL;
	process_before_read(from, size);
	process_lock();
	if (kept_has_any(from, size)) {
		bytes = gp_mem_alloc(size, 1);
		*state = kept_take(from, bytes, size);
		if (*state == KEPT_UNKNOWN)
			kept_read(from, bytes, size);
	}
	process_unlock();
	return bytes;
}

/* -1: none is free. */
static int free_place(void)
{
	for (int i = 0; i < PLACES; i++)
		if (!all.places[i].line)
			return i;
	return -1;
}

static void note(struct line *line, const struct exchange *what, int place)
{
	if (what->group && what->root == line->rank) {
		SENT(line, what->group).group = what->group;
		SENT(line, what->group).number = line->issued;
	}
	all.places[place] =
		(struct pending){ line, line->issued++, ++all.issued, *what };
	atomic_fetch_add(&all.count, 1);
	process_lock();
	stream_await((uintptr_t)what->stream, (unsigned)place, all.issued);
	process_unlock();
}

/* Waits until there is room for the message. false: this rank is alone. */
static bool post(struct line *line, const struct exchange *what,
		 const void *bytes, enum kept_state state)
{
	struct patience patience = { 0 };
	bool is_posted = false;

	while (!line->is_alone && !is_posted) {
		int place;

		pthread_mutex_lock(&all.lock);
		progress();
		place = free_place();
		is_posted = place >= 0 && (what->is_silent ||
					   mailbox_post(line->mailbox, bytes,
							what->sent, state));
		if (is_posted)
			note(line, what, place);
		progress();
		pthread_mutex_unlock(&all.lock);
		if (!is_posted)
			wait_a_little(line, &patience);
	}
	return is_posted;
}

bool exchange(struct line *line, const struct exchange *what)
{
	enum kept_state state;
	void *bytes;
	bool is_posted;

	if (line->is_alone)
		return false;
	bytes = bytes_at(what->from, what->sent, &state);
	is_posted = post(line, what, bytes, state);
	free(bytes);
	return is_posted;
}

static bool is_of_line(const struct pending *p, const void *what)
{
	return p->line == what;
}

/* The message stays in the mailbox until all ranks have read it. */
bool exchange_values(struct line *line, const void *mine, void *to,
		     uint64_t size)
{
	const struct exchange what = { .sent = size, .root = EXCHANGE_ALL };
	uint64_t number = line->issued;

	if (!post(line, &what, mine, KEPT_KNOWN))
		return false;
	wait_until_none(is_of_line, line);
	for (int i = 0; i < line->ranks && !line->is_alone; i++)
		mailbox_read(line->mailbox, i, number, 0,
			     (char *)to + (uint64_t)i * size, size);
	return !line->is_alone;
}

void exchange_send(struct line *line, uint64_t from, uint64_t size)
{
	struct patience patience = { 0 };
	enum kept_state state = KEPT_UNKNOWN;
	bool is_posted = false;
	void *bytes = line->is_alone ? NULL : bytes_at(from, size, &state);

	while (!line->is_alone && !is_posted) {
		pthread_mutex_lock(&all.lock);
		progress();
		is_posted = mailbox_post(line->mailbox, bytes, size, state);
		if (is_posted)
			mailbox_done(line->mailbox, ++line->issued);
		pthread_mutex_unlock(&all.lock);
		if (!is_posted)
			wait_a_little(line, &patience);
	}
	free(bytes);
}
