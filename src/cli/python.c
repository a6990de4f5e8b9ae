/* Which PyTorch a command would use: its interpreter knows where it is. */
#include "cli/python.h"

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char program[] =
	"import importlib.util as u; s = u.find_spec('torch'); "
	"print(list(s.submodule_search_locations)[0] if s else '')";

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

static void interpreter_of(const char *command, char *interpreter, size_t size)
{
	char path[PATH_MAX];

	find_in_path(command, path, sizeof(path));
	if (is_python(command))
		snprintf(interpreter, size, "%s", path);
	else if (!read_first_line(path, interpreter, size))
		find_in_path("python3", interpreter, size);
}

/* The first line that it prints. */
static bool ask(const char *interpreter, char *line, int size)
{
	char *arguments[] = { (char *)(uintptr_t)interpreter,
			      (char *)(uintptr_t) "-c",
			      (char *)(uintptr_t)program, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], status = -1;
	FILE *answer;
	pid_t child;
	bool is_good;

	*line = 0;
	if (pipe(ends))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	is_good = !posix_spawnp(&child, interpreter, &actions, NULL, arguments,
				environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	answer = fdopen(ends[0], "r");
	if (is_good && answer && fgets(line, size, answer))
		line[strcspn(line, "\n")] = 0;
	if (answer)
		fclose(answer);
	if (is_good)
		waitpid(child, &status, 0);
	return is_good && !status;
}

static unsigned release_of(const char *folder)
{
	char path[PATH_MAX + 16], line[256];
	unsigned release = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/version.py", folder);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "__version__ = '2.%u", &release) == 1)
			break;
	if (file)
		fclose(file);
	return release;
}

enum gp_status gp_python_find_torch(const char *command,
				    struct gp_python_torch *torch,
				    struct gp_diag *diag)
{
	char interpreter[PATH_MAX];

	interpreter_of(command, interpreter, sizeof(interpreter));
	if (!*interpreter ||
	    !ask(interpreter, torch->folder, sizeof(torch->folder))) {
		gp_diag_file(diag, *interpreter ? interpreter : command);
		gp_diag_hint(diag, "give the interpreter: gpupool record -o "
				   "trace.json -- python3 program.py");
		return gp_diag_set(diag, GP_SYSTEM,
				   "this Python cannot be asked for PyTorch");
	}
	if (!*torch->folder) {
		gp_diag_file(diag, interpreter);
		gp_diag_hint(diag, "no GPU and no CUDA is needed for it: pip "
				   "install torch");
		return gp_diag_set(diag, GP_SYSTEM,
				   "this Python has no PyTorch");
	}
	torch->release = release_of(torch->folder);
	return GP_OK;
}
