/* SPDX-License-Identifier: MIT */
/* Finds what is installed on this machine besides gpupool. */
#ifndef COMMANDS_INSTALLED_H
#define COMMANDS_INSTALLED_H

#include <stdint.h>
#include <limits.h>
#include <stdbool.h>

#include "commands/options.h"
#include "device/cuda.h"
#include "gpupool/status.h"

struct gp_python_torch {
	char folder[PATH_MAX]; /* .../site-packages/torch */
	/* The folders where Python finds packages, separated by tabs. */
	char packages[4 * PATH_MAX];
	unsigned release; /* 15 for 2.15 */
	char version[40]; /* "2.15.0+cu130" */
};

/* Where the shell would find a program; a name with a slash is its own path.
 * False: it is not found. */
bool gp_program_find(const char *name, char *path, size_t size);

/* Asks the command's interpreter: the command if it is a python, else the one
 * in a script's first line, else one among the command's words, else python3.
 * PyTorch is not imported. The command ends with NULL. */
enum gp_status gp_python_find_torch(const char *const *command,
				    struct gp_python_torch *torch,
				    struct gp_diag *diag);

/* The library that stands in for CUDA of that version in recorded programs:
 * next to this program, or where it was installed. False: there is none. */
bool gp_simcuda_find(unsigned cuda, char path[PATH_MAX]);

/* The runtime of --cudart, else the one that GPUPOOL_CUDART names, else the one
 * that the loader finds, else the one of python3's PyTorch. */
enum gp_status gp_cuda_runtime_open(const struct gp_options *options,
				    struct gp_cuda **cuda,
				    struct gp_diag *diag);

/* ---- PyTorch's own allocator ---- */

/* A prepared engine of that release, or of one that makes the same decisions,
 * next to the program or in the cache. The caller frees *folder. */
enum gp_status gp_torch_lib_find(uint8_t release, char **folder,
				 struct gp_diag *diag);

/* Prepares what the user named: a prepared engine is used as it is; a wheel or
 * a folder with PyTorch is prepared once, in the cache. */
enum gp_status gp_torch_lib_prepare(const char *path, char **folder,
				    struct gp_diag *diag);

/* The release of a prepared engine. */
enum gp_status gp_torch_lib_release(const char *folder, uint8_t *release,
				    struct gp_diag *diag);

#endif
