/* SPDX-License-Identifier: MIT */
/* The CUDA runtime that a command runs on. */
#include "commands/cuda_runtime.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/progress.h"
#include "commands/python.h"

/* The first of such a name beside PyTorch's own folder. */
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

/* The one that python3's PyTorch brings along; false: there is none. */
static bool find_pytorchs(char *path, size_t size)
{
	static const char *const python[] = { "python3", NULL };
	struct gp_python_torch torch;
	struct gp_diag ignored = { 0 };

	/* Wheels of packages of NVIDIA's, and those that hold all of it. */
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
	/* Set to nothing is not set; dlopen would take it for this program. */
	if (config.path && !*config.path)
		config.path = NULL;
	if (!config.path && !gp_cuda_is_found() &&
	    find_pytorchs(path, sizeof(path)))
		config.path = path;
	return gp_cuda_open(&config, cuda, diag);
}
