/* SPDX-License-Identifier: MIT */
/*
 * The recorder, for the files that write to its journal.  recorder.c opens and
 * closes it, hooks.c leads calls on PyTorch's allocator here, tracker.c hears
 * what the allocator did.
 */
#ifndef SIMCUDA_PROGRAM_RECORDER_H
#define SIMCUDA_PROGRAM_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "simcuda/program/layout.h"

/* Locks, when something is to be written; recorder_leave unlocks. */
bool recorder_enter(void);
void recorder_leave(void);

/* Enters and begins an event; recorder_end ends it and leaves. */
bool recorder_begin(const char *op, int device);
void recorder_end(void);

/* A text of JSON, in quotes. */
void recorder_put_text(const char *text);
void recorder_put_pool(const uint64_t pool[2]);

/* PYTORCH_CUDA_ALLOC_CONF of the process. */
const char *recorder_settings(void);

/* ---- hooks.c ---- */

/* Once libc10_cuda.so is loaded: leads the allocator's calls here. */
void hooks_set(const struct layout *layout);
/* What the program chose that cannot be recorded, or NULL. */
const char *hooks_why_not(void);
/* memory_stats() of each device that is in use, into the journal. */
void hooks_write_counters(void);

/* PyTorch's allocator is initialised: the recording begins. */
void recorder_start(void);

#endif
