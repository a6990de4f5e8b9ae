/* SPDX-License-Identifier: MIT */
#include "simcuda/program/torch.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

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
