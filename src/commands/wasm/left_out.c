/* SPDX-License-Identifier: MIT */
/* Stand-ins for what a page cannot do, which say so in one sentence: run
 * programs, load libraries, use a device. */
#include <stdint.h>
#include <stdlib.h>

#include "allocator/engines.h"
#include "commands/command.h"
#include "commands/installed.h"
#include "commands/live_page.h"
#include "commands/own_folder.h"
#include "device/cuda.h"
#include "gpupool/allocator.h"
#include "report/html.h"

static enum gp_status refuse(struct gp_diag *diag, const char *what)
{
	gp_diag_hint(diag, "install gpupool for that");
	return gp_diag_set(diag, GP_USAGE, "%s is not in the page", what);
}

static enum gp_status command(const struct gp_options *options,
			      struct gp_diag *diag)
{
	return refuse(diag, options->command);
}

#define LEFT_OUT(name_, sentence_)                                             \
	{                                                                      \
		.name = name_, .operands = "", .most = SIZE_MAX,               \
		.sentence = sentence_, .run = command,                         \
	}
const struct gp_command gp_bench_command =
	LEFT_OUT("bench", "What a device's calls cost.");
const struct gp_command gp_check_command =
	LEFT_OUT("check", "Check traces against limits.");
const struct gp_command gp_doctor_command =
	LEFT_OUT("doctor", "What this machine has.");
const struct gp_command gp_fit_command =
	LEFT_OUT("fit", "Whether a program fits a device.");
const struct gp_command gp_mcp_command = LEFT_OUT("mcp", "Serve programs.");
const struct gp_command gp_live_page_command =
	LEFT_OUT("page", "Write this page.");
const struct gp_command gp_record_command =
	LEFT_OUT("record", "Record a program.");
const struct gp_command gp_verify_command =
	LEFT_OUT("verify", "Compare with PyTorch's own allocator.");

/* ---- engines in processes of their own ---- */

void gp_own_path(char path[PATH_MAX])
{
	*path = '\0';
}

/* ---- PyTorch's own allocator ---- */

enum gp_status gp_torch_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag)
{
	(void)config, (void)allocator;
	return refuse(diag, "PyTorch's own allocator");
}

enum gp_status gp_torch_lib_find(uint8_t release, char **folder,
				 struct gp_diag *diag)
{
	(void)release, (void)folder;
	return refuse(diag, "PyTorch's own allocator");
}

enum gp_status gp_torch_lib_prepare(const char *path, char **folder,
				    struct gp_diag *diag)
{
	(void)path, (void)folder;
	return refuse(diag, "PyTorch's own allocator");
}

enum gp_status gp_torch_lib_release(const char *folder, uint8_t *release,
				    struct gp_diag *diag)
{
	(void)folder, (void)release;
	return refuse(diag, "PyTorch's own allocator");
}

/* ---- pages that replay: a page writes none ---- */

const char gp_app_bundle_js[] = "", gp_worker_bundle_js[] = "";

enum gp_status gp_live_parts_make(struct gp_live_parts *parts,
				  const struct gp_options *options,
				  const struct gp_ranks *ranks,
				  const struct gp_plan *asked,
				  struct gp_diag *diag)
{
	(void)options, (void)ranks, (void)asked, (void)diag;
	*parts = (struct gp_live_parts){ 0 };
	return GP_OK;
}

void gp_live_parts_release(struct gp_live_parts *parts)
{
	(void)parts;
}

/* ---- CUDA ---- */

enum gp_status gp_cuda_runtime_open(const struct gp_options *options,
				    struct gp_cuda **cuda, struct gp_diag *diag)
{
	(void)options, (void)cuda;
	return refuse(diag, "CUDA");
}

void gp_cuda_close(struct gp_cuda *cuda)
{
	(void)cuda;
}

/* Nothing is ever open. */
const struct gp_cuda_about *gp_cuda_about(const struct gp_cuda *cuda)
{
	(void)cuda;
	return NULL;
}

struct gp_device *gp_cuda_device_create(struct gp_cuda *cuda, uint32_t ordinal,
					uint64_t capacity)
{
	(void)cuda, (void)ordinal, (void)capacity;
	return NULL;
}

/* ---- engines from libraries ---- */

enum gp_status engine_open_library(const struct gp_engine_library *library,
				   struct gp_engine **engine,
				   struct gp_diag *diag)
{
	(void)library, (void)engine;
	return refuse(diag, "an engine from a library");
}

/* ---- host allocators ---- */

const struct gp_engine_setting host_glibc_settings[] = { { 0 } };
const struct gp_engine_setting host_jemalloc_settings[] = { { 0 } };
const struct gp_engine_setting host_tcmalloc_settings[] = { { 0 } };
const struct gp_engine_setting host_mimalloc_settings[] = { { 0 } };

enum gp_status gp_host_create(const struct gp_allocator_config *config,
			      struct gp_allocator **allocator,
			      struct gp_diag *diag)
{
	(void)config, (void)allocator;
	return refuse(diag, "an allocator of the host's");
}
