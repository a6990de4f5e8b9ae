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
	TYPE_CHAR = 24,
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

/* cuDNN ends the process when it finds none: it is loaded first, from the
 * places where wheels have it or where the system finds it. */
static bool load_cublas(const char *path, unsigned cuda)
{
	static const char *const places[] = { "/../../cublas/lib/",
					      "/../../cu13/lib/", NULL };
	const char *end = strrchr(path, '/');
	char name[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(name, sizeof(name), "%.*s%slibcublasLt.so.%u",
			 places[i] && end ? (int)(end - path) : 0, path,
			 places[i] ? places[i] : "", cuda);
		if (dlopen(name, RTLD_NOW | RTLD_GLOBAL))
			return true;
	}
	return false;
}

static void describe(struct gp_plans_library *library, const struct gp_gpu *gpu,
		     unsigned cuda)
{
	char text[2048];
	size_t size = gp_plans_describe(gpu, cuda, text, sizeof(text));

	if (library->create(DEVICEPROP_DESCRIPTOR, &library->device) ||
	    library->set(library->device, DEVICEPROP_JSON, TYPE_CHAR,
			 (int64_t)size, text) ||
	    library->finalize(library->device))
		refuse(library, "it plans for no device that is not there, as "
				"9.8 and later do");
}

void gp_plans_load(struct gp_plans_library *library, const char *path,
		   const struct gp_gpu *gpu, unsigned cuda)
{
	void *handle;

	*library = (struct gp_plans_library){ 0 };
	if (!load_cublas(path, cuda)) {
		refuse(library,
		       "libcublasLt.so.%u, which it needs, is not "
		       "there",
		       cuda);
		return;
	}
	handle = dlopen(path, RTLD_NOW);
	if (!handle || !find(library, handle)) {
		const char *why = dlerror();

		*library = (struct gp_plans_library){ 0 };
		refuse(library, "it cannot be loaded: %s",
		       why ? why : "it is another library");
		return;
	}
	describe(library, gpu, cuda);
}
