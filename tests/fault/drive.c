/* SPDX-License-Identifier: MIT */
/*
 * Runs command lines of gpupool again and again, each time with another call
 * that fails, and prints what went wrong:
 *
 *	drive PROGRAM LIBRARY TRACES COMMANDS DRAWS SEED JOBS
 *
 * Each line of COMMANDS is a command line, in which T/ stands for the folder
 * TRACES; each reads T/stdin.
 * Each call of each kind fails once alone and once with all that follow it; if
 * DRAWS is above 0, so many of these failures are drawn instead.
 *
 * A run that succeeds must have written the same as without a failure.  A run
 * that does not must exit with 4, give the reason in one sentence (and a hint),
 * and leave the files as they were: here "out", which exists before.  If the
 * command line begins with "+", its report may also be complete and name a run
 * that failed; with "~", it may succeed and name what failed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page.h"

#define MOST_WORDS    40
#define MOST_COMMANDS 200
#define MOST_SECONDS  20
#define OLD	      "what was there before\n"

static const char *const kinds[FAULT_KINDS] = {
	"memory", "open", "read", "write", "rename", "mmap", "fsync", "thread",
};

struct bytes {
	char *at;
	size_t size;
};

struct command {
	char line[1000]; /* as it is told */
	char text[4000]; /* cut into words */
	char *words[MOST_WORDS];
	bool tells_of_runs, tells_of_all;
	int code;
	struct bytes out, file;
	uint64_t calls[FAULT_KINDS];
};

struct fault {
	int command;
	enum fault_kind kind;
	uint64_t at;
	bool goes_on;
};

struct driver {
	const char *program, *library, *traces;
	struct command commands[MOST_COMMANDS];
	int command_count;
	struct fault *faults;
	size_t fault_count;
	char folder[PATH_MAX]; /* of this worker */
	struct fault_page *page;
	uint64_t draws, random;
};

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "drive: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- files ---- */

static void in_folder(const struct driver *d, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%.4000s/%s", d->folder, name);
}

static struct bytes read_file(const struct driver *d, const char *name)
{
	struct bytes bytes = { 0 };
	char path[PATH_MAX];
	struct stat about;
	FILE *file;

	in_folder(d, name, path);
	file = fopen(path, "r");
	if (!file || fstat(fileno(file), &about))
		give_up(path);
	bytes.size = (size_t)about.st_size;
	bytes.at = calloc(bytes.size + 1, 1);
	if (!bytes.at || fread(bytes.at, 1, bytes.size, file) != bytes.size)
		give_up(path);
	fclose(file);
	return bytes;
}

static void write_old(const struct driver *d)
{
	char path[PATH_MAX];
	FILE *file;

	in_folder(d, "here/out", path);
	file = fopen(path, "w");
	if (!file || fputs(OLD, file) < 0 || fclose(file))
		give_up(path);
}

static bool is_same(const struct bytes *a, const struct bytes *b)
{
	return a->size == b->size && !memcmp(a->at, b->at, a->size);
}

/* Removes everything in a folder except "out"; returns whether there was
 * anything. */
static bool has_others(const struct driver *d, const char *name, char *other)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *list;

	in_folder(d, name, path);
	list = opendir(path);
	if (!list)
		give_up(path);
	while ((entry = readdir(list))) {
		if (!strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, "..") ||
		    !strcmp(entry->d_name, "out"))
			continue;
		found = true;
		snprintf(other, PATH_MAX, "%s", entry->d_name);
		unlinkat(dirfd(list), entry->d_name, 0);
	}
	closedir(list);
	return found;
}

/* ---- one run ---- */

static void redirect(const struct driver *d, const char *name, int to)
{
	char path[PATH_MAX];
	int file;

	in_folder(d, name, path);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (file < 0 || dup2(file, to) < 0)
		_exit(124);
	close(file);
}

static _Noreturn void become(const struct driver *d,
			     const struct command *command)
{
	char here[PATH_MAX], tmp[PATH_MAX], page[PATH_MAX], in[PATH_MAX];
	int input;

	in_folder(d, "here", here);
	in_folder(d, "tmp", tmp);
	in_folder(d, "page", page);
	redirect(d, "stdout", STDOUT_FILENO);
	redirect(d, "stderr", STDERR_FILENO);
	if (snprintf(in, PATH_MAX, "%s/stdin", d->traces) >= PATH_MAX)
		_exit(124);
	input = open(in, O_RDONLY);
	if (input < 0 || dup2(input, STDIN_FILENO) < 0)
		_exit(124);
	if (input > STDERR_FILENO)
		close(input);
	if (chdir(here))
		_exit(124);
	setenv("TMPDIR", tmp, 1);
	setenv(FAULT_PAGE_NAME, page, 1);
	setenv("LD_PRELOAD", d->library, 1);
	alarm(MOST_SECONDS);
	execv(d->program, command->words);
	_exit(124);
}

static int run(const struct driver *d, const struct command *command)
{
	pid_t child;
	int status;

	for (int i = 0; i < FAULT_KINDS; i++)
		atomic_store(&d->page->seen[i], 0);
	atomic_store(&d->page->failed, 0);
	write_old(d);
	child = fork();
	if (!child)
		become(d, command);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		give_up("fork");
	return status;
}

/* ---- what is correct ---- */

static bool complain(const struct driver *d, const struct fault *fault,
		     const char *format, ...)
{
	va_list args;
	char text[5000];
	struct bytes said = read_file(d, "stderr");

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("FAIL %s %llu%s: %s\n    %s\n", kinds[fault->kind],
	       (unsigned long long)fault->at, fault->goes_on ? " and on" : "",
	       d->commands[fault->command].line, text);
	if (said.size)
		printf("    it said: %.300s%s", said.at,
		       said.at[said.size - 1] == '\n' ? "" : "\n");
	free(said.at);
	return false;
}

/* Ended as without a failure: then nothing may differ. */
static bool check_good(const struct driver *d, const struct fault *fault)
{
	const struct command *command = &d->commands[fault->command];
	struct bytes out = read_file(d, "stdout");
	struct bytes file = read_file(d, "here/out");
	bool is_good =
		command->tells_of_all || (is_same(&out, &command->out) &&
					  is_same(&file, &command->file));

	free(out.at);
	free(file.at);
	return is_good ||
	       complain(d, fault, "it ended well, and wrote something else");
}

/* "gpupool: what" and at most a hint follow its usual output. */
static bool check_words(const struct driver *d, const struct fault *fault)
{
	struct bytes said = read_file(d, "stderr");
	const char *sentence = strstr(said.at, "gpupool: ");
	bool is_good = sentence && !strstr(said.at, "(null)") &&
		       !strstr(said.at, "Success");

	free(said.at);
	return is_good || complain(d, fault, "it did not say why it failed");
}

static bool check_bad(const struct driver *d, const struct fault *fault)
{
	const struct bytes old = { (char *)OLD, sizeof(OLD) - 1 };
	struct bytes file = read_file(d, "here/out");
	struct bytes said = read_file(d, "stderr");
	bool is_old = is_same(&file, &old) ||
		      (d->commands[fault->command].tells_of_runs &&
		       strstr(said.at, ": run "));

	free(said.at);
	free(file.at);
	if (!is_old)
		return complain(d, fault, "it failed, and changed its output");
	return check_words(d, fault);
}

static bool check(const struct driver *d, const struct fault *fault, int status)
{
	const struct command *command = &d->commands[fault->command];
	char other[PATH_MAX];
	bool is_good;

	if (WIFSIGNALED(status))
		is_good = complain(d, fault, "signal %d (%s)", WTERMSIG(status),
				   strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == command->code)
		is_good = check_good(d, fault);
	else if (WEXITSTATUS(status) == 4)
		is_good = check_bad(d, fault);
	else
		is_good = complain(d, fault, "exit %d, not 4",
				   WEXITSTATUS(status));
	if (has_others(d, "here", other) || has_others(d, "tmp", other))
		is_good = complain(d, fault, "it left %s behind", other);
	return is_good;
}

/* ---- all command lines ---- */

static size_t put_word(const struct driver *d, const char *word, char *at,
		       size_t room)
{
	bool is_input = !strncmp(word, "T/", 2);
	int n = snprintf(at, room, "%s%s", is_input ? d->traces : "",
			 is_input ? word + 1 : word);

	if ((size_t)n >= room)
		give_up("a command line is too long");
	return (size_t)n;
}

static void read_commands(struct driver *d, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1000];

	if (!file)
		give_up(path);
	while (fgets(line, sizeof(line), file)) {
		struct command *command = &d->commands[d->command_count];
		char *at = command->text, *rest = line, *word;
		size_t n = 0;

		line[strcspn(line, "\n")] = 0;
		if (!*line || *line == '#')
			continue;
		command->tells_of_runs = *line == '+';
		command->tells_of_all = *line == '~';
		rest += command->tells_of_runs || command->tells_of_all;
		memcpy(command->line, line, sizeof(line));
		command->words[n++] = (char *)"gpupool";
		while ((word = strsep(&rest, " ")) && n < MOST_WORDS - 1) {
			command->words[n++] = at;
			at += 1 +
			      put_word(d, word, at,
				       sizeof(command->text) -
					       (size_t)(at - command->text));
		}
		if (++d->command_count == MOST_COMMANDS)
			break;
	}
	fclose(file);
}

static void enter(struct driver *d, const char *folder, int worker)
{
	static const char *const folders[] = { "", "here", "tmp" };
	char path[PATH_MAX];
	int file;

	snprintf(d->folder, sizeof(d->folder), "%s/%d", folder, worker);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		in_folder(d, folders[i], path);
		if (mkdir(path, 0777) && errno != EEXIST)
			give_up(path);
	}
	in_folder(d, "page", path);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0 || ftruncate(file, sizeof(*d->page)))
		give_up(path);
	d->page = mmap(NULL, sizeof(*d->page), PROT_READ | PROT_WRITE,
		       MAP_SHARED, file, 0);
	if (d->page == MAP_FAILED)
		give_up(path);
	close(file);
}

/* What each command does if nothing fails. */
static void rehearse(struct driver *d)
{
	for (int i = 0; i < d->command_count; i++) {
		struct command *command = &d->commands[i];
		char other[PATH_MAX];
		int status = run(d, command);

		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1 ||
		    has_others(d, "here", other)) {
			struct bytes said = read_file(d, "stderr");

			printf("FAIL without a failure: %s (status %x): %s\n",
			       command->line, (unsigned)status, said.at);
			exit(1);
		}
		command->code = WEXITSTATUS(status);
		command->out = read_file(d, "stdout");
		command->file = read_file(d, "here/out");
		for (int k = 0; k < FAULT_KINDS; k++) {
			command->calls[k] = atomic_load(&d->page->seen[k]);
			d->fault_count += 2 * command->calls[k];
		}
	}
}

static void list_faults(struct driver *d)
{
	size_t n = 0;

	d->faults = calloc(d->fault_count + 1, sizeof(*d->faults));
	if (!d->faults)
		give_up("memory");
	for (int i = 0; i < d->command_count; i++)
		for (int k = 0; k < FAULT_KINDS; k++)
			for (uint64_t c = 0; c < 2 * d->commands[i].calls[k];
			     c++)
				d->faults[n++] = (struct fault){
					.command = i,
					.kind = (enum fault_kind)k,
					.at = c / 2 + 1,
					.goes_on = c % 2,
				};
}

/* SplitMix64 */
static uint64_t draw(struct driver *d)
{
	uint64_t x = d->random += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* There are many calls of one kind and few of others, so every second draw is
 * of a kind other than memory, if there is one. */
static void draw_faults(struct driver *d)
{
	struct fault *drawn = calloc(d->draws + 1, sizeof(*drawn));

	if (!drawn || !d->fault_count)
		give_up("memory");
	for (size_t i = 0; i < d->draws; i++) {
		int tries = 0;

		do
			drawn[i] = d->faults[draw(d) % d->fault_count];
		while (i % 2 && drawn[i].kind == FAULT_MEMORY &&
		       ++tries < 1000);
	}
	free(d->faults);
	d->faults = drawn;
	d->fault_count = d->draws;
}

static int work(struct driver *d, int worker, int workers)
{
	bool is_good = true;

	for (size_t i = (size_t)worker; i < d->fault_count;
	     i += (size_t)workers) {
		const struct fault *fault = &d->faults[i];

		d->page->kind = fault->kind;
		d->page->at = fault->at;
		d->page->goes_on = fault->goes_on;
		if (!check(d, fault, run(d, &d->commands[fault->command])))
			is_good = false;
		fflush(stdout);
	}
	return !is_good;
}

static int work_together(struct driver *d, const char *folder, int workers)
{
	int failed = 0, status;

	for (int i = 0; i < workers; i++)
		if (!fork()) {
			enter(d, folder, i);
			_exit(work(d, i, workers));
		}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

int main(int argc, char **argv)
{
	static struct driver d;
	char folder[] = "/tmp/gpupool-fault-XXXXXX", remove[64];
	int failed;

	if (argc != 8)
		return 2;
	d.program = argv[1];
	d.library = argv[2];
	d.traces = argv[3];
	d.draws = strtoull(argv[5], NULL, 10);
	d.random = strtoull(argv[6], NULL, 10);
	read_commands(&d, argv[4]);
	if (!mkdtemp(folder))
		give_up("/tmp");
	enter(&d, folder, 0);
	rehearse(&d);
	list_faults(&d);
	printf("# %d commands, %zu faults", d.command_count, d.fault_count);
	if (d.draws)
		draw_faults(&d);
	printf(", %zu tried, seed %s\n", d.fault_count, argv[6]);
	fflush(stdout);
	failed = work_together(&d, folder, atoi(argv[7]));
	snprintf(remove, sizeof(remove), "rm -rf %s", folder);
	if (system(remove))
		failed = 1;
	return failed;
}
