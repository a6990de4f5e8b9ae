/* SPDX-License-Identifier: MIT */
/*
 * gpupool record: runs a PyTorch program over CUDA without a device, and keeps
 * what its allocator did.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "commands/child.h"
#include "commands/command.h"
#include "commands/gpu_list.h"
#include "commands/kernel_cache.h"
#include "commands/own_folder.h"
#include "commands/planner.h"
#include "commands/python.h"
#include "commands/recorded.h"
#include "commands/trace_file.h"
#include "record/record.h"

#define DEFAULT_GPU   "h100-80gb"
/* Releases whose allocator can be listened to (simcuda/program/layout.c). */
#define FIRST_RELEASE 1
#define LAST_RELEASE  15

struct session {
	const struct gp_options *options;
	const char *output;
	const struct gp_gpu *gpu;
	struct gp_python_torch torch;
	struct gp_wants wants;
	struct gp_planner planner;
	char stand_ins[PATH_MAX]; /* folder */
	bool has_fresh_stand_ins; /* to be removed */
	char simcuda[PATH_MAX];	  /* library */
	char parts[PATH_MAX];	  /* folder that the program writes to */
	struct gp_kernel_cache kernels;
};

/* ---- before ---- */

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return *text && !*end;
}

/* "instant", or "lag:" and a whole number */
static bool is_of_events(const char *text)
{
	static const char lag[] = "lag:", digits[] = "0123456789";
	size_t length = strlen(lag);

	if (strncmp(text, lag, length) != 0)
		return !strcmp(text, "instant");
	text += length;
	length = strspn(text, digits);
	return length && length < 10 && !text[length];
}

/* Where the driver places memory there is nothing to record. */
static enum gp_status check_backend(struct gp_diag *diag)
{
	static const char *const names[] = { "PYTORCH_CUDA_ALLOC_CONF",
					     "PYTORCH_ALLOC_CONF" };

	for (size_t i = 0; i < 2; i++) {
		const char *conf = getenv(names[i]);

		if (!conf || !strstr(conf, "backend:cudaMallocAsync"))
			continue;
		gp_diag_hint(diag, "leave it out, or take backend:native");
		return gp_diag_set(diag, GP_USAGE,
				   "%s has backend:cudaMallocAsync, which "
				   "leaves placement to the driver and "
				   "cannot be recorded",
				   names[i]);
	}
	return GP_OK;
}

static enum gp_status check(struct session *s, struct gp_diag *diag)
{
	const char *gpu = s->options->gpu ? s->options->gpu : DEFAULT_GPU;
	const char *events = s->options->complete;
	const char *devices = s->options->devices;
	struct gp_trace_form form;
	struct gp_diag why = { 0 };

	gp_diag_file(diag, "record");
	s->output = s->options->output ? s->options->output : "trace.json";
	s->gpu = gp_gpu_find(gpu, &why);
	if (!s->gpu) {
		gp_diag_hint(diag, "%s", why.hint);
		return gp_diag_set(diag, GP_USAGE, "--gpu %.400s", why.what);
	}
	if (check_backend(diag) != GP_OK)
		return GP_USAGE;
	if (!s->options->operand_count) {
		gp_diag_hint(diag, "gpupool record -o trace.json -- python "
				   "train.py");
		return gp_diag_set(diag, GP_USAGE, "which COMMAND?");
	}
	if (events && !is_of_events(events)) {
		gp_diag_hint(diag, "lag:60 has work done 60 launches later");
		return gp_diag_set(diag, GP_USAGE,
				   "--events %s: it takes instant, or lag:N "
				   "with a whole number N",
				   events);
	}
	if (devices &&
	    (atoi(devices) < 1 || atoi(devices) > SIMCUDA_MOST_DEVICES))
		return gp_diag_set(diag, GP_USAGE,
				   "--devices %s: it takes 1 "
				   "to 16",
				   devices);
	if (s->options->scalar && !is_number(s->options->scalar))
		return gp_diag_set(diag, GP_USAGE,
				   "--scalar %s: it takes a number",
				   s->options->scalar);
	return gp_trace_form_of(s->options, "record", s->output, &form, diag);
}

/* Beside the program, or where it was installed. */
static enum gp_status find_simcuda(struct session *s, struct gp_diag *diag)
{
	static const char *const places[] = { "simcuda",
					      "../lib/gpupool/simcuda" };
	char here[PATH_MAX - 128];
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);

	here[n > 0 ? n : 0] = 0;
	for (char *end = strrchr(here, '/'); end; end = NULL)
		*end = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(s->simcuda, sizeof(s->simcuda),
			 "%s/%s/%u/libgpupool-simcuda.so", here, places[i],
			 s->wants.cuda);
		if (!access(s->simcuda, R_OK))
			return GP_OK;
	}
	gp_diag_file(diag, s->torch.folder);
	gp_diag_hint(diag, "builds for CUDA 12 and 13 can be recorded, as PyPI "
			   "has them: pip install torch");
	return gp_diag_set(diag, GP_SYSTEM,
			   "no library stands in for its CUDA %u",
			   s->wants.cuda);
}

/* Packages beside PyTorch may want more of CUDA than it does. */
static void read_packages(struct session *s)
{
	char path[PATH_MAX], *end;

	snprintf(path, sizeof(path), "%s", s->torch.folder);
	end = strrchr(path, '/');
	if (end)
		*end = '\0';
	end = strrchr(path, '/');
	if (end &&
	    (!strcmp(end, "/site-packages") || !strcmp(end, "/dist-packages")))
		gp_wants_read_packages(&s->wants, path);
}

/* FNV-1a */
static uint64_t hash(uint64_t key, const char *text)
{
	do
		key = (key ^ (unsigned char)*text) * 1099511628211u;
	while (*text++);
	return key;
}

/* What they hold follows from what PyTorch's libraries and the packages beside
 * it want: that, its folder and when that changed name them.  They are loaded
 * into the program, so they are kept only where nobody else can write. */
static enum gp_status make_stand_ins(struct session *s, const char *lib,
				     struct gp_diag *diag)
{
	char cache[PATH_MAX];
	uint64_t key = 14695981039346656037u;
	char text[PATH_MAX + 64];
	struct stat about = { 0 };

	stat(lib, &about);
	snprintf(text, sizeof(text), "%s %lld %s", lib,
		 (long long)about.st_mtime, __DATE__ __TIME__);
	key = hash(key, text);
	for (size_t i = 0; i < s->wants.symbol_count; i++)
		key = hash(key, s->wants.symbols[i]);
	for (size_t i = 0; i < s->wants.soname_count; i++)
		key = hash(key, s->wants.sonames[i]);
	if (gp_own_cache("record", cache) && gp_own_make(cache)) {
		snprintf(s->stand_ins, sizeof(s->stand_ins),
			 "%.4000s/%016" PRIx64, cache, key);
		if (gp_own_make(s->stand_ins))
			return GP_OK;
	}
	s->has_fresh_stand_ins = true;
	return gp_own_fresh("record", s->stand_ins, diag);
}

/* Calls on PyTorch's allocator are led here as this processor passes
 * arguments. */
#ifdef __x86_64__
#define IS_X86_64 1
#else
#define IS_X86_64 0
#endif

static enum gp_status check_release(const struct session *s,
				    struct gp_diag *diag)
{
	if (!IS_X86_64) {
		gp_diag_hint(diag,
			     "record there; the trace can be replayed here");
		return gp_diag_set(diag, GP_SYSTEM,
				   "programs can be recorded on x86-64 only");
	}
	if (s->torch.release >= FIRST_RELEASE &&
	    s->torch.release <= LAST_RELEASE)
		return GP_OK;
	gp_diag_file(diag, s->torch.folder);
	gp_diag_hint(diag, "install another release: pip install torch==2.%d",
		     LAST_RELEASE);
	return gp_diag_set(diag, GP_SYSTEM,
			   "this is PyTorch %s; 2.%d to 2.%d can be recorded",
			   s->torch.version, FIRST_RELEASE, LAST_RELEASE);
}

static enum gp_status prepare(struct session *s, struct gp_diag *diag)
{
	char lib[PATH_MAX + 8];
	enum gp_status status = check_release(s, diag);

	snprintf(lib, sizeof(lib), "%s/lib", s->torch.folder);
	if (status == GP_OK)
		status = gp_wants_read(&s->wants, lib, diag);
	if (status == GP_OK)
		status = find_simcuda(s, diag);
	if (status == GP_OK)
		read_packages(s);
	if (status == GP_OK)
		status = make_stand_ins(s, lib, diag);
	if (status == GP_OK)
		status = gp_stand_ins_write(&s->wants, s->stand_ins, diag);
	return status;
}

static enum gp_status make_parts(struct session *s, struct gp_diag *diag)
{
	char name[PATH_MAX], here[PATH_MAX];

	if (*s->output == '/' || !getcwd(here, sizeof(here)))
		snprintf(name, sizeof(name), "%s.XXXXXX", s->output);
	else if ((size_t)snprintf(name, sizeof(name), "%s/%s.XXXXXX", here,
				  s->output) >= sizeof(name))
		return gp_diag_set(diag, GP_SYSTEM, "its path is too long");
	memcpy(s->parts, name, sizeof(name));
	if (mkdtemp(s->parts))
		return GP_OK;
	gp_diag_file(diag, s->output);
	return gp_diag_set(diag, GP_SYSTEM, "cannot write beside it: %s",
			   strerror(errno));
}

/* ---- the program ---- */

static void set_number(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	setenv(name, text, 1);
}

static void set_gpu(const struct simcuda_properties *p)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%s", p->major,
		 p->minor, p->multiprocessors, p->l2_bytes, p->bus_width_bits,
		 p->shared_per_block, p->shared_per_block_optin,
		 p->shared_per_sm, p->threads_per_sm, p->blocks_per_sm,
		 p->clock_khz, p->memory_clock_khz, p->compiled_for, p->name);
	setenv("SIMCUDA_GPU", text, 1);
}

static void prefix(const char *name, const char *value)
{
	const char *old = getenv(name);
	size_t size = strlen(value) + (old ? strlen(old) : 0) + 2;
	char *text = gp_mem_alloc(size, 1);

	snprintf(text, size, "%s%s%s", value, old && *old ? ":" : "",
		 old ? old : "");
	setenv(name, text, 1);
	free(text);
}

/* Ours are loaded before any other, under CUDA's names: PyTorch's libraries
 * look beside themselves before they look into LD_LIBRARY_PATH. */
static void set_libraries(const struct session *s)
{
	char path[PATH_MAX + 256];

	for (size_t i = s->wants.soname_count; i--;) {
		snprintf(path, sizeof(path), "%s/%s", s->stand_ins,
			 s->wants.sonames[i]);
		prefix("LD_PRELOAD", path);
	}
	snprintf(path, sizeof(path), "%s/libgpupool-stand-ins.so",
		 s->stand_ins);
	prefix("LD_PRELOAD", path);
	prefix("LD_PRELOAD", s->simcuda);
	prefix("LD_LIBRARY_PATH", s->stand_ins);
}

/* What is asked of Python besides. */
static void set_interpreter(const struct gp_options *o)
{
	if (o->steps_of)
		setenv("SIMCUDA_STEPS", o->steps_of, 1);
	else
		setenv("SIMCUDA_MARKS", "1", 1);
	if (o->stacks)
		setenv("SIMCUDA_STACKS", "1", 1);
	if (o->times)
		setenv("SIMCUDA_TIMES", "1", 1);
	if (o->scalar)
		setenv("SIMCUDA_SCALAR", o->scalar, 1);
	if (o->quiet)
		setenv("SIMCUDA_QUIET", "1", 1);
}

static void set_environment(const struct session *s)
{
	const struct gp_options *o = s->options;

	set_number("SIMCUDA_CAPACITY",
		   o->capacity ? o->capacity : s->gpu->capacity);
	set_number("SIMCUDA_DEVICES",
		   o->devices ? (uint64_t)atoi(o->devices) : 1);
	setenv("SIMCUDA_EVENTS", o->complete ? o->complete : "instant", 1);
	setenv("SIMCUDA_RECORD", s->parts, 1);
	set_number("SIMCUDA_TORCH", s->torch.release);
	set_interpreter(o);
	/* Sets of strings are walked in the order of their hashes. */
	setenv("PYTHONHASHSEED", "0", 0);
	gp_kernel_cache_tell(&s->kernels);
	/* Triton's launcher is linked with this folder's libcuda.so.1. */
	setenv("TRITON_LIBCUDA_PATH", s->stand_ins, 0);
}

static void prepare_program(const void *data)
{
	const struct session *s = data;

	set_environment(s);
	set_libraries(s);
	/* Sets of objects are walked in the order of their addresses. */
	if (personality(ADDR_NO_RANDOMIZE) < 0 && !s->options->quiet)
		fprintf(stderr, "gpupool: this system does not let the "
				"program's addresses be fixed: two runs may "
				"differ\n");
}

/* ---- after ---- */

static enum gp_status keep(const struct session *s,
			   const struct gp_child *child, struct gp_diag *diag)
{
	if (!s->options->quiet)
		gp_child_tell_signal(child);
	return gp_recorded_take(s->parts, s->output,
				(struct gp_recorded_options){
					.quiet = s->options->quiet,
					.strict = s->options->strict,
				},
				diag);
}

static enum gp_status run(struct session *s, struct gp_child *child,
			  struct gp_diag *diag)
{
	const struct gp_plans_source source = {
		.simcuda = s->simcuda,
		.folder = s->parts,
		.gpu = s->gpu,
		.cuda = s->wants.cuda,
	};
	enum gp_status status;

	set_gpu(&s->gpu->properties);
	gp_planner_start(&s->planner, &source);
	status = gp_child_run(child, diag);
	gp_planner_stop(&s->planner);
	if (status == GP_OK)
		return keep(s, child, diag);
	rmdir(s->parts);
	return status;
}

static enum gp_status record_command(const struct gp_options *options,
				     struct gp_diag *diag)
{
	struct session s = { .options = options };
	struct gp_child child = { .command = options->operands,
				  .prepare = prepare_program,
				  .data = &s };
	enum gp_status status;

	if (options->gpu && !strcmp(options->gpu, "help")) {
		gp_gpu_list(stdout);
		return GP_OK;
	}
	status = check(&s, diag);

	if (status == GP_OK)
		status =
			gp_python_find_torch(options->operands, &s.torch, diag);
	if (status == GP_OK)
		status = prepare(&s, diag);
	if (status == GP_OK)
		status = gp_planner_find(&s.planner, options->cudnn,
					 s.torch.folder, diag);
	if (status == GP_OK)
		status = gp_kernel_cache_make(&s.kernels, diag);
	if (status == GP_OK)
		status = make_parts(&s, diag);
	if (status == GP_OK)
		status = run(&s, &child, diag);
	gp_kernel_cache_remove(&s.kernels);
	if (s.has_fresh_stand_ins)
		gp_own_remove(s.stand_ins);
	gp_wants_release(&s.wants);
	if ((status == GP_OK || status == GP_FAILED) && child.ending)
		gp_child_end_as(&child);
	return status;
}

static const struct gp_option record_options[] = {
	{ "capacity", 0, GP_OPTION_CAPACITY, GP_AT(capacity), "SIZE",
	  "Memory of each device, in place of what --gpu has: 80GiB, "
	  "512MiB, a number of bytes, or that of another device, such as "
	  "a100-40gb." },
	{ "gpu", 0, GP_OPTION_TEXT, GP_AT(gpu), "NAME",
	  "The device that the program sees: h100-80gb, which is the "
	  "default, or another in any usual spelling; help lists them." },
	{ "devices", 0, GP_OPTION_TEXT, GP_AT(devices), "N",
	  "How many of them, 1 to 16; 1 unless given." },
	{ "events", 0, GP_OPTION_TEXT, GP_AT(complete), "instant|lag:N",
	  "When work on a stream is done: at once, which is the default, "
	  "or N launches and copies later." },
	{ "steps-of", 0, GP_OPTION_TEXT, GP_AT(steps_of), "FUNC",
	  "Mark the calls of this Python function as steps, and nothing "
	  "else. Without it, ranges of record_function and NVTX, and steps "
	  "of optimizers, become marks." },
	{ "stacks", 0, GP_OPTION_FLAG, GP_AT(stacks), NULL,
	  "Keep the Python stack of each allocation; it takes time." },
	{ "times", 0, GP_OPTION_FLAG, GP_AT(times), NULL,
	  "Keep when each event was, on a clock that launches and copies "
	  "advance: it is made up." },
	{ "scalar", 0, GP_OPTION_TEXT, GP_AT(scalar), "VALUE",
	  "What the program reads from a scalar on the device, by item() "
	  "and the like, in place of 0." },
	{ "cudnn", 0, GP_OPTION_TEXT, GP_AT(cudnn), "FILE|none",
	  "The cuDNN library that is asked for plans and their workspace: "
	  "the one installed with PyTorch unless given." },
	{ "output", 'o', GP_OPTION_TEXT, GP_AT(output), "FILE",
	  "The trace, trace.json unless given; its name says the format as "
	  "convert's does." },
	{ "strict", 0, GP_OPTION_FLAG, GP_AT(strict), NULL,
	  "Exit 1 if the program read values that nobody knows: it may "
	  "take another path on a GPU." },
	GP_COMMON("quiet"),
	{ 0 },
};

const struct gp_command gp_record_command = {
	.name = "record",
	.operands = "-- COMMAND...",
	.most = SIZE_MAX,
	.sentence = "Run a PyTorch program without a GPU and keep its trace.",
	.about =
		"The program is not changed and runs on the PyTorch that it "
		"has, over a CUDA without a device: memory, streams and events "
		"behave, kernels compute nothing, and what is copied from the "
		"device is zeros. Its output and its exit status are its own.\n"
		"The trace is kept whatever way the program ends. Several "
		"processes that use a device give a trace each: trace.1.json, "
		"trace.2.json.",
	.options = record_options,
	.run = record_command,
};
