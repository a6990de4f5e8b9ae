/* SPDX-License-Identifier: MIT */
/* What is said about a run, on standard error. */
#ifndef COMMANDS_TELL_H
#define COMMANDS_TELL_H

/* As fprintf; what strangers named in it is made safe (base/safe.h). */
void gp_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
