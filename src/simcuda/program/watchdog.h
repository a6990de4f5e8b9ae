/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's watchdogs of NCCL: a thread for each process group, which looks
 * every 100 ms which collectives are complete.  From 2.8 on the group's next
 * collective lets go of the memory of those that it has seen, unless the
 * program waited for them itself.  When memory is free again would follow from
 * when a thread of the process ran; here the watchdogs look before each
 * collective, as if the steps of the program took a GPU long enough.  From 2.15
 * on a group looks itself before it issues one, to the same end.
 */
#ifndef SIMCUDA_PROGRAM_WATCHDOG_H
#define SIMCUDA_PROGRAM_WATCHDOG_H

#include <stdint.h>

/* Before a collective is issued: returns when all watchdogs have looked, and
 * have seen complete whatever collective nobody else waits for. */
void watchdog_look(void);

/* How often one of them, or another rank, did not come in time: from there on
 * what is free when is a matter of chance. */
uint64_t watchdog_missed(void);

#endif
