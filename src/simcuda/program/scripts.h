/* SPDX-License-Identifier: MIT */
/*
 * The Python side: the *.py beside this, which the build makes part of the
 * library, and what they call of it.
 */
#ifndef SIMCUDA_PROGRAM_SCRIPTS_H
#define SIMCUDA_PROGRAM_SCRIPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char gp_again_py[];
extern const char gp_device_only_py[];
extern const char gp_evaluate_py[];
extern const char gp_imports_py[];
extern const char gp_marks_py[];
extern const char gp_objects_py[];
extern const char gp_owners_py[];
extern const char gp_random_numbers_py[];
extern const char gp_saving_py[];
extern const char gp_scalar_py[];

/* ---- marks.py: stage 0 a point, 1 a start, 2 an end ---- */

void simcuda_mark(const char *name, int stage);

/* ---- objects.py: the bytes that are kept, and the program's end ---- */

void simcuda_read_kept(uint64_t addr, void *bytes, size_t size);
void simcuda_write_kept(uint64_t addr, const void *bytes, size_t size);
void simcuda_copy_kept(uint64_t to, uint64_t from, size_t size);
/* Until no other thread has had anything to do for some moments, or a second
 * and more is over. */
void simcuda_settle(void);

/* ---- imports.py, scalar.py: what nobody knows is loaded, or read ---- */

void simcuda_load_begin(void);
void simcuda_load_end(void);
void simcuda_notify_guess(void);

/* ---- saving.py: before a hook is given what is saved for backward ---- */

void simcuda_before_saving(const void *tensor);

/* ---- owners.py ---- */

int simcuda_owner_module(const char *path, const char *type);
void simcuda_owner_rename(int from, int to);
void simcuda_owner_enter(int is_step, int module);
void simcuda_owner_leave(int is_step);
void simcuda_owner_is(uint64_t addr, const char *category, int module);
int simcuda_owner_of(uint64_t addr);

/* ---- again.py ---- */

/*
 * A part of the program that is run again, as checkpointed layers are, draws
 * what it drew before.  What an operator draws hangs there on the part, on the
 * operator and on how many of its kind began before it in this run of the part;
 * not on what was drawn before, as by then some of it may be known.
 */
uint64_t simcuda_draws_part(void); /* another one each time; never 0 */
void simcuda_draws_enter(uint64_t part);
void simcuda_draws_leave(uint64_t part); /* and those entered within */

/* ---- evaluate.py and random_numbers.py, of the thread's task ---- */

struct generator;
struct random_numbers;
struct flash_weights;

/* Whether a tensor of int16_t, two rows of five that lie seven apart, is read
 * as that, where std::string has so many bytes. */
bool simcuda_find_layout(const void *tensor, uint64_t addr, int string);
uint64_t simcuda_draws_seed(void);
void simcuda_generator(struct generator *to);
uint64_t simcuda_random_numbers(const struct generator *generator,
				const struct random_numbers *numbers, void *to);
void simcuda_flash_numbers(const struct generator *generator,
			   const struct flash_weights *weights, void *to);
/* The interpreter ends: what is not computed by now stays unknown. */
void simcuda_evaluate_stop(void);

#endif
