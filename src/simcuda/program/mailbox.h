/* SPDX-License-Identifier: MIT */
/*
 * Messages between the ranks of a job: a file in the folder of the recording
 * that they all have mapped.  Each rank writes messages, numbered from 0, which
 * all of them may read.  A file is bounded: what all have read is written over.
 * Not for several threads at once.
 */
#ifndef SIMCUDA_PROGRAM_MAILBOX_H
#define SIMCUDA_PROGRAM_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mailbox;

/* The most bytes of a message. */
#define MAILBOX_MOST ((uint64_t)1 << 20)

/* NULL: there can be none.  The name is that of a file, without ".ranks". */
struct mailbox *mailbox_open(const char *name, int ranks, int rank);
void mailbox_close(struct mailbox *mailbox);

/* The next message of this rank; bytes NULL: one that says nothing.  False: not
 * before others have read what is there. */
bool mailbox_post(struct mailbox *mailbox, const void *bytes, uint64_t size,
		  bool is_known);
/* How many it has posted. */
uint64_t mailbox_posted(const struct mailbox *mailbox, int rank);
/* A message that was posted: a part of it.  False: zeros; it says nothing of
 * that part. */
bool mailbox_read(const struct mailbox *mailbox, int rank, uint64_t number,
		  uint64_t from, void *to, uint64_t size);
/* Whether all of its bytes are known, as its sender says. */
bool mailbox_is_known(const struct mailbox *mailbox, int rank, uint64_t number);
/* This rank needs none of the messages before this number any more. */
void mailbox_done(struct mailbox *mailbox, uint64_t number);

/* A rank that others wait for is gone. */
bool mailbox_is_deserted(const struct mailbox *mailbox);
bool mailbox_is_complete(const struct mailbox *mailbox);
/* Changes whenever somebody does something. */
uint64_t mailbox_progress(const struct mailbox *mailbox);

#endif
