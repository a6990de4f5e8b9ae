/* SPDX-License-Identifier: MIT */
/* Output files that appear whole or not at all. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static enum gp_status failed(const char *path, const char *verb,
			     struct gp_diag *diag)
{
	int error = errno;

	gp_diag_file(diag, path);
	return gp_diag_set(diag, GP_SYSTEM, "cannot %s it: %s", verb,
			   strerror(error));
}

/* The mode that a plain open(..., 0666) would have given. */
static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int open_temporary(struct gp_output *output)
{
	size_t size = strlen(output->path) + sizeof(".XXXXXX");
	int fd;

	output->temporary = gp_mem_alloc(size, 1);
	snprintf(output->temporary, size, "%s.XXXXXX", output->path);
	fd = mkstemp(output->temporary);
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
	} else {
		fchmod(fd, default_mode());
	}
	return fd;
}

enum gp_status gp_output_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag)
{
	struct stat st;
	int fd;

	*output = (struct gp_output){ 0 };
	if (!path || !strcmp(path, "-")) {
		output->stream = stdout;
		return GP_OK;
	}
	output->path = gp_mem_copy_text(path, strlen(path));
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		fd = open_temporary(output);
	if (fd >= 0)
		output->stream = fdopen(fd, "w");
	if (!output->stream) {
		enum gp_status status = failed(path, "write", diag);

		if (fd >= 0)
			close(fd);
		gp_output_abandon(output);
		return status;
	}
	return GP_OK;
}

enum gp_status gp_output_commit(struct gp_output *output, struct gp_diag *diag)
{
	const char *path = output->path ? output->path : "standard output";
	int bad = fflush(output->stream) || ferror(output->stream);
	enum gp_status status = GP_OK;

	if (output->path) {
		bad |= fclose(output->stream);
		output->stream = NULL;
	}
	if (bad)
		status = failed(path, "write", diag);
	else if (output->temporary && rename(output->temporary, output->path))
		status = failed(path, "rename the finished file to", diag);
	if (status == GP_OK) {
		free(output->temporary);
		output->temporary = NULL;
	}
	gp_output_abandon(output);
	return status;
}

void gp_output_abandon(struct gp_output *output)
{
	if (output->path && output->stream)
		fclose(output->stream);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	*output = (struct gp_output){ 0 };
}
