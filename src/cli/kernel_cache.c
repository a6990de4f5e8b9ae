/* SPDX-License-Identifier: MIT */
/* Where a recorded program keeps the kernels it compiles. */
#include "cli/kernel_cache.h"

#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDUCTOR "TORCHINDUCTOR_CACHE_DIR"
#define TRITON	 "TRITON_CACHE_DIR"

enum gp_status gp_kernel_cache_make(struct gp_kernel_cache *cache,
				    struct gp_diag *diag)
{
	const char *tmp = getenv("TMPDIR");

	*cache = (struct gp_kernel_cache){ .folder = "" };
	if (getenv(INDUCTOR))
		return GP_OK;
	if (!tmp || *tmp != '/' || strlen(tmp) > PATH_MAX - 64)
		tmp = "/tmp";
	snprintf(cache->folder, sizeof(cache->folder),
		 "%.4000s/gpupool-kernels.XXXXXX", tmp);
	if (mkdtemp(cache->folder))
		return GP_OK;
	gp_diag_file(diag, tmp);
	gp_diag_hint(diag, "name a folder in TMPDIR");
	*cache->folder = 0;
	return gp_diag_set(diag, GP_SYSTEM, "cannot make a folder in it: %s",
			   strerror(errno));
}

/* Inductor has Triton keep its kernels in a folder within its own, where none
 * is named; kernels that the program itself wrote may come before it. */
void gp_kernel_cache_tell(const struct gp_kernel_cache *cache)
{
	char triton[PATH_MAX + 8];

	if (!*cache->folder)
		return;
	setenv("SIMCUDA_KERNELS", cache->folder, 1);
	setenv(INDUCTOR, cache->folder, 1);
	snprintf(triton, sizeof(triton), "%s/triton", cache->folder);
	setenv(TRITON, triton, 0);
}

void gp_kernel_cache_remove(const struct gp_kernel_cache *cache)
{
	char *roots[] = { (char *)(uintptr_t)cache->folder, NULL };
	FTS *files = NULL;
	FTSENT *file;

	if (*cache->folder)
		files = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (files && (file = fts_read(files))) {
		if (file->fts_info == FTS_DP)
			rmdir(file->fts_accpath);
		else if (file->fts_info != FTS_D)
			unlink(file->fts_accpath);
	}
	if (files)
		fts_close(files);
}
