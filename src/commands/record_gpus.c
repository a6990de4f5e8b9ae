/* SPDX-License-Identifier: MIT */
/* The devices that a recorded program may see: --gpu help. */
#include <stdio.h>

#include "base/bytes.h"
#include "commands/recording.h"
#include "device/gpu.h"

#define KIB 1024

static void list_gpu(FILE *out, const struct gp_gpu *gpu)
{
	const struct simcuda_properties *p = &gpu->properties;
	char memory[GP_BYTES_TEXT], l2[GP_BYTES_TEXT], capability[16];

	snprintf(capability, sizeof(capability), "%d.%d", p->major, p->minor);
	fprintf(out, "%-15s %-10s %10s %4d %9s %8d %7d  %s\n", gpu->name,
		capability, gp_bytes_text(gpu->capacity, memory),
		p->multiprocessors, gp_bytes_text((uint64_t)p->l2_bytes, l2),
		p->shared_per_sm / KIB, p->threads_per_sm, gpu->source);
}

void gp_record_list_gpus(FILE *out)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	fprintf(out, "%-15s %-10s %10s %4s %9s %8s %7s  %s\n", "name",
		"capability", "memory", "SMs", "L2", "KiB/SM", "threads",
		"the memory is from");
	for (size_t i = 0; i < count; i++)
		list_gpu(out, &gpus[i]);
	fputs("\nMemory is the device's total, as cudaMemGetInfo tells it; a "
	      "process's context takes\nsome hundred MiB of it on a real one. "
	      "--capacity says another size.\n",
	      out);
}
