/* SPDX-License-Identifier: MIT */
/*
 * The recorder's interface for files that write to its journal. recorder.c
 * opens and closes it, hooks.c intercepts calls on PyTorch's allocator,
 * tracker.c receives what the allocator reports.
 */
#ifndef SIMCUDA_PROGRAM_RECORDER_H
#define SIMCUDA_PROGRAM_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "simcuda/program/layout.h"

/* Locks and returns true if the journal is open; recorder_leave unlocks. */
bool recorder_enter(void);
void recorder_leave(void);

/* Enters and begins an event; recorder_end ends it and leaves. */
bool recorder_begin(const char *op, int device);
void recorder_end(void);

/* Writes a JSON string, with quotes. */
void recorder_put_text(const char *text);
void recorder_put_pool(const uint64_t pool[2]);

/* PYTORCH_CUDA_ALLOC_CONF of the process. */
const char *recorder_settings(void);
/* What in the process's environment leaves each request to the driver, or NULL.
 */
const char *recorder_bypass(void);
/* A request was served by the driver, because the program disabled the cache:
 * nothing reports when it is freed. */
void recorder_note_uncached(void);

/* ---- hooks.c ---- */

/* To be called once libc10_cuda.so is loaded: intercepts the allocator's calls.
 */
void hooks_set(const struct layout *layout);
/* The program's choice that prevents recording, or NULL. */
const char *hooks_why_not(void);
/* Writes memory_stats() of each used device to the journal. */
void hooks_write_counters(void);

/* PyTorch's allocator is initialised: the recording begins. */
void recorder_start(void);

#endif
