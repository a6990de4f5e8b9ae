/* SPDX-License-Identifier: MIT */
/*
 * The Python side: the .py files in this folder, which the build embeds in the
 * library, and the functions that they call.
 */
#ifndef SIMCUDA_PROGRAM_SCRIPTS_H
#define SIMCUDA_PROGRAM_SCRIPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char gp_again_py[];
extern const char gp_asserting_py[];
extern const char gp_device_only_py[];
extern const char gp_differing_py[];
extern const char gp_evaluate_py[];
extern const char gp_imports_py[];
extern const char gp_marks_py[];
extern const char gp_objects_py[];
extern const char gp_owners_py[];
extern const char gp_random_numbers_py[];
extern const char gp_saving_py[];
extern const char gp_scalar_py[];

/* ---- marks.py: stage 0 is a point, 1 a start, 2 an end ---- */

void simcuda_mark(const char *name, int stage);

/* ---- objects.py: kept bytes, and the program's end ---- */

void simcuda_read_kept(uint64_t addr, void *bytes, size_t size);
void simcuda_write_kept(uint64_t addr, const void *bytes, size_t size);
void simcuda_copy_kept(uint64_t to, uint64_t from, size_t size);
/* Waits until no other thread has run for some moments, or for a little more
 * than a second. */
void simcuda_settle(void);

/* ---- imports.py, scalar.py: unknown values are loaded, or read ---- */

void simcuda_load_begin(void);
void simcuda_load_end(void);
void simcuda_notify_guess(void);
/* A storage is sent to another process. */
void simcuda_share_begin(void);
void simcuda_share_end(uint64_t addr, uint64_t size);

/* ---- saving.py: around a hook that gets what is saved for backward ---- */

void simcuda_before_saving(const void *tensor);
void simcuda_after_saving(void);

/* ---- owners.py ---- */

int simcuda_owner_module(const char *path, const char *type);
void simcuda_owner_rename(int from, int to);
void simcuda_owner_enter(int is_step, int module);
void simcuda_owner_leave(int is_step);
void simcuda_owner_is(uint64_t addr, uint64_t bytes, const char *category,
		      int module);
int simcuda_owner_of(uint64_t addr);
/* What is created in between remains, and is not counted (collector.h). */
void simcuda_collector_stop(void);
void simcuda_collector_go_on(void);

/* ---- again.py ---- */

/*
 * A part of the program that is run again, such as a checkpointed layer, draws
 * the same values. What an operator draws there depends on the part, on the
 * operator, and on how many calls of it began before in this run of the part.
 * It does not depend on earlier draws, as some of those values may be known by
 * then.
 */
uint64_t simcuda_draws_part(void); /* a new one each time; never 0 */
void simcuda_draws_enter(uint64_t part);
void simcuda_draws_leave(uint64_t part); /* and those entered within */

/* ---- evaluate.py and random_numbers.py, for the thread's task ---- */

struct generator;
struct random_numbers;
struct flash_weights;

/* Given a tensor of int16_t with two rows of five elements that are seven
 * apart: whether it is read as such under the layout for this size of
 * std::string. */
bool simcuda_find_layout(const void *tensor, uint64_t addr, int string);
uint64_t simcuda_draws_seed(void);
void simcuda_generator(struct generator *to);
uint64_t simcuda_random_numbers(const struct generator *generator,
				const struct random_numbers *numbers, void *to);
void simcuda_flash_numbers(const struct generator *generator,
			   const struct flash_weights *weights, void *to);
/* The interpreter ends: nothing more is computed. */
void simcuda_evaluate_stop(void);

#endif
