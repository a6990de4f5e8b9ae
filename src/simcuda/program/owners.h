/* SPDX-License-Identifier: MIT */
/*
 * What memory is for: a category and a module. owners.py reports which module
 * runs and what its parameters are; PyTorch reports which backward node runs;
 * the library calls report their workspaces. The rest follows from when a block
 * is freed:
 *
 *	made while a module runs: an activation if it is still live when the
 *	  outermost module has returned, else temporary;
 *	made by an optimizer's step and freed in it, or made by a backward
 *	  pass: temporary;
 *	made elsewhere, and freed by a backward pass: an activation.
 */
#ifndef SIMCUDA_PROGRAM_OWNERS_H
#define SIMCUDA_PROGRAM_OWNERS_H

#include <stdint.h>

#define NO_OWNER UINT32_MAX

/* ---- for the journal, with the recorder's lock, between two lines ---- */

/* A block was made. Returns its owner as far as known, which may first be
 * written to the journal, or NO_OWNER. */
uint32_t owners_made(int device, uint32_t id, uint64_t addr, uint64_t size);
/* A block is freed. Returns its owner if that was not written yet, else
 * NO_OWNER. */
uint32_t owners_freed(uint64_t addr);
/* At the end: writes the owners of live blocks that were not written yet. */
void owners_settle(void);

/* ---- called by the program's threads, without that lock ---- */

/* An operator begins. `sequence` is the number of its backward node in this
 * thread; negative: it has none. */
void owners_operator(int64_t sequence);
/* Callbacks of at::RecordFunction: a backward node begins, and ends. */
void *owners_enter_node(void **context, const char *record);
void owners_leave_node(const char *record, void *context);
/* To be called before these. */
void owners_prepare(void);

/* cuBLAS or cuDNN uses the block at this address as its workspace. */
enum owners_library { OWNERS_CUBLAS, OWNERS_CUDNN };
void owners_workspace(enum owners_library library, uint64_t addr);
/* A collective reads or writes this address. Categories that are known by then
 * have precedence. */
void owners_collective(uint64_t addr);

#endif
