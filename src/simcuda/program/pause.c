/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a device takes a moment, in which other threads of the program
 * can run, as with a real device: threads of the backward pass that release
 * Python objects must have finished when the interpreter ends.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/scripts.h"

static void pause_briefly(void)
{
	const struct timespec moment = { .tv_nsec = 200000 };

	nanosleep(&moment, NULL);
}

__attribute__((constructor)) static void start(void)
{
	process_hooks.pause = pause_briefly;
}

/* ---- before the interpreter ends ---- */

#define QUIET_LOOKS 5
#define MOST_LOOKS  1000

/* The state follows the name in parentheses, which may contain anything. */
static bool is_running(const char *task)
{
	char path[64], line[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", task);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	state = strrchr(line, ')');
	return state && state[1] == ' ' && (state[2] == 'R' || state[2] == 'D');
}

static bool others_are_running(void)
{
	DIR *list = opendir("/proc/self/task");
	struct dirent *entry;
	bool is_any = false;

	while (list && (entry = readdir(list)))
		if (atol(entry->d_name) > 0 && atol(entry->d_name) != gettid())
			is_any |= is_running(entry->d_name);
	if (list)
		closedir(list);
	return is_any;
}

void simcuda_settle(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	unsigned quiet = 0;

	for (unsigned i = 0; i < MOST_LOOKS && quiet < QUIET_LOOKS; i++) {
		quiet = others_are_running() ? 0 : quiet + 1;
		nanosleep(&moment, NULL);
	}
}
