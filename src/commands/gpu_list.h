/* SPDX-License-Identifier: MIT */
/* gpupool record --gpu help: the devices a program can be shown. */
#ifndef COMMANDS_GPU_LIST_H
#define COMMANDS_GPU_LIST_H

#include <stdio.h>

void gp_gpu_list(FILE *out);

#endif
