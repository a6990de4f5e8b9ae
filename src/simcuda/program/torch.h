/* SPDX-License-Identifier: MIT */
/* PyTorch's libraries, where the program has loaded them. */
#ifndef SIMCUDA_PROGRAM_TORCH_H
#define SIMCUDA_PROGRAM_TORCH_H

#include <stdbool.h>
#include <stddef.h>

/* For dlsym(), of a name such as "c10_cuda"; NULL: it is not loaded. */
void *torch_library(const char *name);

/* A function or a variable of that library's; NULL: there is none. */
void *torch_symbol(const char *library, const char *name);

/* The package's folder, as "/usr/lib/python3/dist-packages/torch"; false: it is
 * not loaded, or the path is longer. */
bool torch_folder(char *path, size_t size);

/* Versions of the libraries that it goes with, as cudnnGetVersion and
 * ncclGetVersion say them. */
unsigned versions_cudnn(void);
unsigned versions_nccl(void);

#endif
