/* SPDX-License-Identifier: MIT */
/* Starting the helper process of a prepared engine. */
#include "allocator/torch/torch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

_Static_assert(CHANNEL_FD == TORCH_WIRE_FD, "the helper looks there");

static const char setting_name[] = "PYTORCH_CUDA_ALLOC_CONF=";

static char *setting_of(const char *conf)
{
	size_t size = sizeof(setting_name) + strlen(conf);
	char *setting = gp_mem_alloc(size, 1);

	snprintf(setting, size, "%s%s", setting_name, conf);
	return setting;
}

/* The libraries to preload: simcuda's streams and events, which follow the
 * trace, precede the real runtime. */
static char *preload_of(const char *folder, const char *runtime)
{
	static const char format[] =
		"LD_PRELOAD=%s/cuda/libgpupool-streams.so:%s";
	size_t size = sizeof(format) + strlen(folder) + strlen(runtime);
	char *preload = gp_mem_alloc(size, 1);

	snprintf(preload, size, format, folder, runtime);
	return preload;
}

static bool is_ours(const char *variable)
{
	static const char *const names[] = { setting_name, "LD_PRELOAD=",
					     "PYTORCH_ALLOC_CONF=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * The helper's environment has only the settings, so that runs are the same
 * everywhere, except for what is needed to find a device. PyTorch reads the
 * settings before main(). setting and preload may be NULL.
 */
static char **environment_of(const struct gp_torch_cuda *cuda, char *setting,
			     char *preload)
{
	char *const *from = cuda ? cuda->environment : NULL;
	size_t count = 0, n = 0;
	char **all;

	while (from && from[count])
		count++;
	all = gp_mem_alloc(count + 3, sizeof(*all));
	if (setting)
		all[n++] = setting;
	if (preload)
		all[n++] = preload;
	for (size_t i = 0; i < count; i++)
		if (!is_ours(from[i]))
			all[n++] = from[i];
	return all;
}

static enum gp_status refuse(const char *folder, int error,
			     struct gp_diag *diag)
{
	gp_diag_file(diag, folder);
	if (error == ENOENT)
		gp_diag_hint(
			diag,
			"an engine prepared by an older gpupool cannot run on "
			"a device: make torch-engine prepares it again");
	return gp_diag_set(diag, GP_SYSTEM,
			   "PyTorch's allocator could not be started: %s",
			   strerror(error));
}

enum gp_status torch_open(struct torch *t, struct gp_diag *diag)
{
	const struct gp_torch_cuda *cuda = t->config.torch_cuda;
	const char *folder = t->config.torch_lib, *conf = t->config.conf;
	char program[4096];
	char *setting = conf && *conf ? setting_of(conf) : NULL;
	char *preload = cuda ? preload_of(folder, cuda->runtime) : NULL;
	char **environment = environment_of(cuda, setting, preload);
	char *const arguments[] = { program, NULL };
	const struct channel_start start = {
		.who = "PyTorch's process",
		.program = program,
		.arguments = arguments,
		.environment = environment,
	};
	int error;

	snprintf(program, sizeof(program), "%s%s/gpupool-torch", folder,
		 cuda ? "/cuda" : "");
	error = channel_open(&t->channel, &start);
	free(environment);
	free(setting);
	free(preload);
	return error ? refuse(folder, error, diag) : GP_OK;
}
