/* SPDX-License-Identifier: MIT */
#include "commands/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "commands/child.h"
#include "commands/command.h"
#include "commands/installed.h"
#include "commands/output.h"
#include "commands/own_folder.h"
#include "commands/planner.h"
#include "commands/recorded.h"
#include "commands/trace_file.h"
#include "gpupool/status.h"
#include "record/record.h"
#include "simcuda/simcuda.h"

#define DEFAULT_GPU "h100-80gb"

/* Releases whose allocator's calls can be intercepted
 * (simcuda/program/layout.c). */
#define FIRST_RELEASE 1
#define LAST_RELEASE  15

struct kernel_cache {
	char folder[PATH_MAX]; /* "": none was made */
};

struct session {
	struct gp_recording *recording;
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
	struct kernel_cache kernels;
};

/* ---- the kernels that a program compiles ---- */

#define INDUCTOR "TORCHINDUCTOR_CACHE_DIR"
#define TRITON	 "TRITON_CACHE_DIR"

static enum gp_status make_kernels(struct kernel_cache *cache,
				   struct gp_diag *diag)
{
	*cache = (struct kernel_cache){ .folder = "" };
	if (getenv(INDUCTOR))
		return GP_OK;
	return gp_own_fresh("kernels", cache->folder, diag);
}

/* Unless another folder is named, Inductor has Triton keep its kernels in a
 * folder within its own; kernels that the program wrote itself may be compiled
 * earlier. */
static void print_kernels(const struct kernel_cache *cache)
{
	char triton[PATH_MAX + 8];

	if (!*cache->folder)
		return;
	setenv("SIMCUDA_KERNELS", cache->folder, 1);
	setenv(INDUCTOR, cache->folder, 1);
	snprintf(triton, sizeof(triton), "%s/triton", cache->folder);
	setenv(TRITON, triton, 0);
}

static void remove_kernels(const struct kernel_cache *cache)
{
	gp_own_remove(cache->folder);
}

/* ---- before the program runs ---- */

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

/* "known", "all", or "drawn:" and a whole number */
static bool is_of_values(const char *text)
{
	static const char drawn[] = "drawn:", digits[] = "0123456789";
	size_t length = strlen(drawn);

	if (strncmp(text, drawn, length) != 0)
		return !strcmp(text, "known") || !strcmp(text, "all");
	text += length;
	length = strspn(text, digits);
	return length && length < 20 && !text[length];
}

/* With cudaMallocAsync, or without a cache, the driver manages memory, and
 * there is nothing to record. */
static enum gp_status check_backend(struct gp_diag *diag)
{
	static const char *const names[] = { "PYTORCH_CUDA_ALLOC_CONF",
					     "PYTORCH_ALLOC_CONF" };
	static const char no_caching[] = "PYTORCH_NO_CUDA_MEMORY_CACHING";

	if (getenv(no_caching)) {
		gp_diag_hint(diag, "unset it");
		return gp_diag_set(diag, GP_USAGE,
				   "%s is set, which leaves every request to "
				   "the driver and cannot be recorded",
				   no_caching);
	}
	for (size_t i = 0; i < 2; i++) {
		const char *conf = getenv(names[i]);

		if (!conf || !strstr(conf, "backend:cudaMallocAsync"))
			continue;
		gp_diag_hint(diag, "leave it out, or use backend:native");
		return gp_diag_set(
			diag, GP_USAGE,
			"%s sets backend:cudaMallocAsync, which leaves "
			"placement to the driver and cannot be recorded",
			names[i]);
	}
	return GP_OK;
}

const struct gp_gpu *gp_record_gpu(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct gp_diag why = { 0 };
	const struct gp_gpu *gpu =
		gp_gpu_find(options->gpu ? options->gpu : DEFAULT_GPU, &why);

	if (gpu)
		return gpu;
	gp_diag_hint(diag, "%s", why.hint);
	gp_diag_set(diag, GP_USAGE, "--gpu %.400s", why.what);
	return NULL;
}

/* Standard output belongs to the program, and no flag chooses the format. */
static enum gp_status check_output(const struct session *s,
				   struct gp_diag *diag)
{
	struct gp_trace_form form;
	enum gp_status status = GP_USAGE;

	if (!strcmp(s->output, "-"))
		gp_diag_set(diag, GP_USAGE,
			    "the trace needs a file: standard output is the "
			    "program's");
	else
		status = gp_trace_form_of(s->options, s->output, &form, diag);
	if (status == GP_USAGE)
		gp_diag_hint(diag, "a name such as trace.json, trace.jsonl.gz "
				   "or trace.bin");
	return status;
}

static enum gp_status check(struct session *s, struct gp_diag *diag)
{
	const char *events = s->options->complete;
	const char *devices = s->options->devices;
	uint64_t context;

	gp_diag_file(diag, "record");
	if (gp_outlet_is_redirected())
		return gp_diag_set(
			diag, GP_USAGE,
			"programs can only be recorded from the command line, "
			"not from within another program");
	s->output = s->options->output ? s->options->output : "trace.json";
	s->gpu = gp_record_gpu(s->options, diag);
	if (!s->gpu)
		return GP_USAGE;
	if (check_backend(diag) != GP_OK)
		return GP_USAGE;
	if (!s->options->operand_count) {
		gp_diag_hint(diag, "gpupool record -o trace.json -- python "
				   "train.py");
		return gp_diag_set(diag, GP_USAGE, "which COMMAND?");
	}
	if (events && !is_of_events(events)) {
		gp_diag_hint(diag,
			     "with lag:60, work is done 60 launches later");
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
	if (s->options->values && !is_of_values(s->options->values)) {
		gp_diag_hint(diag, "drawn:1 puts noise of seed 1 in place of "
				   "unknown values");
		return gp_diag_set(diag, GP_USAGE,
				   "--values %s: it takes known, drawn:SEED "
				   "with a whole number, or all",
				   s->options->values);
	}
	if (s->options->context &&
	    !gp_bytes_parse(s->options->context, &context))
		return gp_diag_set(diag, GP_USAGE,
				   "--context %s: it takes a size, such as "
				   "500MiB, or 0",
				   s->options->context);
	return check_output(s, diag);
}

static enum gp_status find_simcuda(struct session *s, struct gp_diag *diag)
{
	if (gp_simcuda_find(s->wants.cuda, s->simcuda))
		return GP_OK;
	gp_diag_file(diag, s->torch.folder);
	gp_diag_hint(diag, "builds for CUDA 12 and 13, such as those on PyPI, "
			   "can be recorded: pip install torch");
	return gp_diag_set(diag, GP_SYSTEM,
			   "there is no simulated runtime for its CUDA %u",
			   s->wants.cuda);
}

/* Other packages may need CUDA libraries that PyTorch does not. */
static void read_packages(struct session *s)
{
	char folders[sizeof(s->torch.packages)], *rest = folders, *folder;

	memcpy(folders, s->torch.packages, sizeof(folders));
	while ((folder = strsep(&rest, "\t")))
		gp_wants_read_packages(&s->wants, folder);
}

/* FNV-1a */
static uint64_t hash(uint64_t key, const char *text)
{
	do
		key = (key ^ (unsigned char)*text) * 1099511628211u;
	while (*text++);
	return key;
}

/* The loader splits paths at these characters. */
static bool is_one_word(const char *path)
{
	return !path[strcspn(path, " :")];
}

/* The library that stands in for CUDA, under a path that can be preloaded: if
 * its own path has blanks, a link in the folder of the other libraries. */
static enum gp_status name_simcuda(struct session *s, struct gp_diag *diag)
{
	char link[PATH_MAX + 32];

	if (is_one_word(s->simcuda) && is_one_word(s->stand_ins))
		return GP_OK;
	snprintf(link, sizeof(link), "%s/libgpupool-simcuda.so", s->stand_ins);
	gp_diag_file(diag, s->stand_ins);
	gp_diag_hint(diag, "name another folder in TMPDIR");
	if (!is_one_word(link) || strlen(link) >= sizeof(s->simcuda))
		return gp_diag_set(diag, GP_SYSTEM,
				   "libraries cannot be preloaded from a path "
				   "with a space or a colon");
	if (symlink(s->simcuda, link))
		return gp_diag_set(diag, GP_SYSTEM,
				   "cannot make a link in it: %s",
				   strerror(errno));
	memcpy(s->simcuda, link, strlen(link) + 1);
	return GP_OK;
}

/* The stand-ins depend on what PyTorch's libraries and the packages beside it
 * import, and on this program. So their folder's name is a hash of PyTorch's
 * folder, of this program, and of when either changed. They are loaded into the
 * program, so they are kept only where nobody else can write. */
static enum gp_status make_stand_ins(struct session *s, const char *lib,
				     struct gp_diag *diag)
{
	char cache[PATH_MAX];
	uint64_t key = 14695981039346656037u;
	char text[PATH_MAX + 96];
	struct stat about = { 0 }, program = { 0 };

	stat(lib, &about);
	stat("/proc/self/exe", &program);
	snprintf(text, sizeof(text), "%s %lld %lld %lld", lib,
		 (long long)about.st_mtime, (long long)program.st_mtime,
		 (long long)program.st_size);
	key = hash(key, text);
	for (size_t i = 0; i < s->wants.symbol_count; i++)
		key = hash(key, s->wants.symbols[i]);
	for (size_t i = 0; i < s->wants.soname_count; i++)
		key = hash(key, s->wants.sonames[i]);
	if (gp_own_cache("record", cache) && is_one_word(cache) &&
	    is_one_word(s->simcuda) && gp_own_make(cache)) {
		snprintf(s->stand_ins, sizeof(s->stand_ins),
			 "%.4000s/%016" PRIx64, cache, key);
		if (gp_own_make(s->stand_ins))
			return GP_OK;
	}
	s->has_fresh_stand_ins = true;
	return gp_own_fresh("record", s->stand_ins, diag);
}

/* Intercepted calls depend on how this processor passes arguments. */
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
				   "programs can only be recorded on x86-64");
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
		status = name_simcuda(s, diag);
	if (status == GP_OK)
		status = gp_stand_ins_write(&s->wants, s->stand_ins, diag);
	return status;
}

/* Finds errors early that would otherwise be found only after the program has
 * run. */
static enum gp_status make_parts(struct session *s, struct gp_diag *diag)
{
	char name[PATH_MAX], here[PATH_MAX];
	struct stat about;

	if (!stat(s->output, &about) && S_ISDIR(about.st_mode)) {
		gp_diag_file(diag, s->output);
		return gp_diag_set(diag, GP_SYSTEM, "cannot write it: %s",
				   strerror(EISDIR));
	}
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

static void set_gpu(const struct gp_gpu_properties *p)
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

/* Our libraries are loaded before any other, under CUDA's names, because
 * PyTorch's libraries look beside themselves before they look into
 * LD_LIBRARY_PATH. */
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

/* Sets the variables for the Python side. */
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
	if (o->values)
		setenv("SIMCUDA_VALUES", o->values, 1);
	if (o->quiet)
		setenv("SIMCUDA_QUIET", "1", 1);
}

/* --capacity is what the process can use: no context is subtracted from it. */
static uint64_t context_bytes(const struct session *s)
{
	uint64_t bytes = 0;

	if (s->options->context)
		gp_bytes_parse(s->options->context, &bytes);
	else if (!s->options->capacity)
		bytes = gp_gpu_non_pytorch(s->gpu).high;
	return bytes;
}

/* The note that is printed if the program asked how much memory is free. */
static void describe_context(const struct session *s, char *text, size_t size)
{
	const char *source = gp_gpu_non_pytorch(s->gpu).source;
	char bytes[GP_BYTES_TEXT];

	gp_bytes_text(context_bytes(s), bytes);
	if (s->options->context)
		snprintf(text, size, "%s of the device are CUDA's context",
			 bytes);
	else
		snprintf(text, size,
			 "%s of the device are CUDA's context: %s; --context "
			 "sets another size",
			 bytes,
			 source ? "as published for this device"
				: "an estimate, as it is not known for this "
				  "device");
}

static void set_environment(const struct session *s)
{
	const struct gp_options *o = s->options;

	set_number("SIMCUDA_CAPACITY",
		   o->capacity ? o->capacity : s->gpu->capacity);
	set_number("SIMCUDA_CONTEXT", context_bytes(s));
	set_number("SIMCUDA_DEVICES",
		   o->devices ? (uint64_t)atoi(o->devices) : 1);
	if (s->recording->is_boundless)
		setenv("SIMCUDA_BOUNDLESS", "1", 1);
	set_number("SIMCUDA_DOWNWARD", 1);
	setenv("SIMCUDA_EVENTS", o->complete ? o->complete : "instant", 1);
	setenv("SIMCUDA_RECORD", s->parts, 1);
	set_number("SIMCUDA_TORCH", s->torch.release);
	set_interpreter(o);
	/* Sets of strings are walked in the order of their hashes. */
	setenv("PYTHONHASHSEED", "0", 0);
	print_kernels(&s->kernels);
	/* Triton's launcher is linked with this folder's libcuda.so.1. */
	setenv("TRITON_LIBCUDA_PATH", s->stand_ins, 0);
}

static void silence(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}

static void prepare_program(const void *data)
{
	const struct session *s = data;

	if (s->recording->is_output_aside)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (s->recording->is_silent)
		silence();
	set_environment(s);
	set_libraries(s);
	/* Sets of objects are walked in the order of their addresses. */
	if (personality(ADDR_NO_RANDOMIZE) < 0 && !s->options->quiet)
		fprintf(stderr, "gpupool: this system does not allow address "
				"randomization to be turned off: two runs may "
				"differ\n");
}

/* ---- after the program has ended ---- */

/* A correct program may fail because of a value that it would not read on a
 * GPU. */
static void print_failure(const struct session *s, const struct gp_child *child)
{
	const char *values = s->options->values;

	if (WIFSIGNALED(child->ending) || !child->ending ||
	    (values && strcmp(values, "known") != 0))
		return;
	gp_notice("gpupool: the program failed after reading unknown values, "
		  "which may be the cause: --values drawn:1 puts noise in "
		  "their place, --values all computes them\n");
}

static enum gp_status keep(const struct session *s,
			   const struct gp_child *child, struct gp_diag *diag)
{
	struct gp_recording *recording = s->recording;
	struct gp_recorded_result recorded = { 0 };
	enum gp_status status;
	char context[200];

	describe_context(s, context, sizeof(context));
	if (!s->options->quiet)
		gp_child_repeat_signal(child);
	status = gp_recorded_take(s->parts, s->output,
				  (struct gp_recorded_options){
					  .quiet = s->options->quiet,
					  .context = context,
					  .strict = s->options->strict,
				  },
				  &recorded, diag);
	if (recorded.has_guessed)
		print_failure(s, child);
	recording->count = recorded.count;
	recording->peak_allocated = recorded.peak_allocated;
	recording->peak_reserved = recorded.peak_reserved;
	return status;
}

static enum gp_status run(struct session *s, struct gp_child *child,
			  struct gp_diag *diag)
{
	const struct gp_plans_source source = {
		.simcuda = s->simcuda,
		.torch = s->torch.folder,
		.folder = s->parts,
		.gpu = s->gpu,
		.cuda = s->wants.cuda,
	};
	enum gp_status status;

	set_gpu(&s->gpu->properties);
	gp_planner_start(&s->planner, &source);
	gp_child_adopt();
	status = gp_child_run(child, diag);
	gp_planner_stop(&s->planner);
	s->recording->runs_on = gp_child_left_one();
	if (status == GP_OK)
		return keep(s, child, diag);
	rmdir(s->parts);
	return status;
}

enum gp_status gp_record_program(struct gp_recording *recording,
				 struct gp_diag *diag)
{
	const struct gp_options *options = recording->options;
	struct session s = { .recording = recording, .options = options };
	struct gp_child child = { .command = options->operands,
				  .prepare = prepare_program,
				  .data = &s };
	enum gp_status status = check(&s, diag);

	if (status == GP_OK)
		status =
			gp_python_find_torch(options->operands, &s.torch, diag);
	if (status == GP_OK)
		status = prepare(&s, diag);
	if (status == GP_OK)
		status = gp_planner_find(&s.planner, options->cudnn,
					 s.torch.folder, diag);
	if (status == GP_OK)
		status = make_kernels(&s.kernels, diag);
	if (status == GP_OK)
		status = make_parts(&s, diag);
	if (status == GP_OK)
		status = run(&s, &child, diag);
	remove_kernels(&s.kernels);
	if (s.has_fresh_stand_ins)
		gp_own_remove(s.stand_ins);
	gp_wants_release(&s.wants);
	recording->ending = child.ending;
	return status;
}

int gp_recording_status(const struct gp_recording *recording)
{
	return WIFSIGNALED(recording->ending)
		       ? 128 + WTERMSIG(recording->ending)
		       : WEXITSTATUS(recording->ending);
}

/* ---- several recordings ---- */

#define MOST_SEEDS 1000

static const char drawn[] = "drawn:";

/* Whether a single recording is asked for. */
static bool is_one(const struct gp_options *options)
{
	return !options->seeds;
}

static enum gp_status check_seeds(const struct gp_options *options,
				  struct gp_diag *diag)
{
	gp_diag_file(diag, options->command);
	if (options->seeds > MOST_SEEDS)
		return gp_diag_set(diag, GP_USAGE,
				   "--seeds %" PRIu64 ": it takes 1 to %d",
				   options->seeds, MOST_SEEDS);
	if (options->values &&
	    strncmp(options->values, drawn, strlen(drawn)) != 0) {
		gp_diag_hint(diag, "--values drawn:1 --seeds 5");
		return gp_diag_set(diag, GP_USAGE,
				   "--seeds: it needs --values drawn:SEED, and "
				   "--values %s draws nothing",
				   options->values);
	}
	return GP_OK;
}

/* trace.json -> trace.seed2.json */
static void name_of_seed(const char *output, uint64_t seed, char path[PATH_MAX])
{
	const char *base = strrchr(output, '/');
	const char *dot = strchr(base ? base + 1 : output, '.');
	int stem = (int)(dot ? (size_t)(dot - output) : strlen(output));

	snprintf(path, PATH_MAX, "%.*s.seed%" PRIu64 "%s", stem, output, seed,
		 dot ? dot : "");
}

static void keep_most(struct gp_seeds *s, const struct gp_recording *recording,
		      uint64_t seed, const char *path)
{
	uint64_t peak = recording->peak_reserved;

	if (!s->count || peak < s->least)
		s->least = peak;
	if (!s->count || peak > s->most) {
		s->most = peak;
		s->worst = seed;
		snprintf(s->output, sizeof(s->output), "%s", path);
		s->recording->count = recording->count;
		s->recording->peak_allocated = recording->peak_allocated;
		s->recording->peak_reserved = recording->peak_reserved;
	}
	s->recording->ending = recording->ending;
	s->count++;
}

static enum gp_status record_seed(struct gp_seeds *s, uint64_t seed,
				  struct gp_diag *diag)
{
	struct gp_options options = *s->recording->options;
	struct gp_recording recording = *s->recording;
	char values[40], path[PATH_MAX];
	enum gp_status status;

	snprintf(values, sizeof(values), "%s%" PRIu64, drawn, seed);
	name_of_seed(options.output ? options.output : "trace.json", seed,
		     path);
	options.values = values;
	options.output = path;
	recording.options = &options;
	status = gp_record_program(&recording, diag);
	if (status != GP_OK && status != GP_FAILED)
		return status;
	if (!options.quiet)
		gp_notice("gpupool: seed %" PRIu64
			  ": %s reserved at the peak\n",
			  seed, GP_BYTES(recording.peak_reserved));
	keep_most(s, &recording, seed, path);
	return status;
}

enum gp_status gp_record_seeds(struct gp_seeds *s, struct gp_diag *diag)
{
	const struct gp_options *options = s->recording->options;
	enum gp_status status;

	if (is_one(options)) {
		s->count = 1;
		return gp_record_program(s->recording, diag);
	}
	status = check_seeds(options, diag);
	s->first = options->values
			   ? strtoull(options->values + strlen(drawn), NULL, 10)
			   : 1;
	for (uint64_t i = 0;
	     i < options->seeds && status == GP_OK && !s->recording->ending;
	     i++)
		status = record_seed(s, s->first + i, diag);
	return status;
}

void gp_seeds_text(const struct gp_seeds *s, char text[GP_SEEDS_TEXT])
{
	snprintf(text, GP_SEEDS_TEXT,
		 "%" PRIu64 " seeds: %s to %s reserved at the peak, the most "
		 "with seed %" PRIu64,
		 s->count, GP_BYTES(s->least), GP_BYTES(s->most), s->worst);
}

void gp_seeds_print(const struct gp_seeds *s)
{
	char text[GP_SEEDS_TEXT];

	if (is_one(s->recording->options) || s->count < 2)
		return;
	gp_seeds_text(s, text);
	gp_notice("gpupool: %s: %s\n", text, s->output);
}
