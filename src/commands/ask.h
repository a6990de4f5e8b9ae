/* SPDX-License-Identifier: MIT */
/* Traces that a question may name (gpupool/ask.h), for what reads them. */
#ifndef COMMANDS_ASK_H
#define COMMANDS_ASK_H

#include "gpupool/ask.h"

/* Of the session whose question this thread answers, one more owner's; NULL:
 * none of that name is held. */
struct gp_trace *gp_session_held(const char *name);

#endif
