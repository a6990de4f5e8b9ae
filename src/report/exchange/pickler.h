/* SPDX-License-Identifier: MIT */
/*
 * Writes Python's pickle, protocol 4, with the opcodes that torch's viewers
 * read.
 *
 * A container is opened, filled and closed; the items of a list, or the keys
 * and values of a dict, are written in turn.
 */
#ifndef REPORT_EXCHANGE_PICKLER_H
#define REPORT_EXCHANGE_PICKLER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PICKLER_BUFFER (1 << 16) /* bytes */

struct pickler {
	FILE *out;
	uint32_t memos; /* number of objects that can be written again */
	size_t count;	/* bytes of the buffer */
	unsigned char buffer[PICKLER_BUFFER];
};

/* A list that grows: its items go to Python in batches, as pickle.dump does. */
struct pickler_list {
	unsigned items; /* of the batch */
};

void pickler_begin(struct pickler *pickler, FILE *out);
void pickler_end(struct pickler *pickler); /* the last object is the pickle */

void pickler_uint(struct pickler *pickler, uint64_t value);
void pickler_int(struct pickler *pickler, int64_t value);
void pickler_real(struct pickler *pickler, double value);
void pickler_bool(struct pickler *pickler, bool value);
/* UTF-8; length in bytes. */
void pickler_text(struct pickler *pickler, const char *text, size_t length);
void pickler_pair(struct pickler *pickler, uint64_t a, uint64_t b);

void pickler_open_dict(struct pickler *pickler);
void pickler_close_dict(struct pickler *pickler);
struct pickler_list pickler_open_list(struct pickler *pickler);
/* To be called before each item. */
void pickler_item(struct pickler *pickler, struct pickler_list *list);
void pickler_close_list(struct pickler *pickler,
			const struct pickler_list *list);

/* pickler_keep() memoizes the object written last and returns its number, from
 * 1 on; pickler_again() writes it again. */
uint32_t pickler_keep(struct pickler *pickler);
void pickler_again(struct pickler *pickler, uint32_t kept);

#endif
