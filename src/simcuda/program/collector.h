/* SPDX-License-Identifier: MIT */
/*
 * Lets Python's garbage collector run where it would without recording: it runs
 * when a number of objects were created and not freed, and the recorder's own
 * would count.
 */
#ifndef SIMCUDA_PROGRAM_COLLECTOR_H
#define SIMCUDA_PROGRAM_COLLECTOR_H

#include <stdbool.h>

struct collector {
	bool runs;
	int count;
};

/* To be called with the GIL: the collector does not run until
 * collector_go_on(). */
struct collector collector_stop(void);
/* Subtracts the objects created since collector_stop(), if they stay alive.
 * Objects that are freed must stay counted: they go to CPython's lists of free
 * objects, from which the program then takes objects without counting them. */
void collector_discount(const struct collector *since);
void collector_go_on(const struct collector *since);

#endif
