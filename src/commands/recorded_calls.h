/* SPDX-License-Identifier: MIT */
/* Calls of CUDA's libraries whose answers a recorded program went by although
 * nobody knows them. */
#ifndef COMMANDS_RECORDED_CALLS_H
#define COMMANDS_RECORDED_CALLS_H

/* Tells on stderr what the recorder counted; no such file, nothing to tell. */
void gp_recorded_calls_tell(const char *path);

#endif
