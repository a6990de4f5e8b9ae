/* SPDX-License-Identifier: MIT */
/*
 * What the Python program is doing, asked of the interpreter that it runs on:
 * marks, steps, and where an allocation comes from.  Its C API is looked up by
 * name; without one, nothing here does anything.
 */
#ifndef SIMCUDA_PROGRAM_INTERPRETER_H
#define SIMCUDA_PROGRAM_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_SITE 0 /* others: their index in the trace + 1 */

/* What is wanted of it; texts are borrowed. */
struct interpreter_wishes {
	bool has_script;   /* the Python side, which asks SIMCUDA_MARKS and
			    * SIMCUDA_SCALAR what is wanted of it */
	const char *steps; /* a function's name; NULL: none */
	bool has_stacks;
};
void interpreter_wish(const struct interpreter_wishes *wishes);

/* Once, when PyTorch's allocator is initialised. */
void interpreter_prepare(void);

/* The Python stack of this thread, told to the journal where it is new.  No
 * lock may be held: it waits for the interpreter's. */
uint32_t interpreter_site(void);

/* Calls it as soon as the interpreter is at work in its main thread, with the
 * right to run Python; false: it will not be called. */
bool interpreter_soon(int (*call)(void *unused));
/* From such a call: "train.py:12", the program's own line under way, not one of
 * PyTorch's. */
void interpreter_place(char *text, size_t size);

/* For the Python side: a mark, stage 0 a point, 1 a start, 2 an end. */
void simcuda_mark(const char *name, int stage);

#endif
