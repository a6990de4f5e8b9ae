/* SPDX-License-Identifier: MIT */
/* The Python side of evaluate.c. */
#ifndef SIMCUDA_PROGRAM_EVALUATE_SCRIPT_H
#define SIMCUDA_PROGRAM_EVALUATE_SCRIPT_H

extern const char evaluate_script[];

#endif
