/* SPDX-License-Identifier: MIT */
/* PyTorch's libraries, and the versions of other libraries that they require.
 */
#include "simcuda/program/torch.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda/process.h"
#include "simcuda/program/plans.h"

void *torch_library(const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "lib%s.so", name);
	return dlopen(file, RTLD_NOLOAD | RTLD_LAZY);
}

void *torch_symbol(const char *library, const char *name)
{
	void *handle = torch_library(library);

	return handle ? dlsym(handle, name) : NULL;
}

static bool end_before_slash(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = 0;
	return slash;
}

bool torch_folder(char *path, size_t size)
{
	void *handle = torch_library("c10");
	struct link_map *map;

	return handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map) &&
	       (size_t)snprintf(path, size, "%s", map->l_name) < size &&
	       end_before_slash(path) && end_before_slash(path);
}

/*
 * ---- versions ----
 *
 * The libraries that the program's PyTorch requires. A wheel names them in its
 * requirements (site-packages/torch-*.dist-info/METADATA, "Requires-Dist:
 * nvidia-cudnn-cu13==9.19.0.56", or, until 2.3, "nvidia-cudnn-cu12
 * (==8.9.2.26)"). PyTorch refuses a cuDNN that is older than the one it was
 * built with, or of another major version.
 */

/* For a build that names none: those of PyTorch 2.11 and 2.4 on PyPI. */
static struct {
	unsigned cudnn, nccl;
} versions = { SIMCUDA_MAJOR >= 13 ? 91900 : 90100,
	       SIMCUDA_MAJOR >= 13 ? 22809 : 22005 };

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* cuDNN: 9.1.0 is 90100, 8.9.2 is 8902. */
static unsigned cudnn_number(unsigned major, unsigned minor, unsigned patch)
{
	return major * (major < 9 ? 1000 : 10000) + minor * 100 + patch;
}

static unsigned nccl_number(unsigned major, unsigned minor, unsigned patch)
{
	return major * 10000 + minor * 100 + patch;
}

/* Major, minor and patch of a required package; false: not its line. */
static bool read_version(const char *line, const char *package, unsigned of[3])
{
	static const char before[] = "Requires-Dist: ";
	size_t length = strlen(package);
	const char *at = strstr(line, "==");

	of[2] = 0;
	return at && !strncmp(line, before, sizeof(before) - 1) &&
	       !strncmp(line + sizeof(before) - 1, package, length) &&
	       sscanf(at, "==%u.%u.%u", &of[0], &of[1], &of[2]) >= 2;
}

static void read_line(const char *line)
{
	unsigned of[3];

	if (read_version(line, "nvidia-cudnn-cu", of))
		versions.cudnn = cudnn_number(of[0], of[1], of[2]);
	if (read_version(line, "nvidia-nccl-cu", of))
		versions.nccl = nccl_number(of[0], of[1], of[2]);
}

static void read_metadata(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		read_line(line);
	if (file)
		fclose(file);
}

static void find_wheel(void)
{
	char path[PATH_MAX], pattern[PATH_MAX + 32];
	glob_t found;

	if (!torch_folder(path, sizeof(path)))
		return;
	snprintf(pattern, sizeof(pattern), "%s-*.dist-info/METADATA", path);
	if (glob(pattern, 0, NULL, &found))
		return;
	read_metadata(found.gl_pathv[0]);
	globfree(&found);
}

/* Another cuDNN may be installed where the program is to run. If the real one
 * is here, its version counts. */
static void find(void)
{
	const char *cudnn = getenv("SIMCUDA_CUDNN");

	find_wheel();
	if (plans_version())
		versions.cudnn = plans_version();
	if (cudnn && *cudnn)
		versions.cudnn = (unsigned)strtoul(cudnn, NULL, 10);
}

unsigned versions_cudnn(void)
{
	pthread_once(&once, find);
	return versions.cudnn;
}

unsigned versions_nccl(void)
{
	pthread_once(&once, find);
	return versions.nccl;
}
