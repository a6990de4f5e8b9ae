/* SPDX-License-Identifier: MIT */
/* Finding and loading a CUDA runtime. */
#include "device/cuda/cuda_load.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum library { RUNTIME, DRIVER, NVML };

const struct cuda_allocation cuda_page = {
	.type = CUDA_PINNED,
	.location = { CUDA_LOCATION_DEVICE, 0 },
};

const struct cuda_access cuda_access = {
	.location = { CUDA_LOCATION_DEVICE, 0 },
	.flags = CUDA_READ_WRITE,
};

/* ---- the functions ---- */

static const struct {
	const char *name;
	size_t offset; /* into struct cuda_calls */
	bool is_needed;
} rows[] = {
#define NEEDED(name, arguments) { #name, offsetof(struct cuda_calls, name), 1 },
#define MAYBE(name, arguments)	{ #name, offsetof(struct cuda_calls, name), 0 },
	CUDA_CALLS(NEEDED) CUDA_CALLS_MAYBE(MAYBE){
		"cudaGetErrorString",
		offsetof(struct cuda_calls, cudaGetErrorString), 1 },
	{ "cudaGetErrorName", offsetof(struct cuda_calls, cudaGetErrorName),
	  1 },
};

static void *find(const struct gp_cuda *cuda,
		  const struct gp_cuda_config *config, const char *name)
{
	void *symbol = config->find ? config->find(name) : NULL;

	for (size_t i = RUNTIME; i <= NVML && !symbol; i++)
		if (cuda->libraries[i])
			symbol = dlsym(cuda->libraries[i], name);
	return symbol;
}

/* CUDA 12 has this function under two names; the parts of its result that are
 * used are the same. */
static void *find_call(const struct gp_cuda *cuda,
		       const struct gp_cuda_config *config, const char *name)
{
	void *symbol = find(cuda, config, name);

	if (!symbol && !strcmp(name, "cudaGetDeviceProperties"))
		symbol = find(cuda, config, "cudaGetDeviceProperties_v2");
	return symbol;
}

static enum gp_status find_all(struct gp_cuda *cuda,
			       const struct gp_cuda_config *config,
			       struct gp_diag *diag)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		void *symbol = find_call(cuda, config, rows[i].name);

		/* ISO C has no cast from void * to a function's address. */
		memcpy((char *)&cuda->calls + rows[i].offset, &symbol,
		       sizeof(symbol));
		if (symbol || !rows[i].is_needed)
			continue;
		gp_diag_file(diag, cuda->about.library);
		gp_diag_hint(
			diag,
			"CUDA 11.2 and later have it: libcudart what begins "
			"with cuda, the driver's libcuda.so.1 the rest");
		return gp_diag_set(
			diag, GP_SYSTEM,
			"it has no %s, so it is not a usable CUDA runtime",
			rows[i].name);
	}
	return GP_OK;
}

/* ---- the libraries ---- */

static const char *const runtimes[] = {
	"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
	/* Where the toolkit's installer puts it. */
	"/usr/local/cuda/lib64/libcudart.so"
};
#define RUNTIMES (sizeof(runtimes) / sizeof(*runtimes))

bool gp_cuda_is_found(void)
{
	for (size_t i = 0; i < RUNTIMES; i++) {
		void *library = dlopen(runtimes[i], RTLD_LAZY | RTLD_LOCAL);

		if (!library)
			continue;
		dlclose(library);
		return true;
	}
	return false;
}

/* The loader's message begins with the path, which the diag has already. */
static enum gp_status refuse(const char *path, const char *why,
			     struct gp_diag *diag)
{
	size_t length = strlen(path);

	if (!strncmp(why, path, length) && !strncmp(why + length, ": ", 2))
		why += length + 2;
	gp_diag_file(diag, path);
	return gp_diag_set(diag, GP_SYSTEM,
			   "it cannot be loaded as a CUDA runtime: %.300s",
			   why);
}

static enum gp_status load_runtime(struct gp_cuda *cuda, const char *path,
				   struct gp_diag *diag)
{
	cuda->libraries[RUNTIME] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	snprintf(cuda->about.library, sizeof(cuda->about.library), "%s", path);
	return cuda->libraries[RUNTIME] ? GP_OK : refuse(path, dlerror(), diag);
}

/* Containers may have the library at a place that the loader does not search.
 * Once loaded from there, the runtime finds it. */
static void *load_from(const char *name)
{
	static const char *const places[] = { "", "/usr/local/nvidia/lib64/",
					      "/usr/lib/wsl/lib/" };
	void *library = NULL;
	char path[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !library;
	     i++) {
		snprintf(path, sizeof(path), "%s%s", places[i], name);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

/* A stand-in contains the driver's functions itself. */
static enum gp_status load_driver(struct gp_cuda *cuda, struct gp_diag *diag)
{
	if (dlsym(cuda->libraries[RUNTIME], "cuMemCreate"))
		return GP_OK;
	cuda->libraries[DRIVER] = load_from("libcuda.so.1");
	cuda->libraries[NVML] = load_from("libnvidia-ml.so.1");
	if (cuda->libraries[DRIVER])
		return GP_OK;
	gp_diag_hint(diag, "NVIDIA's driver installs it; without --device "
			   "cuda, a replay runs on a simulated device");
	return gp_diag_set(diag, GP_SYSTEM,
			   "there is no CUDA driver: libcuda.so.1 is not on "
			   "this machine");
}

/* ---- the device ---- */

enum gp_status cuda_fail(const struct gp_cuda *cuda, const char *call,
			 uint64_t bytes, int error, struct gp_diag *diag)
{
	char of[32] = "";

	if (bytes)
		snprintf(of, sizeof(of), " for %" PRIu64 " bytes", bytes);
	gp_diag_file(diag, call);
	/* The driver's error numbers have the same meanings as the
	 * runtime's. */
	return gp_diag_set(diag, GP_SYSTEM, "%.60s (%d)%s: %.200s",
			   cuda->calls.cudaGetErrorName(error), error, of,
			   cuda->calls.cudaGetErrorString(error));
}

/* cudaFree(NULL) creates the context that driver calls need. */
static enum gp_status start(struct gp_cuda *cuda, struct gp_diag *diag)
{
	const struct cuda_calls *calls = &cuda->calls;
	int count = 0, version = 0, error = calls->cudaGetDeviceCount(&count);

	cuda->is_too_new = error == CUDA_OLD_DRIVER;
	if (error || !count) {
		if (cuda->is_too_new && !calls->cudaDriverGetVersion(&version))
			gp_diag_hint(diag,
				     "the driver supports CUDA up to %d.%d: "
				     "name such a runtime with --cudart",
				     version / 1000, version % 1000 / 10);
		else
			gp_diag_hint(diag, "nvidia-smi shows whether the "
					   "driver sees a GPU");
		gp_diag_file(diag, cuda->about.library);
		return gp_diag_set(diag, GP_SYSTEM,
				   "there is no device: %.200s",
				   error ? calls->cudaGetErrorString(error)
					 : "CUDA reports none");
	}
	error = calls->cudaSetDevice(0);
	if (!error)
		error = calls->cudaFree(NULL);
	return error ? cuda_fail(cuda, "cudaSetDevice", 0, error, diag) : GP_OK;
}

/* A stand-in reports a driver version to programs, but there is no driver. */
static void describe_driver(struct gp_cuda *cuda)
{
	const struct cuda_calls *calls = &cuda->calls;
	char *driver = cuda->about.driver;

	if (!cuda->about.is_stand_in && calls->nvmlInit_v2 &&
	    calls->nvmlSystemGetDriverVersion && !calls->nvmlInit_v2() &&
	    calls->nvmlSystemGetDriverVersion(driver,
					      sizeof(cuda->about.driver)))
		*driver = 0;
	calls->cudaDriverGetVersion(&cuda->about.supports);
	calls->cudaRuntimeGetVersion(&cuda->about.runtime);
}

static enum gp_status describe(struct gp_cuda *cuda,
			       const struct gp_cuda_config *config,
			       struct gp_diag *diag)
{
	const struct cuda_calls *calls = &cuda->calls;
	struct gp_cuda_about *about = &cuda->about;
	char *properties = gp_mem_alloc(CUDA_PROPERTIES_ENOUGH, 1);
	size_t free_bytes = 0, total = 0;
	int error = calls->cudaGetDeviceProperties(properties, 0);

	if (!error)
		snprintf(about->gpu, sizeof(about->gpu), "%.*s",
			 CUDA_PROPERTIES_NAME - 1, properties);
	free(properties);
	if (error)
		return cuda_fail(cuda, "cudaGetDeviceProperties", 0, error,
				 diag);
	error = calls->cudaMemGetInfo(&free_bytes, &total);
	if (error)
		return cuda_fail(cuda, "cudaMemGetInfo", 0, error, diag);
	about->free_bytes = free_bytes;
	about->total_bytes = total;
	about->is_stand_in = find(cuda, config, "simcuda_reset") != NULL;
	calls->cudaDeviceGetAttribute(&about->capability[0],
				      CUDA_CAPABILITY_MAJOR, 0);
	calls->cudaDeviceGetAttribute(&about->capability[1],
				      CUDA_CAPABILITY_MINOR, 0);
	describe_driver(cuda);
	return GP_OK;
}

/* Loads one runtime; path NULL: the functions come from config->find. */
static enum gp_status open_one(struct gp_cuda *c, const char *path,
			       const struct gp_cuda_config *config,
			       struct gp_diag *diag)
{
	enum gp_status status = path ? load_runtime(c, path, diag) : GP_OK;

	if (status == GP_OK && path)
		status = load_driver(c, diag);
	if (status == GP_OK)
		status = find_all(c, config, diag);
	if (status == GP_OK)
		status = start(c, diag);
	if (status == GP_OK)
		status = describe(c, config, diag);
	return status;
}

static enum gp_status nothing_found(struct gp_diag *diag)
{
	gp_diag_hint(
		diag,
		"a GPU, its driver and a CUDA runtime are needed; PyTorch for "
		"CUDA includes a runtime, and pip install nvidia-cuda-runtime "
		"installs one; --cudart names the library");
	return gp_diag_set(diag, GP_SYSTEM,
			   "there is no CUDA runtime: no libcudart.so.13, .12 "
			   "or .11.0 was found");
}

/* Loads the newest runtime that the driver supports. */
static enum gp_status open_any(struct gp_cuda *c,
			       const struct gp_cuda_config *config,
			       struct gp_diag *diag)
{
	enum gp_status status = GP_SYSTEM;
	bool is_found = false;

	for (size_t i = 0; i < RUNTIMES && (!is_found || c->is_too_new); i++) {
		void *library = dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL);
		struct gp_diag own = { 0 };

		if (!library)
			continue;
		dlclose(library);
		status = open_one(c, runtimes[i], config, &own);
		if (!is_found || status == GP_OK)
			*diag = own;
		is_found = true;
	}
	return is_found ? status : nothing_found(diag);
}

enum gp_status gp_cuda_open(const struct gp_cuda_config *config,
			    struct gp_cuda **cuda, struct gp_diag *diag)
{
	struct gp_cuda *c = gp_mem_alloc(1, sizeof(*c));
	enum gp_status status;

	c->now = config->now;
	status = config->path || config->find
			 ? open_one(c, config->find ? NULL : config->path,
				    config, diag)
			 : open_any(c, config, diag);
	if (status == GP_OK)
		*cuda = c;
	else
		gp_cuda_close(c);
	return status;
}

/* The libraries stay loaded, because the driver's threads may still run in
 * them. */
void gp_cuda_close(struct gp_cuda *cuda)
{
	free(cuda);
}

const struct gp_cuda_about *gp_cuda_about(const struct gp_cuda *cuda)
{
	return &cuda->about;
}
