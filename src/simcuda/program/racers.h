/* SPDX-License-Identifier: MIT */
/*
 * Threads of the program that take memory at the same time. Which of them comes
 * first depends on timing, and with it where blocks lie. The threads of a
 * backward pass are not among them: the program waits for these.
 */
#ifndef SIMCUDA_PROGRAM_RACERS_H
#define SIMCUDA_PROGRAM_RACERS_H

/* To be called when this thread requests memory; no lock may be held. */
void racers_watch(int device);

#endif
