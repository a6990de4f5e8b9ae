/* SPDX-License-Identifier: MIT */
/* Files that recorded processes leave in a folder: "1234-4711.jsonl" is of the
 * process 4711, which began at 1234 (in the kernel's ticks). */
#ifndef COMMANDS_PARTS_H
#define COMMANDS_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct gp_part {
	unsigned long long began;
	long number;
};

struct gp_parts {
	struct gp_part *items; /* in the order in which they began */
	size_t count, room;
};

/* What a process was before it became another program has its number, what it
 * was after has one that is larger by this or a multiple of it. */
#define GP_PART_NEXT (1L << 22)

void gp_parts_find(struct gp_parts *parts, const char *folder);
void gp_parts_release(struct gp_parts *parts);

/* Those of processes that allocated nothing go, unless none did: torch.compile
 * has processes that only ask what the device is. */
void gp_parts_drop_idle(struct gp_parts *parts, const char *folder);

/* Removes what the processes of a job left to talk to each other. */
void gp_parts_clear(const char *folder);

/* Cuts off what follows the last whole line: a writer that was killed, or that
 * still runs, leaves half of one, and zeros.  True: it still runs; what it
 * writes from now on is lost. */
bool gp_part_finish(const struct gp_part *part, const char *path);

#endif
