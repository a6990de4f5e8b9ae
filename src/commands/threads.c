/* SPDX-License-Identifier: MIT */
/* How many threads a command uses unless told. */
#include "commands/threads.h"

#include <sched.h>
#include <unistd.h>

size_t gp_threads_by_default(void)
{
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set))
		return (size_t)CPU_COUNT(&set);
	return (size_t)sysconf(_SC_NPROCESSORS_ONLN);
}
