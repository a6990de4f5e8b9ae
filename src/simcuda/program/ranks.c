/* SPDX-License-Identifier: MIT */
/*
 * Ranks of one job compile the same kernels at the same time, and which of them
 * finds what another has compiled or tried out is a race: each has a folder of
 * its own.  This is done before Python reads the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void move_to(const char *name, const char *folder, const char *rank,
		    const char *within)
{
	const char *old = getenv(name);
	char path[4096];

	/* The user's own is left as it is. */
	if (!old || strncmp(old, folder, strlen(folder)) != 0)
		return;
	if ((size_t)snprintf(path, sizeof(path), "%s/rank-%s%s", folder, rank,
			     within) < sizeof(path))
		setenv(name, path, 1);
}

__attribute__((constructor)) static void part(void)
{
	const char *folder = getenv("SIMCUDA_KERNELS"), *rank = getenv("RANK");

	if (!folder || !rank || strspn(rank, "0123456789") != strlen(rank))
		return;
	move_to("TORCHINDUCTOR_CACHE_DIR", folder, rank, "");
	move_to("TRITON_CACHE_DIR", folder, rank, "/triton");
}
