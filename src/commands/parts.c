/* SPDX-License-Identifier: MIT */
/* Files that recorded processes leave. */
#include "commands/parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int compare(const void *a, const void *b)
{
	const struct gp_part *x = a, *y = b;

	if (x->began != y->began)
		return x->began > y->began ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

void gp_parts_find(struct gp_parts *parts, const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	struct gp_part part;

	while (list && (entry = readdir(list))) {
		const char *dot = strchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".jsonl") != 0 ||
		    sscanf(entry->d_name, "%llu-%ld", &part.began,
			   &part.number) != 2)
			continue;
		parts->items = gp_mem_grow(parts->items, &parts->room,
					   parts->count + 1, sizeof(part));
		parts->items[parts->count++] = part;
	}
	if (list)
		closedir(list);
	if (parts->count)
		qsort(parts->items, parts->count, sizeof(part), compare);
}

static bool ends_as(const char *name, const char *ending)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ending);
}

void gp_parts_clear(const char *folder)
{
	DIR *list = opendir(folder);
	char path[PATH_MAX];
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if ((ends_as(entry->d_name, ".rank") ||
		     ends_as(entry->d_name, ".ranks")) &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder,
				     entry->d_name) < sizeof(path))
			unlink(path);
	if (list)
		closedir(list);
}

void gp_parts_release(struct gp_parts *parts)
{
	free(parts->items);
	*parts = (struct gp_parts){ 0 };
}

static void path_of(const struct gp_part *part, const char *folder,
		    const char *suffix, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.4000s/%llu-%ld.%s", folder, part->began,
		 part->number, suffix);
}

static bool has_allocations(const struct gp_part *part, const char *folder)
{
	static const char alloc[] = "{\"op\":\"alloc\"";
	char path[PATH_MAX], *line = NULL;
	bool is_there = false;
	size_t room = 0;
	FILE *file;

	path_of(part, folder, "jsonl", path);
	file = fopen(path, "re");
	while (file && !is_there && getline(&line, &room, file) > 0)
		is_there = !strncmp(line, alloc, sizeof(alloc) - 1);
	free(line);
	if (file)
		fclose(file);
	return is_there;
}

static void drop(const struct gp_part *part, const char *folder)
{
	char path[PATH_MAX];

	path_of(part, folder, "jsonl", path);
	unlink(path);
	path_of(part, folder, "calls", path);
	unlink(path);
}

void gp_parts_drop_idle(struct gp_parts *parts, const char *folder)
{
	size_t busy = 0;

	/* Those that are busy come first, in their order. */
	for (size_t i = 0; i < parts->count; i++) {
		struct gp_part part = parts->items[i];

		if (!has_allocations(&part, folder))
			continue;
		memmove(&parts->items[busy + 1], &parts->items[busy],
			(i - busy) * sizeof(part));
		parts->items[busy++] = part;
	}
	for (size_t i = busy; busy && i < parts->count; i++)
		drop(&parts->items[i], folder);
	if (busy)
		parts->count = busy;
}

/* Where the last line ends. */
static off_t end_of_lines(int file, off_t size)
{
	char *bytes =
		size ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0)
		     : MAP_FAILED;
	off_t end = size;

	if (bytes == MAP_FAILED)
		return size;
	while (end && bytes[end - 1] != '\n')
		end--;
	munmap(bytes, (size_t)size);
	return end;
}

/* Its writer has the file mapped, and would die of its being cut off: a copy
 * takes its place. */
static void replace(const char *path, int file, off_t end)
{
	char name[PATH_MAX];
	off_t at = 0;
	int copy;

	if ((size_t)snprintf(name, sizeof(name), "%s.copy", path) >=
	    sizeof(name))
		return;
	copy = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (copy < 0)
		return;
	while (at < end && sendfile(copy, file, &at, (size_t)(end - at)) > 0)
		continue;
	if (close(copy) || at < end || rename(name, path))
		unlink(name);
}

bool gp_part_finish(const struct gp_part *part, const char *path)
{
	bool is_running = !kill((pid_t)(part->number % GP_PART_NEXT), 0);
	int file = open(path, O_RDWR | O_CLOEXEC);
	struct stat about;
	off_t end;

	if (file < 0)
		return false;
	if (!fstat(file, &about)) {
		end = end_of_lines(file, about.st_size);
		if (is_running)
			replace(path, file, end);
		else if (end < about.st_size && ftruncate(file, end))
			end = 0; /* the reader will say what is wrong */
	}
	close(file);
	return is_running;
}
