/* SPDX-License-Identifier: MIT */
/*
 * The data that ranks of a job get from each other. A collective posts what
 * this rank sends, as far as its bytes are kept (kept.h), and returns. Data
 * from other ranks is written to its destination when it arrives. Whoever reads
 * that memory earlier, or waits for the stream, waits for it.
 */
#ifndef SIMCUDA_PROGRAM_EXCHANGE_H
#define SIMCUDA_PROGRAM_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct awaited;
struct mailbox;

/* A mailbox and the progress of its exchanges. */
struct line {
	struct mailbox *mailbox;
	int ranks, rank;
	uint64_t issued;
	bool is_alone; /* no other rank is there: nothing is exchanged */
	/* Messages that this rank sent in groups, by the group's number. */
	struct {
		uint64_t group, number;
	} sent[64];
};

/* The name is the mailbox's; NULL: this rank is alone. */
struct line *line_open(const char *name, int ranks, int rank);
void line_close(struct line *line);

enum exchange_kind {
	EXCHANGE_NOTHING, /* only waits for the others */
	EXCHANGE_GATHER,  /* a part of each message, one after the other */
	EXCHANGE_REDUCE,  /* their sum, or another reduction */
};
#define EXCHANGE_ALL (-1)

struct exchange {
	enum exchange_kind kind;
	uint64_t from, sent; /* address and size of this rank's message */
	bool is_silent;	     /* posts no message at all */
	int root;	     /* the sender, or EXCHANGE_ALL */
	uint64_t to, part;   /* destination; bytes taken of each message */
	uint64_t offset;     /* of the part within the message */
	int type, op;	     /* ncclDataType_t, ncclRedOp_t */
	void *stream;
	/* A gather may consist of broadcasts in one group, one from each rank;
	 * 0: not in a group. For a rank that is alone, all of them give what
	 * its own gives. */
	uint64_t group;
};

/* false: nothing was done, as this rank is alone. */
bool exchange(struct line *line, const struct exchange *what);
/* Gets values from every rank, and waits for them; false: this rank is alone.
 */
bool exchange_values(struct line *line, const void *mine, void *all,
		     uint64_t size);
/* Sends a message without waiting for it. */
void exchange_send(struct line *line, uint64_t from, uint64_t size);

/* Waits at most this long for what a stream waits for; false: it did not come.
 */
bool exchange_wait(const struct awaited *what, unsigned seconds);
/* Whether the last of these exchanges is an ncclRecv. */
bool exchange_is_receive(const struct awaited *what);

/* How many lines were given up because a rank ended or made no progress. */
uint64_t exchange_deserted(void);

/* The memory is reused: data that was to be written there is dropped. */
void exchange_forget(uint64_t addr, uint64_t size);

#endif
