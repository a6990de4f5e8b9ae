/* SPDX-License-Identifier: MIT */
/* The Python side: the *.py beside this, which the build makes part of the
 * library. */
#ifndef SIMCUDA_PROGRAM_SCRIPTS_H
#define SIMCUDA_PROGRAM_SCRIPTS_H

extern const char gp_again_py[];
extern const char gp_device_only_py[];
extern const char gp_evaluate_py[];
extern const char gp_imports_py[];
extern const char gp_marks_py[];
extern const char gp_objects_py[];
extern const char gp_owners_py[];
extern const char gp_random_numbers_py[];
extern const char gp_scalar_py[];

#endif
