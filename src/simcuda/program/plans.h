/* SPDX-License-Identifier: MIT */
/*
 * The program's access to the real cuDNN, if `gpupool record` found one: it
 * plans in a process of its own.
 */
#ifndef SIMCUDA_PROGRAM_PLANS_H
#define SIMCUDA_PROGRAM_PLANS_H

#include <stdbool.h>
#include <stdint.h>

/* false: there is none, or it stopped answering. */
bool plans_can(void);

/* cuDNN's version as in cudnnGetVersion, even if it cannot plan; 0: there is
 * none. */
unsigned plans_version(void);

/* As cuDNN's backend API: descriptors are numbers from 1 on, 0 for none, also
 * among the values. Errors in creating and setting a descriptor are reported
 * when it is finalized. */
uint32_t plans_create(int type);
void plans_destroy(uint32_t id);
int plans_set(uint32_t id, int name, int type, int64_t count,
	      const void *values);
int plans_finalize(uint32_t id);
int plans_get(uint32_t id, int name, int type, int64_t room, int64_t *count,
	      void *values);

/* For the end of a recording: counts a plan that is executed; returns how many
 * were; and why an installed library gives none, as text. */
void plans_count(void);
uint64_t plans_given(void);
const char *plans_why_not(void);

#endif
