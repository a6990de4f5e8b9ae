/* SPDX-License-Identifier: MIT */
/* Output files that appear whole or not at all. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/safe.h"

/* Linux's own limit. */
#define MOST_LINKS 40

static enum gp_status failed(const char *path, const char *verb,
			     struct gp_diag *diag)
{
	int error = errno;

	gp_diag_file(diag, path);
	return gp_diag_set(diag, GP_SYSTEM, "cannot %s it: %s", verb,
			   strerror(error));
}

enum gp_status gp_file_status(int error)
{
	static const int system[] = { EAGAIN, EINTR,   EIO,    EMFILE,
				      ENFILE, ENOBUFS, ENOMEM, ENOSPC };

	for (size_t i = 0; i < sizeof(system) / sizeof(*system); i++)
		if (error == system[i])
			return GP_SYSTEM;
	return GP_INPUT;
}

bool gp_file_is_folder(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISDIR(info.st_mode);
}

int gp_file_load(FILE *file, size_t most, char **text, size_t *size)
{
	char *bytes = NULL;
	size_t room = 0, used = 0, got;

	do {
		GP_GROW(bytes, used + (1 << 16), room);
		got = fread(bytes + used, 1, room - used - 1, file);
		used += got;
	} while (got && used <= most);
	if (ferror(file)) {
		int error = errno;

		free(bytes);
		return error;
	}
	bytes[used] = '\0';
	*text = bytes;
	*size = used;
	return 0;
}

/* ---- the target ---- */

/* The number in /dev/fd/N and /proc/self/fd/N, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		size_t length = strlen(folders[i]);
		const char *number = path + length;

		if (!strncmp(path, folders[i], length) && *number &&
		    strlen(number) < 7 && !number[strspn(number, "0123456789")])
			return atoi(number);
	}
	return -1;
}

/* Replaces path by the link's target, which is relative to the link. */
static bool follow(char path[PATH_MAX])
{
	char text[PATH_MAX], *name = strrchr(path, '/');
	ssize_t length = readlink(path, text, sizeof(text) - 1);
	size_t folder = name ? (size_t)(name - path) + 1 : 0;

	if (length <= 0)
		return false;
	text[length] = '\0';
	if (*text == '/')
		folder = 0;
	if (folder + (size_t)length >= PATH_MAX)
		return false;
	memcpy(path + folder, text, (size_t)length + 1);
	return true;
}

/* Finds where a chain of links ends: at a path, which need not exist, or at a
 * descriptor. */
static void find_target(struct gp_output *output)
{
	char target[PATH_MAX];
	size_t length = strlen(output->path);

	/* A longer path could not be opened either. */
	if (length >= sizeof(target)) {
		output->target = gp_mem_copy_text(output->path, length);
		return;
	}
	memcpy(target, output->path, length + 1);
	for (int i = 0; i < MOST_LINKS && descriptor_of(target) < 0; i++)
		if (!follow(target))
			break;
	output->target = gp_mem_copy_text(target, strlen(target));
}

/* The mode that a plain open(..., 0666) gives a new file. */
static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static bool keep_owner(int file, const struct stat *before)
{
	struct stat now;

	return !fstat(file, &now) &&
	       ((now.st_uid == before->st_uid &&
		 now.st_gid == before->st_gid) ||
		!fchown(file, before->st_uid, before->st_gid));
}

/* A path in the target's folder; the target's name may already have as many
 * bytes as a name can. */
static char *temporary_name(const char *target)
{
	static const char end[] = ".XXXXXX";
	const char *slash = strrchr(target, '/');
	size_t length = strlen(target);
	size_t name = slash ? strlen(slash + 1) : length;
	size_t most = NAME_MAX - (sizeof(end) - 1);
	char *text = gp_mem_alloc(length + sizeof(end), 1);

	if (name > most && name <= NAME_MAX)
		length -= name - most;
	snprintf(text, length + sizeof(end), "%.*s%s", (int)length, target,
		 end);
	return text;
}

/* before: describes the existing file; NULL: there is none. */
static int open_temporary(struct gp_output *output, const struct stat *before)
{
	int file;

	output->temporary = temporary_name(output->target);
	file = mkostemp(output->temporary, O_CLOEXEC);
	if (file >= 0 && before && !keep_owner(file, before)) {
		unlink(output->temporary);
		close(file);
		file = -1;
	}
	if (file < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return -1;
	}
	fchmod(file, before ? before->st_mode & 0777 : default_mode());
	output->way = GP_OUTPUT_RENAMED;
	return file;
}

static int open_file(struct gp_output *output)
{
	int number = descriptor_of(output->target), file = -1;
	struct stat before;

	if (number >= 0)
		return fcntl(number, F_DUPFD_CLOEXEC, 0);
	if (stat(output->target, &before))
		return errno == ENOENT ? open_temporary(output, NULL) : -1;
	if (!S_ISREG(before.st_mode))
		return open(output->target, O_WRONLY | O_CLOEXEC);
	if (faccessat(AT_FDCWD, output->target, W_OK, AT_EACCESS))
		return -1;
	if (before.st_nlink == 1)
		file = open_temporary(output, &before);
	if (file < 0)
		output->way = GP_OUTPUT_COPIED;
	return file;
}

enum gp_status gp_output_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag)
{
	enum gp_status status;
	int file;

	*output = (struct gp_output){ 0 };
	if (!path || !strcmp(path, "-")) {
		output->stream = stdout;
		return GP_OK;
	}
	output->path = gp_mem_copy_text(path, strlen(path));
	find_target(output);
	file = open_file(output);
	if (file >= 0)
		output->stream = fdopen(file, "w");
	else if (output->way == GP_OUTPUT_COPIED)
		output->stream = tmpfile();
	if (output->stream)
		return GP_OK;
	status = failed(path, "write", diag);
	if (file >= 0)
		close(file);
	gp_output_abandon(output);
	return status;
}

void gp_output_make_safe(struct gp_output *output)
{
	output->under = output->stream;
	output->stream = gp_safe_stream(output->under);
}

/* ---- putting the file in place ---- */

/* Passes on what the safe stream has buffered; false if that fails. */
static bool close_safe(struct gp_output *output)
{
	bool is_good = true;

	if (output->under) {
		is_good = !fclose(output->stream);
		output->stream = output->under;
		output->under = NULL;
	}
	return is_good;
}

static bool copy_bytes(int from, int to, off_t size)
{
	char bytes[1 << 16];

	for (off_t at = 0; at < size;) {
		ssize_t n = pread(from, bytes, sizeof(bytes), at);

		if (n > 0)
			n = pwrite(to, bytes, (size_t)n, at);
		if (n <= 0)
			return false;
		at += n;
	}
	return true;
}

/* Space is allocated first, so that a full disk leaves the old file as it
 * was. */
static bool copy_over(int from, const char *path)
{
	int to = open(path, O_WRONLY | O_CLOEXEC), error;
	struct stat new, old;
	bool is_done = false;

	if (to < 0)
		return false;
	if (fstat(from, &new) || fstat(to, &old))
		goto out;
	if (new.st_size > old.st_size) {
		error = posix_fallocate(to, 0, new.st_size);
		if (error && error != EOPNOTSUPP && error != EINVAL) {
			if (ftruncate(to, old.st_size))
				error = EIO;
			errno = error;
			goto out;
		}
	}
	is_done = copy_bytes(from, to, new.st_size) &&
		  !ftruncate(to, new.st_size) && !fsync(to);
out:
	error = errno;
	close(to);
	errno = error;
	return is_done;
}

/* Not every file system supports fsync. */
static bool is_on_disk(int file)
{
	return !fsync(file) || errno == EINVAL || errno == ENOSYS;
}

/* A file that is a mount point, as in a container, cannot be replaced by a
 * rename. */
static bool put_in_place(struct gp_output *output, int file)
{
	if (output->way == GP_OUTPUT_COPIED)
		return copy_over(file, output->target);
	if (rename(output->temporary, output->target)) {
		if (errno != EBUSY || !copy_over(file, output->target))
			return false;
		unlink(output->temporary);
	}
	free(output->temporary);
	output->temporary = NULL;
	return true;
}

enum gp_status gp_output_commit(struct gp_output *output, struct gp_diag *diag)
{
	const char *path = output->path ? output->path : "standard output";
	bool is_good = close_safe(output) && !fflush(output->stream) &&
		       !ferror(output->stream);
	enum gp_status status = GP_OK;
	int file = fileno(output->stream);

	if (is_good && output->way == GP_OUTPUT_RENAMED)
		is_good = is_on_disk(file);
	if (is_good && output->way != GP_OUTPUT_DIRECT)
		is_good = put_in_place(output, file);
	if (is_good && output->path) {
		is_good = !fclose(output->stream);
		output->stream = NULL;
	}
	if (!is_good)
		status = failed(path, "write", diag);
	gp_output_abandon(output);
	return status;
}

void gp_output_abandon(struct gp_output *output)
{
	close_safe(output);
	if (output->path && output->stream)
		fclose(output->stream);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->target);
	free(output->path);
	*output = (struct gp_output){ 0 };
}
