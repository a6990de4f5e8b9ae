/* SPDX-License-Identifier: MIT */
/*
 * The real cuDNN, as PyTorch's wheels bring it along.  It needs no driver to
 * load and to plan; cuBLASLt and NVRTC it looks for itself.
 */
#include "record/plans.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	DEVICEPROP_DESCRIPTOR = 38,
	DEVICEPROP_JSON = 2702,
};

/* ISO C has no conversion between the two. */
union symbol {
	void *object;
	int (*create)(int, void **);
	int (*destroy)(void *);
	int (*set)(void *, int, int, int64_t, const void *);
	int (*get)(void *, int, int, int64_t, int64_t *, void *);
	size_t (*version)(void);
};

__attribute__((format(printf, 2, 3))) static void refuse(
	struct gp_plans_library *library, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(library->why, sizeof(library->why), format, arguments);
	va_end(arguments);
	library->device = NULL;
}

static bool find(struct gp_plans_library *library, void *handle)
{
	union symbol create, destroy, set, get, finalize, version;

	create.object = dlsym(handle, "cudnnBackendCreateDescriptor");
	destroy.object = dlsym(handle, "cudnnBackendDestroyDescriptor");
	set.object = dlsym(handle, "cudnnBackendSetAttribute");
	get.object = dlsym(handle, "cudnnBackendGetAttribute");
	finalize.object = dlsym(handle, "cudnnBackendFinalize");
	version.object = dlsym(handle, "cudnnGetVersion");
	library->create = create.create;
	library->destroy = destroy.destroy;
	library->set = set.set;
	library->get = get.get;
	library->finalize = finalize.destroy;
	library->version = version.version;
	return create.object && destroy.object && set.object && get.object &&
	       finalize.object && version.object;
}

/* From where the wheels that this folder is of have it; "": from where the
 * system finds it. */
static bool load_from(const char *folder, const char *name, unsigned cuda)
{
	static const char *const places[] = { "cublas/lib", "cuda_nvrtc/lib",
					      "cu13/lib" };
	char path[PATH_MAX];

	if (!*folder) {
		snprintf(path, sizeof(path), "%s.so.%u", name, cuda);
		return dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s/%s/%s.so.%u", folder,
			 places[i], name, cuda);
		if (dlopen(path, RTLD_NOW | RTLD_GLOBAL))
			return true;
	}
	return false;
}

/* It ends the process when it does not find cuBLASLt, and leaves out engines
 * when it does not find NVRTC: both are loaded first, from wheels beside it,
 * from those of PyTorch where it is another's, or from the system. */
static bool load(const char *name, const struct gp_plans_source *source)
{
	const char *end = strrchr(source->cudnn, '/');
	char beside[PATH_MAX], of_torch[PATH_MAX];

	snprintf(beside, sizeof(beside), "%.*s/../..",
		 end ? (int)(end - source->cudnn) : 0, source->cudnn);
	snprintf(of_torch, sizeof(of_torch), "%s/../nvidia", source->torch);
	return load_from(beside, name, source->cuda) ||
	       load_from(of_torch, name, source->cuda) ||
	       load_from("", name, source->cuda);
}

static bool load_needed(struct gp_plans_library *library,
			const struct gp_plans_source *source)
{
	static const char *const names[] = { "libcublasLt", "libnvrtc" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (load(names[i], source))
			continue;
		refuse(library, "%s.so.%u, which it needs, is not there",
		       names[i], source->cuda);
		return false;
	}
	if (gp_plans_load_driver(source->simcuda, source->folder))
		return true;
	refuse(library, "no driver could be put in its place");
	return false;
}

static void describe(struct gp_plans_library *library,
		     const struct gp_plans_source *source)
{
	char text[2048];
	size_t size = gp_plans_describe(source->gpu, source->cuda, text,
					sizeof(text));

	if (library->create(DEVICEPROP_DESCRIPTOR, &library->device) ||
	    library->set(library->device, DEVICEPROP_JSON, GP_PLANS_CHAR,
			 (int64_t)size, text) ||
	    library->finalize(library->device))
		refuse(library, "it plans for no device that is not there, as "
				"9.8 and later do");
}

void gp_plans_load(struct gp_plans_library *library,
		   const struct gp_plans_source *source)
{
	void *handle;

	*library = (struct gp_plans_library){ 0 };
	if (!load_needed(library, source))
		return;
	handle = dlopen(source->cudnn, RTLD_NOW);
	if (!handle || !find(library, handle)) {
		const char *why = dlerror();

		*library = (struct gp_plans_library){ 0 };
		refuse(library, "it cannot be loaded: %s",
		       why ? why : "it is another library");
		return;
	}
	describe(library, source);
	library->is_hopper = source->gpu->properties.major == 9 &&
			     source->gpu->properties.multiprocessors == 132;
}
