/* SPDX-License-Identifier: MIT */
/*
 * What ranks of a job get from each other.  A collective says at once what this
 * rank sends, as far as its bytes are kept (kept.h), and goes on; what comes
 * from the others is put in place once it is there, and whoever reads that
 * memory before, or waits for the stream, waits for it.
 */
#ifndef SIMCUDA_PROGRAM_EXCHANGE_H
#define SIMCUDA_PROGRAM_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct awaited;
struct mailbox;

/* A mailbox, and how far its work is. */
struct line {
	struct mailbox *mailbox;
	int ranks, rank;
	uint64_t issued;
	bool is_alone; /* nobody else is there: nothing is exchanged */
	/* Messages that this rank sent in groups, by the group's number. */
	struct {
		uint64_t group, number;
	} sent[64];
};

/* The name is that of the mailbox; NULL: it is alone. */
struct line *line_open(const char *name, int ranks, int rank);
void line_close(struct line *line);

enum exchange_kind {
	EXCHANGE_NOTHING, /* waits for the others, no more */
	EXCHANGE_GATHER,  /* a part of each message, one behind the other */
	EXCHANGE_REDUCE,  /* their sum, or what op says */
};
#define EXCHANGE_ALL (-1)

struct exchange {
	enum exchange_kind kind;
	uint64_t from, sent; /* memory, bytes: what this rank says */
	bool is_silent;	     /* it posts no message at all */
	int root;	     /* whose message matters, or EXCHANGE_ALL */
	uint64_t to, part;   /* memory; bytes of each message that go there */
	uint64_t offset;     /* of the part in the message */
	int type, op;	     /* ncclDataType_t, ncclRedOp_t */
	void *stream;
	/* A gather may be made of broadcasts in one group, one from each rank;
	 * 0: it is in none.  For who is alone all give what its own gives. */
	uint64_t group;
};

/* False: nothing was done, as this rank is alone. */
bool exchange(struct line *line, const struct exchange *what);
/* Bytes from every rank of the line, waited for; false: it is alone. */
bool exchange_values(struct line *line, const void *mine, void *all,
		     uint64_t size);
/* A message that nobody waits for here. */
void exchange_send(struct line *line, uint64_t from, uint64_t size);

/* Waits for what a stream waits for, not longer than this; false: in vain. */
bool exchange_wait(const struct awaited *what, unsigned seconds);
/* Whether the last of it is a message from one rank to another (ncclRecv). */
bool exchange_is_receive(const struct awaited *what);

/* How many lines waited in vain: a rank ended, or nobody did anything. */
uint64_t exchange_deserted(void);

/* Memory that is used anew: what was to be put there is not. */
void exchange_forget(uint64_t addr, uint64_t size);

#endif
