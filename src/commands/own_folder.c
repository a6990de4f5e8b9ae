/* SPDX-License-Identifier: MIT */
/* Folders that belong to this user alone, and where this program is. */
#include "commands/own_folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/output.h"

bool gp_own_cache(const char *name, char path[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length = PATH_MAX;

	*path = '\0';
	if (cache && *cache == '/')
		length = snprintf(path, PATH_MAX, "%s/gpupool/%s", cache, name);
	else if (home && *home == '/')
		length = snprintf(path, PATH_MAX, "%s/.cache/gpupool/%s", home,
				  name);
	if (length < PATH_MAX)
		return true;
	*path = '\0';
	return false;
}

/* Looks relative to the library that contains this code. */
static void find_beside_library(char path[PATH_MAX])
{
	static const char *const places[] = {
		"../bin/gpupool",
		"../../bin/gpupool", /* from Debian's library folder */
		"gpupool",
	};
	static const char own;
	Dl_info about;
	const char *end;

	*path = '\0';
	if (!dladdr(&own, &about) || !about.dli_fname)
		return;
	end = strrchr(about.dli_fname, '/');
	for (size_t i = 0; end && i < sizeof(places) / sizeof(*places); i++) {
		int length = (int)(end - about.dli_fname);

		length = snprintf(path, PATH_MAX, "%.*s/%s", length,
				  about.dli_fname, places[i]);
		if (length < PATH_MAX && !access(path, X_OK))
			return;
	}
	*path = '\0';
}

void gp_own_path(char path[PATH_MAX])
{
	ssize_t n;

	if (gp_outlet_is_redirected()) {
		find_beside_library(path);
		return;
	}
	n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = 0;
}

void gp_own_program(char *path, size_t size)
{
	char program[PATH_MAX];
	const char *end;

	gp_own_path(program);
	end = strrchr(program, '/');
	snprintf(path, size, "%.*s", end ? (int)(end - program) : 0, program);
}

#define OPEN_FOLDERS 16 /* open at the same time while a tree is removed */

static bool is_private(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISDIR(about.st_mode) &&
	       about.st_uid == geteuid() &&
	       !(about.st_mode & (S_IWGRP | S_IWOTH));
}

bool gp_own_is_safe(const char *path)
{
	const char *end = strrchr(path, '/');
	char parent[PATH_MAX];

	if (!end || end - path >= PATH_MAX)
		return false;
	memcpy(parent, path, (size_t)(end - path));
	parent[end - path] = '\0';
	return is_private(parent) && is_private(path);
}

bool gp_own_make(const char *path)
{
	char part[PATH_MAX];

	if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		return false;
	for (char *at = part + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		mkdir(part, 0700);
		*at = '/';
	}
	mkdir(part, 0700);
	return gp_own_is_safe(path);
}

enum gp_status gp_own_fresh(const char *name, char path[PATH_MAX],
			    struct gp_diag *diag)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || *tmp != '/' || strlen(tmp) > PATH_MAX - 64)
		tmp = "/tmp";
	snprintf(path, PATH_MAX, "%.4000s/gpupool-%s.XXXXXX", tmp, name);
	if (mkdtemp(path))
		return GP_OK;
	gp_diag_file(diag, tmp);
	gp_diag_hint(diag, "name a folder in TMPDIR");
	*path = '\0';
	return gp_diag_set(diag, GP_SYSTEM, "cannot make a folder in it: %s",
			   strerror(errno));
}

static int remove_one(const char *path, const struct stat *about, int type,
		      struct FTW *at)
{
	(void)about;
	(void)at;
	if (type == FTW_DP)
		rmdir(path);
	else
		unlink(path);
	return 0;
}

void gp_own_remove(const char *path)
{
	if (*path)
		nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
