/* SPDX-License-Identifier: MIT */
/* The process in which a library's engine runs. */
#ifndef ALLOCATOR_PLUGIN_PLUGIN_PROCESS_H
#define ALLOCATOR_PLUGIN_PLUGIN_PROCESS_H

/* argv[0] of that process: gpupool acts as that process if it has this name. */
#define PLUGIN_PROCESS "gpupool-engine"

/* The main function of the process: serves requests until the engine closes the
 * socket; returns the exit status. */
int plugin_process(const char *library);

#endif
