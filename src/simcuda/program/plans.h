/* SPDX-License-Identifier: MIT */
/*
 * The real cuDNN, where `gpupool record` found one: it plans in a process of
 * its own, and is asked here.
 */
#ifndef SIMCUDA_PROGRAM_PLANS_H
#define SIMCUDA_PROGRAM_PLANS_H

#include <stdbool.h>
#include <stdint.h>

/* False where there is none, and where it stopped answering. */
bool plans_can(void);

/* Its version as cudnnGetVersion has it, whether or not it can plan; 0: there
 * is none. */
unsigned plans_version(void);

/* As cuDNN's functions of graphs: descriptors are numbers from 1 on, 0 for
 * none; those among the values too.  Whether one was made and filled well is
 * said when it is finalized. */
uint32_t plans_create(int type);
void plans_destroy(uint32_t id);
int plans_set(uint32_t id, int name, int type, int64_t count,
	      const void *values);
int plans_finalize(uint32_t id);
int plans_get(uint32_t id, int name, int type, int64_t room, int64_t *count,
	      void *values);

/* For the end of a recording.  One more plan was carried out; how many were,
 * and, as text, why the library that is there gives none. */
void plans_count(void);
uint64_t plans_given(void);
const char *plans_why_not(void);

#endif
