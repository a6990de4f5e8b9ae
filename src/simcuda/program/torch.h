/* SPDX-License-Identifier: MIT */
/* PyTorch's libraries, as loaded by the program. */
#ifndef SIMCUDA_PROGRAM_TORCH_H
#define SIMCUDA_PROGRAM_TORCH_H

#include <stdbool.h>
#include <stddef.h>

/* A handle for dlsym() by a name such as "c10_cuda"; NULL: it is not loaded. */
void *torch_library(const char *name);

/* A function or variable of that library; NULL: there is none. */
void *torch_symbol(const char *library, const char *name);

/* The package's folder, such as "/usr/lib/python3/dist-packages/torch"; false:
 * it is not loaded, or the path is too long. */
bool torch_folder(char *path, size_t size);

/* Versions of the required libraries, as from cudnnGetVersion and
 * ncclGetVersion. */
unsigned versions_cudnn(void);
unsigned versions_nccl(void);

#endif
