/* SPDX-License-Identifier: MIT */
/*
 * gpupool record: runs a PyTorch program on a CUDA without a device, and keeps
 * what its allocator did.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "commands/child.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/recording.h"
#include "device/gpu.h"

/* ---- the devices that a recorded program can see: --gpu help ---- */

#define KIB 1024

static void list_gpu(FILE *out, const struct gp_gpu *gpu)
{
	const struct gp_gpu_properties *p = &gpu->properties;
	char capability[16];

	snprintf(capability, sizeof(capability), "%d.%d", p->major, p->minor);
	fprintf(out, "%-15s %-10s %10s %4d %9s %8d %7d  %s\n", gpu->name,
		capability, GP_BYTES(gpu->capacity), p->multiprocessors,
		GP_BYTES((uint64_t)p->l2_bytes), p->shared_per_sm / KIB,
		p->threads_per_sm, gpu->source);
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
	fputs("\nMemory is the device's total, as cudaMemGetInfo reports it; "
	      "on a real device, a\nprocess's context takes some hundred MiB "
	      "of it. --capacity sets another size.\n",
	      out);
}

/* ---- the command ---- */

static enum gp_status record_command(const struct gp_options *options,
				     struct gp_diag *diag)
{
	struct gp_recording recording = { .options = options };
	struct gp_seeds seeds = { .recording = &recording };
	enum gp_status status;

	if (options->gpu && !strcmp(options->gpu, "help")) {
		gp_record_list_gpus(gp_outlet_stdout());
		return GP_OK;
	}
	status = gp_record_seeds(&seeds, diag);
	gp_seeds_print(&seeds);
	if ((status == GP_OK || status == GP_FAILED) && recording.ending)
		gp_child_end_as(recording.ending);
	return status;
}

static const struct gp_option record_options[] = {
	{ "capacity", 0, GP_OPTION_CAPACITY, GP_AT(capacity), "SIZE",
	  "Memory of each device, in place of that of --gpu: 80GiB, 512MiB, a "
	  "number of bytes, or that of another device, such as a100-40gb." },
	{ "context", 0, GP_OPTION_TEXT, GP_AT(context), "SIZE",
	  "What the process uses of each device besides PyTorch's memory; the "
	  "program sees it as not free. Default: what was published for --gpu, "
	  "or an estimate; with --capacity, 0." },
	{ "gpu", 0, GP_OPTION_TEXT, GP_AT(gpu), "NAME",
	  "The device that the program sees, in any usual spelling; default: "
	  "h100-80gb; help lists them." },
	{ "devices", 0, GP_OPTION_TEXT, GP_AT(devices), "N",
	  "Number of devices, 1 to 16; default: 1." },
	{ "events", 0, GP_OPTION_TEXT, GP_AT(complete), "instant|lag:N",
	  "When work on a stream is complete: at once, which is the default, "
	  "or N launches and copies later." },
	{ "steps-of", 0, GP_OPTION_TEXT, GP_AT(steps_of), "FUNC",
	  "Mark the calls of this Python function as steps, and nothing else. "
	  "Default: ranges of record_function and NVTX, and steps of "
	  "optimizers, become marks." },
	{ "stacks", 0, GP_OPTION_FLAG, GP_AT(stacks), NULL,
	  "Record the Python stack of each allocation; this takes time." },
	{ "times", 0, GP_OPTION_FLAG, GP_AT(times), NULL,
	  "Record the time of each event, on a simulated clock that launches "
	  "and copies advance." },
	{ "scalar", 0, GP_OPTION_TEXT, GP_AT(scalar), "VALUE",
	  "What the program reads from an unknown scalar on the device, with "
	  "item() and the like, in place of 0." },
	GP_VALUES_OPTIONS,
	{ "cudnn", 0, GP_OPTION_TEXT, GP_AT(cudnn), "FILE|none",
	  "The cuDNN library to ask for plans and their workspaces; default: "
	  "the one installed with PyTorch." },
	{ "output", 'o', GP_OPTION_TEXT, GP_AT(output), "FILE",
	  "The trace; default: trace.json. Its ending selects the format, as "
	  "for convert." },
	{ "strict", 0, GP_OPTION_FLAG, GP_AT(strict), NULL,
	  "Exit 1 if the program read unknown values: it may "
	  "take another path on a GPU." },
	{ 0 },
};

const struct gp_command gp_record_command = {
	.name = "record",
	.operands = "-- COMMAND...",
	.most = SIZE_MAX,
	.sentence = "Run a PyTorch program without a GPU and record its trace.",
	.about = "The program runs unchanged, with its own PyTorch, on a "
		 "simulated CUDA runtime: memory, streams and events behave as "
		 "on a device, kernels compute nothing, and values that are "
		 "not known read as zeros. Output and exit status are the "
		 "program's.\n"
		 "The trace is written however the program ends. If several "
		 "processes use a device, each has a trace: trace.1.json, "
		 "trace.2.json.",
	.options = "capacity context gpu devices events steps-of stacks times "
		   "values seeds scalar cudnn output strict quiet",
	.own = record_options,
	.run = record_command,
};
