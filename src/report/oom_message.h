/* SPDX-License-Identifier: MIT */
/*
 * The text of PyTorch's OutOfMemoryError, to the letter, as its release words
 * it.
 */
#ifndef REPORT_OOM_MESSAGE_H
#define REPORT_OOM_MESSAGE_H

#include "gpupool/replay.h"

#define GP_OOM_MESSAGE 1024
const char *gp_oom_message(const struct gp_oom *oom,
			   char message[GP_OOM_MESSAGE]);

#endif
