/* SPDX-License-Identifier: MIT */
/*
 * What memory is for: a category and a module.  owners.py tells which module
 * runs and what is a parameter, PyTorch which node of the backward pass does,
 * libraries what they work in; the rest follows from when a block is freed:
 *
 *	made while a module runs: an activation if it is there when the
 *	outermost one has returned, else temporary;
 *	made by an optimizer's step, and freed in it, or by a backward pass:
 *	temporary;
 *	made elsewhere, and freed by a backward pass: an activation.
 */
#ifndef SIMCUDA_PROGRAM_OWNERS_H
#define SIMCUDA_PROGRAM_OWNERS_H

#include <stdint.h>

#define NO_OWNER UINT32_MAX

/* ---- for the journal, under the recorder's lock, between two lines of it ----
 */

/* A block was made: its owner as far as that is known, which may be told to the
 * journal first, or NO_OWNER. */
uint32_t owners_made(int device, uint32_t id, uint64_t addr);
/* It is freed: its owner where that was not told yet. */
uint32_t owners_freed(uint64_t addr);
/* The end: tells what was not told of blocks that are there. */
void owners_settle(void);

/* ---- for what runs in a program's threads; none may hold that lock ---- */

/* An operator begins, whose node of the backward pass has this number in this
 * thread; negative: it has none. */
void owners_operator(int64_t sequence);
/* A node of the backward pass that was made with that number in that thread
 * (at::RecordFunction::currentThreadId) begins, and ends. */
void owners_enter_node(int64_t sequence, uint64_t thread);
void owners_leave_node(void);
/* The last word of the threads that have not told yet. */
void owners_set_thread(uint64_t (*current)(void));

/* What this address is in is what cuBLAS or cuDNN works in. */
enum owners_library { OWNERS_CUBLAS, OWNERS_CUDNN };
void owners_workspace(enum owners_library library, uint64_t addr);
/* Collectives read or write it: what else it is for, if anything, is known by
 * then. */
void owners_collective(uint64_t addr);

#endif
