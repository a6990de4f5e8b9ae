/* SPDX-License-Identifier: MIT */
/*
 * gpupool verify: compares every decision with PyTorch's own allocator, or a
 * device with the simulated one.
 */
#include <stdio.h>
#include <string.h>

#include "base/safe.h"
#include "commands/command.h"
#include "commands/installed.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"
#include "commands/verify_text.h"
#include "replay/verify/verify.h"
#include "report/page.h"

/* Device memory left free for temporary needs of the calls. */
#define SPARE (UINT64_C(64) << 20)

struct session {
	const struct gp_options *options;
	struct gp_cuda *cuda; /* NULL: simulated devices */
	struct gp_progress progress;
	FILE *out;
	int width; /* of names in a table; 0: there is only one trace */
	bool is_different;
};

/* One of the traces. */
struct subject {
	struct session *s;
	const char *path;
	struct gp_trace *trace;
	struct gp_plan plan;
	uint8_t ran; /* minor number of PyTorch's release */
};

static bool runs_torch(const struct subject *j)
{
	return !strcmp(j->plan.engine->name, "torch");
}

/* Makes a plan, for its release, settings and memory. */
static enum gp_status make_plan(struct subject *j, struct gp_diag *diag)
{
	struct gp_options asked = *j->s->options;
	enum gp_status status;

	if (!asked.engine)
		asked.engine = j->s->cuda ? "caching" : "torch";
	status = gp_plan_asked(&j->plan, j->trace, &asked, diag);
	if (status != GP_OK)
		return status;
	j->ran = j->plan.settings.release;
	if (runs_torch(j))
		status = gp_torch_lib_release(j->plan.torch_lib, &j->ran, diag);
	if (j->s->cuda)
		gp_plan_on_cuda(&j->plan, j->s->cuda, &asked);
	return status;
}

static struct gp_verify_config config_of(const struct subject *j,
					 uint32_t device)
{
	struct gp_replay_config run = gp_plan_config(&j->plan, device);
	struct gp_verify_config config = {
		.trace = j->trace,
		.device = device,
		.settings = run.settings,
		.conf = run.conf,
		.torch_lib = run.torch_lib,
		.capacity = run.capacity,
		.engine = run.engine,
		.make_device = run.make_device,
		.make_device_arg = run.make_device_arg,
		.check_memory = run.check_memory,
		.torch_cuda = run.torch_cuda,
	};

	if (!j->s->cuda)
		return config;
	config.room = gp_cuda_about(j->s->cuda)->free_bytes;
	config.room -= config.room > SPARE ? SPARE : 0;
	config.is_interrupted = gp_interrupt_came;
	return config;
}

/* Flushes, as each comparison may take long. */
static void flush(const struct session *s)
{
	fflush(s->out);
	fflush(gp_outlet_stdout());
}

static void print(const struct subject *j, uint32_t device,
		  const struct gp_verify_result *result)
{
	const struct gp_cuda *cuda = j->s->cuda;
	struct gp_verify_outcome outcome = {
		.trace = j->trace,
		.device = device,
		.result = result,
		.asked = j->plan.settings.release,
		.ran = j->ran,
		.is_torch = runs_torch(j),
		.is_checked = j->plan.check_memory,
		.is_on_device = cuda != NULL,
		.is_stand_in = cuda && gp_cuda_about(cuda)->is_stand_in,
	};

	if (j->s->width)
		gp_verify_line(gp_page_name(j->path), j->s->width, &outcome,
			       j->s->out);
	else
		gp_verify_text(&outcome, j->s->out);
	flush(j->s);
}

static enum gp_status verify_device(struct subject *j, uint32_t device,
				    struct gp_diag *diag)
{
	struct gp_verify_config config = config_of(j, device);
	struct gp_verify_result result;
	enum gp_status status;

	gp_progress_step(&j->s->progress, "running both allocators");
	status = gp_verify(&config, &result, diag);
	gp_progress_end(&j->s->progress);
	if (status == GP_OK && j->s->cuda && gp_interrupt_came())
		return gp_diag_set(
			diag, GP_SYSTEM,
			"interrupted; the device's memory was released");
	if (status != GP_OK)
		return status;
	print(j, device, &result);
	j->s->is_different |= result.first.is_there || result.memory.changed;
	return GP_OK;
}

static enum gp_status verify_trace(struct session *s, const char *path,
				   struct gp_diag *diag)
{
	struct subject j = { .s = s, .path = path };
	enum gp_status status =
		gp_trace_file_read(path, &s->progress, &j.trace, diag);

	if (status == GP_OK)
		status = make_plan(&j, diag);
	if (status == GP_OK && !j.trace->device_count)
		status = gp_trace_file_is_idle(j.trace, path, diag);
	for (uint32_t i = 0; status == GP_OK && i < j.trace->device_count; i++)
		status = verify_device(&j, i, diag);
	gp_progress_end(&s->progress);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, path);
	gp_plan_release(&j.plan);
	gp_trace_destroy(j.trace);
	return status;
}

/* Verifies all traces; one that cannot be compared does not stop the others. */
static enum gp_status verify_all(struct session *s, struct gp_diag *diag)
{
	size_t count = s->options->operand_count;
	enum gp_status worst = GP_OK;

	for (size_t i = 0; i < count; i++) {
		const char *path = s->options->operands[i];
		struct gp_diag own = { 0 };
		enum gp_status status = verify_trace(s, path, &own);

		if (status == GP_OK)
			continue;
		if (s->width)
			fprintf(s->out, "%-*s  %9s  %8s  not compared: %s\n",
				s->width, gp_page_name(path), "-", "-",
				own.what);
		if (worst == GP_OK)
			*diag = own;
		worst = worst == GP_OK ? status : worst;
		if (s->cuda && gp_interrupt_came())
			break;
	}
	if (worst != GP_OK || !s->is_different)
		return worst;
	if (!s->width)
		gp_diag_file(diag, s->options->operands[0]);
	return gp_diag_set(diag, GP_FAILED,
			   s->cuda ? "the replay on the device differs from "
				     "the simulated one"
				   : "the allocators make different decisions");
}

static int widest(const struct gp_options *options)
{
	int width = 5;

	for (size_t i = 0; i < options->operand_count; i++) {
		int length = (int)strlen(gp_page_name(options->operands[i]));

		width = length > width ? length : width;
	}
	return width;
}

static enum gp_status check(const struct gp_options *options,
			    struct gp_diag *diag)
{
	if (options->engine && !options->device)
		return gp_diag_usage(diag, "verify",
				     "--engine is for --device cuda",
				     "without --device cuda, the engine that "
				     "is compared with gpupool's is PyTorch's");
	return gp_options_check_device(options, diag);
}

static enum gp_status verify_command(const struct gp_options *options,
				     struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = check(options, diag);

	if (status == GP_OK && options->device == GP_DEVICE_CUDA)
		status = gp_cuda_runtime_open(options, &s.cuda, diag);
	if (status != GP_OK)
		return status;
	if (s.cuda)
		gp_interrupt_catch();
	s.out = gp_safe_stream(gp_outlet_stdout());
	if (options->operand_count > 1) {
		s.width = widest(options);
		gp_verify_head(s.width, s.out);
	}
	status = verify_all(&s, diag);
	fclose(s.out);
	gp_cuda_close(s.cuda);
	return status;
}

static const struct gp_option verify_options[] = {
	{ "engine", 0, GP_OPTION_TEXT, GP_AT(engine), "NAME",
	  "With --device cuda: the allocator to replay there; default: "
	  "caching; torch is PyTorch's own." },
	{ "device", 0, GP_OPTION_WORD, GP_AT(device), "sim|cuda",
	  "cuda: compare the replay on the first GPU, whose memory is "
	  "allocated, with the simulated one." },
	{ 0 },
};

const struct gp_command gp_verify_command = {
	.name = "verify",
	.operands = "TRACE...",
	.least = 1,
	.most = SIZE_MAX,
	.sentence = "Compare every decision with PyTorch's own.",
	.about =
		"The trace's requests go through gpupool's allocator and "
		"through PyTorch's own libc10_cuda.so, side by side on the "
		"simulated device. Each action and each counter is compared, "
		"and the first difference is shown with what is around it.\n"
		"Settings and release are the recorded ones unless others are "
		"given. Needs PyTorch's allocator of that release: make "
		"torch-engine TORCH=2.15.0, or --torch-lib.\n"
		"With --device cuda a replay on the first GPU is compared with "
		"the simulated one instead. Several traces are reported in a "
		"table.",
	.options = "alloc-conf torch capacity engine torch-lib device "
		   "check-memory cudart max-input quiet",
	.own = verify_options,
	.takes_settings = true,
	.run = verify_command,
};
