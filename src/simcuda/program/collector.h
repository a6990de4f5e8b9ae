/* SPDX-License-Identifier: MIT */
/*
 * Python's garbage collector, which runs when so many more objects were created
 * than freed: in the program, where it would if nothing were recorded.
 */
#ifndef SIMCUDA_PROGRAM_COLLECTOR_H
#define SIMCUDA_PROGRAM_COLLECTOR_H

#include <stdbool.h>

struct collector {
	bool runs;
	int count;
};

/* To be called with the GIL: it does not run until collector_go_on(). */
struct collector collector_stop(void);
/* What was created since is not counted. To be used where it remains. What is
 * freed again goes to CPython's lists of free objects, which the program takes
 * objects from without counting them, so that must have been counted. */
void collector_discount(const struct collector *since);
void collector_go_on(const struct collector *since);

#endif
