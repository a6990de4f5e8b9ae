/* SPDX-License-Identifier: MIT */
/* Which PyTorch a command would use: its interpreter knows where it is. */
#include "commands/python.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Sites print what they like when Python starts, so the answer is marked.  The
 * current folder is not where a script looks. */
#define MARK "gpupool-torch:"
static const char program[] =
	"import sys, importlib.util as u; "
	"sys.path[:] = [p for p in sys.path if p]; s = u.find_spec('torch'); "
	"print('\\n" MARK "' + (list(s.submodule_search_locations or [''])[0] "
	"if s else ''))";

static bool is_python(const char *path)
{
	const char *base = strrchr(path, '/');

	return !strncmp(base ? base + 1 : path, "python", 6);
}

/* Where the shell would find it; "" if nowhere. */
static void find_in_path(const char *name, char *path, size_t size)
{
	const char *from = getenv("PATH");

	snprintf(path, size, "%s", name);
	if (strchr(name, '/') || !from)
		return;
	while (*from) {
		size_t n = strcspn(from, ":");

		snprintf(path, size, "%.*s/%s", (int)n, from, name);
		if (!access(path, X_OK))
			return;
		from += n + (from[n] == ':');
	}
	*path = 0;
}

/* "#!/usr/bin/env python3" and "#!/venv/bin/python -s" name one. */
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

/* "env X=1 python train.py", "nice python train.py": the word that is one. */
static bool find_word(const char *const *command, char *path, size_t size)
{
	for (; *command; command++) {
		if (!is_python(*command))
			continue;
		find_in_path(*command, path, size);
		if (*path)
			return true;
	}
	return false;
}

static enum gp_status find_interpreter(const char *const *command, char *path,
				       size_t size, struct gp_diag *diag)
{
	find_in_path(*command, path, size);
	if (!*path || access(path, F_OK)) {
		gp_diag_file(diag, *command);
		return gp_diag_set(diag, GP_SYSTEM, "there is no such program");
	}
	if (!is_python(*command) && !read_first_line(path, path, size) &&
	    !find_word(command + 1, path, size))
		find_in_path("python3", path, size);
	if (*path)
		return GP_OK;
	gp_diag_file(diag, *command);
	gp_diag_hint(diag, "give the interpreter: gpupool record -o "
			   "trace.json -- python3 program.py");
	return gp_diag_set(diag, GP_SYSTEM,
			   "it is no Python program, and "
			   "there is no python3 here");
}

/* What follows the mark, of all that it prints. */
static bool read_answer(FILE *answer, char *text, size_t size)
{
	char line[PATH_MAX + sizeof(MARK)];
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
			      (char *)(uintptr_t)program, NULL };
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
	snprintf(torch->version, sizeof(torch->version), "of no version");
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
	char path[PATH_MAX];
	enum gp_status status =
		find_interpreter(command, path, sizeof(path), diag);

	if (status != GP_OK)
		return status;
	gp_diag_file(diag, path);
	if (!ask(path, torch->folder, sizeof(torch->folder))) {
		gp_diag_hint(diag, "give the interpreter: gpupool record -o "
				   "trace.json -- python3 program.py");
		return gp_diag_set(diag, GP_SYSTEM,
				   "this Python cannot be asked for PyTorch");
	}
	if (!*torch->folder) {
		gp_diag_hint(diag, "no GPU and no CUDA is needed for it: pip "
				   "install torch");
		return gp_diag_set(diag, GP_SYSTEM,
				   "this Python has no PyTorch");
	}
	read_version(torch);
	return GP_OK;
}
