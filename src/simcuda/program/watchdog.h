/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's NCCL watchdogs: a thread for each process group that checks every
 * 100 ms which collectives are complete. From 2.8 on, the group's next
 * collective releases the memory of those found complete, unless the program
 * waited for them itself. So when memory becomes free would depend on thread
 * scheduling. Here the watchdogs look before each collective, as if the steps
 * of the program took long enough on a GPU. From 2.15 on, a group looks by
 * itself before it issues a collective, with the same effect.
 */
#ifndef SIMCUDA_PROGRAM_WATCHDOG_H
#define SIMCUDA_PROGRAM_WATCHDOG_H

#include <stdint.h>

/* To be called before a collective is issued: returns when all watchdogs have
 * looked and have found complete every collective that nobody else waits for.
 */
void watchdog_look(void);

/* How often a watchdog or another rank was too late. From the first time on,
 * which memory is free depends on chance. */
uint64_t watchdog_missed(void);

#endif
