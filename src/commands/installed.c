/* SPDX-License-Identifier: MIT */
/* Finds what is installed on this machine besides gpupool. */
#include "commands/installed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "commands/own_folder.h"
#include "commands/progress.h"
#include "gpupool/knob.h"

/* ---- the PyTorch of a Python interpreter, which is asked for it ---- */

extern char **environ;

/* find_torch.py, embedded by the build. */
extern const char gp_find_torch_py[];

#define MARK "gpupool-torch:"

static bool is_python(const char *path)
{
	const char *base = strrchr(path, '/');

	return !strncmp(base ? base + 1 : path, "python", 6);
}

bool gp_program_find(const char *name, char *path, size_t size)
{
	const char *from = getenv("PATH");

	snprintf(path, size, "%s", name);
	if (strchr(name, '/') || !from)
		return !access(path, X_OK);
	while (*from) {
		size_t n = strcspn(from, ":");

		snprintf(path, size, "%.*s/%s", (int)n, from, name);
		if (!access(path, X_OK))
			return true;
		from += n + (from[n] == ':');
	}
	*path = 0;
	return false;
}

/* Finds the interpreter in a script's first line: "#!/usr/bin/env python3",
 * "#!/venv/bin/python -s". */
static bool read_first_line(const char *path, char *interpreter, size_t size)
{
	char line[PATH_MAX] = "";
	FILE *file = fopen(path, "r");
	bool is_script = file && fgets(line, sizeof(line), file) &&
			 !strncmp(line, "#!", 2);

	if (file)
		fclose(file);
	if (!is_script)
		return false;
	for (char *rest = line + 2, *word; (word = strsep(&rest, " \t\n"));) {
		snprintf(interpreter, size, "%s", word);
		if (is_python(word))
			return true;
	}
	return false;
}

/* Finds the interpreter among a command's words: "env X=1 python train.py",
 * "nice python train.py". */
static bool find_word(const char *const *command, char *path, size_t size)
{
	for (; *command; command++) {
		if (!is_python(*command))
			continue;
		gp_program_find(*command, path, size);
		if (*path)
			return true;
	}
	return false;
}

static enum gp_status find_interpreter(const char *const *command, char *path,
				       size_t size, struct gp_diag *diag)
{
	gp_program_find(*command, path, size);
	if (!*path || access(path, F_OK)) {
		gp_diag_file(diag, *command);
		return gp_diag_set(diag, GP_SYSTEM, "there is no such program");
	}
	if (!is_python(*command) && !read_first_line(path, path, size) &&
	    !find_word(command + 1, path, size))
		gp_program_find("python3", path, size);
	if (*path)
		return GP_OK;
	gp_diag_file(diag, *command);
	gp_diag_hint(diag, "give the interpreter: gpupool record -o "
			   "trace.json -- python3 program.py");
	return gp_diag_set(diag, GP_SYSTEM,
			   "it is not a Python program, and there is no "
			   "python3 on this machine");
}

/* Reads what follows the mark in the interpreter's output. */
static bool read_answer(FILE *answer, char *text, size_t size)
{
	char line[5 * PATH_MAX];
	bool is_found = false;

	while (fgets(line, sizeof(line), answer)) {
		if (strncmp(line, MARK, sizeof(MARK) - 1) != 0)
			continue;
		line[strcspn(line, "\n")] = 0;
		is_found = strlen(line) < size;
		if (is_found)
			memcpy(text, line + sizeof(MARK) - 1,
			       strlen(line) - sizeof(MARK) + 2);
	}
	return is_found;
}

static bool ask(const char *interpreter, char *text, size_t size)
{
	char *arguments[] = { (char *)(uintptr_t)interpreter,
			      (char *)(uintptr_t) "-c",
			      (char *)(uintptr_t)gp_find_torch_py,
			      (char *)(uintptr_t)MARK, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1;
	bool is_good, is_found;
	FILE *answer;
	pid_t child;

	if (pipe(ends))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	is_good = !posix_spawnp(&child, interpreter, &actions, NULL, arguments,
				environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	answer = fdopen(ends[0], "r");
	is_found = is_good && answer && read_answer(answer, text, size);
	if (answer)
		fclose(answer);
	if (is_good)
		waitpid(child, &status, 0);
	return is_found && !status;
}

/* __version__ = '2.15.0+cu130' */
static void read_version(struct gp_python_torch *torch)
{
	char path[PATH_MAX + 16], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/version.py", torch->folder);
	snprintf(torch->version, sizeof(torch->version), "of unknown version");
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "__version__ = %*['\"]%39[^'\"]",
			   torch->version) == 1)
			break;
	if (file)
		fclose(file);
	if (sscanf(torch->version, "2.%u", &torch->release) != 1)
		torch->release = 0;
}

enum gp_status gp_python_find_torch(const char *const *command,
				    struct gp_python_torch *torch,
				    struct gp_diag *diag)
{
	char path[PATH_MAX], *rest = torch->packages;
	enum gp_status status =
		find_interpreter(command, path, sizeof(path), diag);

	if (status != GP_OK)
		return status;
	gp_diag_file(diag, path);
	if (!ask(path, torch->packages, sizeof(torch->packages))) {
		gp_diag_hint(diag, "give the interpreter: gpupool record -o "
				   "trace.json -- python3 program.py");
		return gp_diag_set(
			diag, GP_SYSTEM,
			"this Python could not be run to look for PyTorch");
	}
	snprintf(torch->folder, sizeof(torch->folder), "%s",
		 strsep(&rest, "\t"));
	memmove(torch->packages, rest ? rest : "", rest ? strlen(rest) + 1 : 1);
	if (!*torch->folder) {
		gp_diag_hint(
			diag,
			"it needs neither a GPU nor CUDA: pip install torch");
		return gp_diag_set(diag, GP_SYSTEM,
				   "this Python has no PyTorch");
	}
	read_version(torch);
	return GP_OK;
}

/* ---- the CUDA runtime ---- */

/* The first file that matches pattern, relative to PyTorch's folder. */
static bool find_beside(const char *torch, const char *pattern, char *path,
			size_t size)
{
	char full[PATH_MAX + 64];
	bool is_there;
	glob_t found;

	snprintf(full, sizeof(full), "%s/%s", torch, pattern);
	is_there = !glob(full, 0, NULL, &found) && found.gl_pathc;
	if (is_there)
		snprintf(path, size, "%s", found.gl_pathv[0]);
	globfree(&found);
	return is_there;
}

/* Finds the CUDA runtime that was installed with python3's PyTorch; false:
 * there is none. */
static bool find_pytorchs(char *path, size_t size)
{
	static const char *const python[] = { "python3", NULL };
	struct gp_python_torch torch;
	struct gp_diag ignored = { 0 };

	/* In NVIDIA's own packages, or in the one that has all of CUDA. */
	return gp_python_find_torch(python, &torch, &ignored) == GP_OK &&
	       (find_beside(torch.folder, "../nvidia/*/lib/libcudart.so.[0-9]*",
			    path, size) ||
		find_beside(torch.folder, "lib/libcudart*.so*", path, size));
}

enum gp_status gp_cuda_runtime_open(const struct gp_options *options,
				    struct gp_cuda **cuda, struct gp_diag *diag)
{
	struct gp_cuda_config config = {
		.path = options->cudart,
		.now = gp_progress_now,
	};
	char path[PATH_MAX];

	if (!config.path)
		config.path = getenv("GPUPOOL_CUDART");
	/* An empty variable counts as not set; dlopen("") opens this program.
	 */
	if (config.path && !*config.path)
		config.path = NULL;
	if (!config.path && !gp_cuda_is_found() &&
	    find_pytorchs(path, sizeof(path)))
		config.path = path;
	return gp_cuda_open(&config, cuda, diag);
}

/* ---- CUDA without a device ---- */

bool gp_simcuda_find(unsigned cuda, char path[PATH_MAX])
{
	static const char *const places[] = { "simcuda",
					      "../lib/gpupool/simcuda" };
	char here[PATH_MAX - 128];

	gp_own_program(here, sizeof(here));
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, PATH_MAX, "%s/%s/%u/libgpupool-simcuda.so", here,
			 places[i], cuda);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* ---- PyTorch's own allocator: folders that scripts/torch-engine.sh made, in
 * torch/ beside the program or in the user's cache ---- */

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

/* How suitable a folder is: 0 not at all, 1 its release makes the same
 * decisions, 2 it is the release itself. */
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

/* Of several that are equally suitable, the last by name is taken, so that the
 * result does not depend on the order of the directory. */
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
		/* Engines from there are executed, so the folder must be
		 * safe. */
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
			     "%s is not used: other users can write there",
			     cache);
	else
		gp_diag_hint(diag,
			     "make torch-engine TORCH=2.%u.0 fetches it; or "
			     "give its wheel, or a site-packages folder that "
			     "has it, with --torch-lib",
			     release);
	return gp_diag_set(diag, GP_SYSTEM,
			   "PyTorch 2.%u's own allocator is not prepared on "
			   "this machine",
			   release);
}

/* ---- preparing ---- */

/* The name depends on path and modification time, so that a new wheel at the
 * same path is prepared again. */
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

/* Finds the script in a checkout, or where make install puts it. */
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

/* Runs the script with its standard output sent to standard error. */
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
				   "torch-engine.sh, which prepares PyTorch's "
				   "allocator, is not next to gpupool");
	if (run_script(script, entry, path) == 0 && is_prepared(entry))
		return GP_OK;
	gp_diag_hint(
		diag,
		"the reason is above; to see all of it, run: %.100s OUT PATH",
		script);
	return gp_diag_set(diag, GP_SYSTEM,
			   "PyTorch's allocator could not be prepared");
}

/* Makes the cache folder. Its contents are executed, so no other user may be
 * able to write there. */
static bool make_cache(struct gp_diag *diag)
{
	char cache[PATH_MAX];

	if (gp_own_cache("torch", cache) && gp_own_make(cache))
		return true;
	gp_diag_file(diag, cache);
	gp_diag_hint(diag, "take the write permission of this folder and its "
			   "parent from others with chmod go-w, or name "
			   "another cache in XDG_CACHE_HOME");
	gp_diag_set(diag, GP_SYSTEM,
		    "this folder cannot be created, or other users can write "
		    "there");
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
