/* SPDX-License-Identifier: MIT */
/*
 * Prepared engines: folders that scripts/torch-engine.sh made, in torch/ beside
 * the program or in the user's cache.
 */
#include "commands/torch_lib.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "commands/own_folder.h"
#include "gpupool/knob.h"
#include "gpupool/release.h"

static bool is_there(const char *format, const char *folder)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), format, folder) <
		       sizeof(path) &&
	       !access(path, R_OK);
}

static bool is_prepared(const char *folder)
{
	return is_there("%s/gpupool-torch", folder) &&
	       is_there("%s/release", folder);
}

enum gp_status gp_torch_lib_release(const char *folder, uint8_t *release,
				    struct gp_diag *diag)
{
	char path[PATH_MAX + sizeof("/release")], text[32] = "";
	enum gp_status status = GP_SYSTEM;
	FILE *file;

	snprintf(path, sizeof(path), "%s/release", folder);
	file = fopen(path, "r");
	if (file && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = 0;
		status = gp_release_parse(text, release, diag);
	}
	if (file)
		fclose(file);
	if (status == GP_OK)
		return GP_OK;
	gp_diag_file(diag, path);
	return gp_diag_set(diag, GP_SYSTEM, "it names no release of PyTorch");
}

/* ---- looking ---- */

/* How well a folder serves: 0 not at all, 2 is that very release. */
static int fitness(const char *folder, uint8_t release)
{
	struct gp_diag ignored = { 0 };
	uint8_t its;

	if (!is_prepared(folder) ||
	    gp_torch_lib_release(folder, &its, &ignored) != GP_OK)
		return 0;
	if (its == release)
		return 2;
	return gp_release_alike(its, release);
}

struct search {
	uint8_t release;
	int best;
	char folder[PATH_MAX];
};

/* Of those that serve as well, the last by name, so that the order in which a
 * file system lists them does not matter. */
static void consider(struct search *search, const char *folder)
{
	int fit = fitness(folder, search->release);

	if (!fit || fit < search->best ||
	    (fit == search->best && strcmp(folder, search->folder) < 0))
		return;
	search->best = fit;
	snprintf(search->folder, sizeof(search->folder), "%s", folder);
}

static void look_in(struct search *search, const char *folder)
{
	DIR *list = *folder ? opendir(folder) : NULL;
	char path[PATH_MAX];
	struct dirent *entry;

	if (!list)
		return;
	while ((entry = readdir(list))) {
		if (*entry->d_name == '.')
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder,
				     entry->d_name) < sizeof(path))
			consider(search, path);
	}
	closedir(list);
}

enum gp_status gp_torch_lib_find(uint8_t release, char **folder,
				 struct gp_diag *diag)
{
	struct search search = { .release = release };
	char program[PATH_MAX], cache[PATH_MAX];
	char path[PATH_MAX + sizeof("/torch")];

	gp_own_program(program, sizeof(program));
	snprintf(path, sizeof(path), "%s/torch", program);
	look_in(&search, path);
	if (search.best < 2) {
		/* What lies there is run. */
		if (gp_own_cache("torch", cache) && gp_own_is_safe(cache))
			look_in(&search, cache);
	}
	if (search.best) {
		*folder =
			gp_mem_copy_text(search.folder, strlen(search.folder));
		return GP_OK;
	}
	if (!access(cache, F_OK) && !gp_own_is_safe(cache))
		gp_diag_hint(diag,
			     "%s is not looked into: others than this user "
			     "can write there",
			     cache);
	else
		gp_diag_hint(
			diag,
			"make torch-engine TORCH=2.%u.0 fetches it; or give a "
			"wheel of it, or the site-packages that hold it, with "
			"--torch-lib",
			release);
	return gp_diag_set(diag, GP_SYSTEM,
			   "PyTorch 2.%u's own allocator is not prepared on "
			   "this machine",
			   release);
}

/* ---- preparing ---- */

/* Names what was at a path at a time, so that another wheel there is prepared
 * anew. */
static bool cache_entry(const char *path, char *entry, size_t size)
{
	char real[PATH_MAX], library[PATH_MAX + 64], cache[PATH_MAX];
	struct stat about;
	uint64_t key = 0;

	if (!gp_own_cache("torch", cache) || !realpath(path, real))
		return false;
	snprintf(library, sizeof(library), "%s/torch/lib/libc10_cuda.so", real);
	if (stat(library, &about) && stat(real, &about))
		return false;
	for (const char *c = real; *c; c++)
		key = gp_hash64(key ^ (unsigned char)*c);
	key = gp_hash64(key ^ (uint64_t)about.st_mtime);
	key = gp_hash64(key ^ (uint64_t)about.st_size);
	return (size_t)snprintf(entry, size, "%s/by-path-%016llx", cache,
				(unsigned long long)key) < size;
}

/* As it lies in a checkout, and as make install puts it. */
static bool find_script(char *path, size_t size)
{
	static const char *const places[] = {
		"%s/../scripts/torch-engine.sh",
		"%s/../../scripts/torch-engine.sh",
		"%s/../share/gpupool/scripts/torch-engine.sh",
	};
	char program[PATH_MAX - 64];

	gp_own_program(program, sizeof(program));
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, size, places[i], program);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

extern char **environ;

/* Its standard output is for people: it goes where messages go. */
static int run_script(const char *script, const char *entry, const char *path)
{
	char *const arguments[] = { (char *)script, (char *)entry, (char *)path,
				    NULL };
	posix_spawn_file_actions_t files;
	int error, status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	error = posix_spawn(&pid, script, &files, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&files);
	if (error)
		return error;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static enum gp_status prepare(const char *path, const char *entry,
			      struct gp_diag *diag)
{
	char script[PATH_MAX];

	if (!find_script(script, sizeof(script)))
		return gp_diag_set(diag, GP_SYSTEM,
				   "what prepares PyTorch's allocator, "
				   "torch-engine.sh, is not beside gpupool");
	if (run_script(script, entry, path) == 0 && is_prepared(entry))
		return GP_OK;
	gp_diag_hint(diag,
		     "the reason stands above; to see all of it, type: "
		     "%.100s OUT PATH",
		     script);
	return gp_diag_set(diag, GP_SYSTEM,
			   "PyTorch's allocator could not be prepared");
}

/* What is prepared there is run: nobody else may have a hand in it. */
static bool make_cache(struct gp_diag *diag)
{
	char cache[PATH_MAX];

	if (gp_own_cache("torch", cache) && gp_own_make(cache))
		return true;
	gp_diag_file(diag, cache);
	gp_diag_hint(diag, "chmod go-w takes the right to write from others, "
			   "for this folder and the one above it; or name "
			   "another cache in XDG_CACHE_HOME");
	gp_diag_set(diag, GP_SYSTEM,
		    "this folder cannot be made, or others than this user can "
		    "write there");
	return false;
}

enum gp_status gp_torch_lib_prepare(const char *path, char **folder,
				    struct gp_diag *diag)
{
	char entry[PATH_MAX], full[PATH_MAX];
	enum gp_status status = GP_OK;

	gp_diag_file(diag, path);
	if (access(path, R_OK))
		return gp_diag_set(diag, GP_SYSTEM, "%s", strerror(errno));
	if (is_prepared(path)) {
		*folder = gp_mem_copy_text(path, strlen(path));
	} else if (!cache_entry(path, entry, sizeof(entry))) {
		return gp_diag_set(diag, GP_SYSTEM,
				   "there is no cache to prepare it in: HOME "
				   "is not set");
	} else if (!make_cache(diag)) {
		return GP_SYSTEM;
	} else {
		if (!is_prepared(entry))
			status = prepare(realpath(path, full), entry, diag);
		if (status == GP_OK)
			*folder = gp_mem_copy_text(entry, strlen(entry));
	}
	if (status == GP_OK)
		gp_diag_file(diag, "");
	return status;
}
