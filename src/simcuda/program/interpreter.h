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
	unsigned release;  /* 2.x */
	bool has_script;   /* the Python side, for marks */
	const char *steps; /* a function's name; NULL: none */
	bool has_stacks;
	bool has_values;    /* what operators write is followed */
	bool has_owners;    /* what memory is for */
	const char *scalar; /* what is read in place of what nobody knows */
};
void interpreter_wish(const struct interpreter_wishes *wishes);

/* When kernels are registered, of which PyTorch has many. */
void interpreter_watch_imports(void);

/* Once, when PyTorch's allocator is initialised. */
void interpreter_prepare(void);

/* Once it is prepared: a script of scripts.h, in a dict of names; false: it
 * failed. */
bool interpreter_run(void *globals, const char *script);

/* The Python stack of this thread, told to the journal where it is new.  No
 * lock may be held: it waits for the interpreter's. */
uint32_t interpreter_site(void);

/* "train.py:12 (via modeling_x.py:78)", the program's own line under way in
 * this thread, and a library's that it is in, not one of PyTorch's.  False: the
 * thread runs no Python.  No lock may be held: it waits for the interpreter's.
 * *writes: what is read goes to a file, a checkpoint's. */
bool interpreter_place(char *text, size_t size, bool *writes);

/* Whether the innermost line under way in this thread is of a file with this in
 * its path.  No lock may be held. */
bool interpreter_is_in(const char *part);

/* The same, and the numbers that its function has under these names; NaN: it
 * has none. */
bool interpreter_locals(const char *part, const char *const *names,
			size_t count, double *values);

#endif
