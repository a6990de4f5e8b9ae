/* SPDX-License-Identifier: MIT */
/* The process that a library's engine runs in. */
#ifndef ALLOCATOR_PLUGIN_PLUGIN_PROCESS_H
#define ALLOCATOR_PLUGIN_PLUGIN_PROCESS_H

/* argv[0] of that process: gpupool, which then does nothing else. */
#define PLUGIN_PROCESS "gpupool-engine"

/* Its main: serves requests until the other end is closed; the exit status. */
int plugin_process(const char *library);

#endif
