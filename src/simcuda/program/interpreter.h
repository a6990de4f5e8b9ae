/* SPDX-License-Identifier: MIT */
/*
 * What the Python program is doing: marks, steps, and where an allocation comes
 * from. The interpreter's C API is looked up by name; without an interpreter
 * these functions do nothing.
 */
#ifndef SIMCUDA_PROGRAM_INTERPRETER_H
#define SIMCUDA_PROGRAM_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_SITE 0 /* other sites: index in the trace + 1 */

/* What is to be observed; texts are borrowed. */
struct interpreter_wishes {
	unsigned release;  /* 2.x */
	bool has_script;   /* load marks.py */
	const char *steps; /* the step function's name; NULL: none */
	bool has_stacks;
	bool has_values;    /* compute what operators write */
	bool has_owners;    /* record what memory is for */
	const char *scalar; /* what an unknown scalar reads as */
};
void interpreter_wish(const struct interpreter_wishes *wishes);

/* To be called when kernels are registered, of which PyTorch has many. */
void interpreter_watch_imports(void);

/* To be called once, when PyTorch's allocator is initialised. */
void interpreter_prepare(void);

/* Runs a script of scripts.h with these globals, once it is prepared; false: it
 * failed. */
bool interpreter_run(void *globals, const char *script);

/* This thread's Python stack, written to the journal if it is new; where it
 * runs no Python function, its backward node. No lock may be held, as it waits
 * for the GIL. */
uint32_t interpreter_site(void);
/* This thread begins a backward node of that name, such as "MmBackward0", which
 * is borrowed until it ends; NULL: it ends one. */
void interpreter_set_node(const char *name);

/* "train.py:12 (via modeling_x.py:78)": the program's own line that this thread
 * is executing, and the library's line called from there, if it is not
 * PyTorch's. false: the thread runs no Python. No lock may be held, as it waits
 * for the GIL. *writes: what is read goes to a file such as a checkpoint. */
bool interpreter_place(char *text, size_t size, bool *writes);

/* Identifies this thread if it is the program's main one or one that it started
 * from Python; NULL: it is another, such as one of a backward pass. No lock may
 * be held. */
const void *interpreter_thread(void);

/* Whether that thread still runs, and not only waits for others. No lock may be
 * held. */
bool interpreter_is_busy(const void *thread);

/* Whether this thread holds Python's lock. Operators release it. */
bool interpreter_is_held(void);

/* Whether the file of the innermost line of this thread has this in its path.
 * No lock may be held. */
bool interpreter_is_in(const char *part);

/* Whether the file of any line that this thread executes has one of these in
 * its path; the list ends with NULL. No lock may be held. */
bool interpreter_is_under(const char *const *parts);

/* Whether the innermost line has this in its path; also reads numbers from
 * local variables of its function. NaN: there is none of this name. */
bool interpreter_locals(const char *part, const char *const *names,
			size_t count, double *values);

#endif
