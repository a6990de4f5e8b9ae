/* The CUDA runtime that a command runs on. */
#include "cli/cuda_runtime.h"

#include <stdlib.h>

#include "cli/progress.h"

enum gp_status gp_cuda_runtime_open(const struct gp_options *options,
				    struct gp_cuda **cuda, struct gp_diag *diag)
{
	struct gp_cuda_config config = {
		.path = options->cudart,
		.now = gp_progress_now,
	};

	if (!config.path)
		config.path = getenv("GPUPOOL_CUDART");
	return gp_cuda_open(&config, cuda, diag);
}
