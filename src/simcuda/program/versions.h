/* SPDX-License-Identifier: MIT */
/* Versions of the libraries that the program's PyTorch goes with. */
#ifndef SIMCUDA_PROGRAM_VERSIONS_H
#define SIMCUDA_PROGRAM_VERSIONS_H

/* As cudnnGetVersion and ncclGetVersion say them. */
unsigned versions_cudnn(void);
unsigned versions_nccl(void);

#endif
