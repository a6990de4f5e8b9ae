/* SPDX-License-Identifier: MIT */
/* Each leaves an empty file, "4711.rank", in the folder of the recording. */
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

void peers_announce(void)
{
	const char *folder = peers_folder();
	char path[PATH_MAX];
	int file;

	if (!folder || (size_t)snprintf(path, sizeof(path), "%s/%ld.rank",
					folder, (long)getpid()) >= sizeof(path))
		return;
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (file >= 0)
		close(file);
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
