/* SPDX-License-Identifier: MIT */
/* Each process leaves an empty file, "4711.rank", in the recording's folder. A
 * process that saves unknown values leaves "values.saved". */
#include "simcuda/program/peers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *peers_folder(void)
{
	return getenv("SIMCUDA_RECORD");
}

/* The path of a file of that name in the folder; false: there is none. */
static bool path_of(const char *name, char path[PATH_MAX])
{
	const char *folder = peers_folder();

	return folder && (size_t)snprintf(path, PATH_MAX, "%s/%s", folder,
					  name) < PATH_MAX;
}

static void leave(const char *name)
{
	char path[PATH_MAX];
	int file;

	if (!path_of(name, path))
		return;
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (file >= 0)
		close(file);
}

void peers_announce(void)
{
	char name[32];

	snprintf(name, sizeof(name), "%ld.rank", (long)getpid());
	leave(name);
}

#define SAVED "values.saved"

void peers_note_saved(void)
{
	leave(SAVED);
}

bool peers_have_saved(void)
{
	char path[PATH_MAX];

	return path_of(SAVED, path) && !access(path, F_OK);
}

bool peers_is_alive(int64_t process)
{
	return !kill((pid_t)process, 0) || errno == EPERM;
}

int peers_count(void)
{
	const char *folder = peers_folder();
	DIR *list = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	int count = 0;

	while (list && (entry = readdir(list))) {
		char *end;
		long process = strtol(entry->d_name, &end, 10);

		if (process > 0 && !strcmp(end, ".rank") &&
		    peers_is_alive(process))
			count++;
	}
	if (list)
		closedir(list);
	return count;
}

/* ---- a folder for each rank's compiled kernels ---- */

/*
 * Ranks of a job compile the same kernels at the same time, and it is a race
 * which of them finds what another has compiled or tuned. So each rank gets a
 * folder of its own. This is done before Python reads the environment.
 */

static void move_to(const char *name, const char *folder, const char *rank,
		    const char *within)
{
	const char *old = getenv(name);
	char path[4096];

	/* A folder that the user chose is not changed. */
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
