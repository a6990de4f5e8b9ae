/* SPDX-License-Identifier: MIT */
/* The traces that a command line names. */
#include "commands/trace_paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"

/* More files than any job has ranks: it is another folder that is meant. */
#define MOST_FILES 100000

static void add(struct gp_paths *paths, char *path)
{
	paths->items = gp_mem_grow(paths->items, &paths->room, paths->count + 1,
				   sizeof(char *));
	paths->items[paths->count++] = path;
}

/* Named by itself, and not found in a folder. */
static void add_named(struct gp_paths *paths, char *path)
{
	add(paths, path);
	paths->is_named = gp_mem_grow(paths->is_named, &paths->named_room,
				      paths->count, sizeof(bool));
	memset(paths->is_named + paths->named_count, 0,
	       (paths->count - paths->named_count) * sizeof(bool));
	paths->is_named[paths->count - 1] = true;
	paths->named_count = paths->count;
}

bool gp_paths_is_named(const struct gp_paths *paths, size_t index)
{
	return index < paths->named_count && paths->is_named[index];
}

static char *join(const char *folder, const char *name)
{
	size_t length = strlen(folder), size = length + strlen(name) + 2;
	char *path = gp_mem_alloc(size, 1);

	snprintf(path, size, "%s%s%s", folder,
		 length && folder[length - 1] == '/' ? "" : "/", name);
	return path;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void add_files(struct gp_paths *paths, const char *folder, DIR *dir)
{
	size_t first = paths->count;
	struct dirent *entry;

	while (paths->count <= MOST_FILES && (entry = readdir(dir))) {
		struct stat info;
		char *path;

		if (*entry->d_name == '.')
			continue;
		path = join(folder, entry->d_name);
		/* Reading will tell of a link that leads nowhere. */
		if (stat(path, &info) || S_ISREG(info.st_mode))
			add(paths, path);
		else
			free(path);
	}
	if (paths->count > first)
		qsort(paths->items + first, paths->count - first,
		      sizeof(char *), by_name);
}

enum gp_status gp_paths_add(struct gp_paths *paths, const char *path,
			    struct gp_diag *diag)
{
	size_t before = paths->count;
	struct stat info;
	DIR *dir;

	if (stat(path, &info) || !S_ISDIR(info.st_mode)) {
		add_named(paths, gp_mem_copy_text(path, strlen(path)));
		return GP_OK;
	}
	dir = opendir(path);
	if (!dir) {
		gp_diag_file(diag, path);
		return gp_diag_set(diag, gp_file_status(errno), "%s",
				   strerror(errno));
	}
	add_files(paths, path, dir);
	closedir(dir);
	if (paths->count > before && paths->count <= MOST_FILES)
		return GP_OK;
	gp_diag_file(diag, path);
	if (paths->count > MOST_FILES)
		return gp_diag_set(diag, GP_INPUT,
				   "more than %d files are in this folder",
				   MOST_FILES);
	return gp_diag_set(diag, GP_INPUT, "no files are in this folder");
}

void gp_paths_release(struct gp_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	free(paths->items);
	free(paths->is_named);
	*paths = (struct gp_paths){ 0 };
}
