/* SPDX-License-Identifier: MIT */
/* gpupool doctor: what is installed on this machine, and what is missing for
 * which purpose. */
#include "report/report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/installed.h"
#include "commands/output.h"
#include "gpupool/gpupool.h"
#include "gpupool/knob.h"

#define MOST_CHECKS 8

struct session {
	const struct gp_options *options;
	struct gp_arena arena; /* owns texts */
	struct gp_doctor_check checks[MOST_CHECKS];
	struct gp_doctor doctor;
};

/* What was found, or why nothing was; hint "": none. */
struct finding {
	bool is_there;
	char text[1024], hint[256];
};

static const char *keep(struct session *s, const char *text)
{
	return gp_arena_text(&s->arena, text, strlen(text));
}

/* The next place of the home folder in a text, from `from` on; it is not
 * counted within a longer path or name. */
static const char *find_home(const char *text, const char *from,
			     const char *home, size_t length)
{
	const char *at = from;

	for (; (at = memmem(at, strlen(at), home, length)); at++) {
		bool begins = at == text || strchr(" :=,(", at[-1]);
		char next = at[length];

		if (begins && (!next || strchr("/ :,;)", next)))
			return at;
	}
	return NULL;
}

/* Replaces the home folder by ~, because reports are shown to others. */
static const char *without_home(struct session *s, const char *text)
{
	const char *home = getenv("HOME"), *from = text, *at;
	size_t length = home && *home == '/' ? strlen(home) : 0;
	struct gp_text_sink sink;
	const char *kept;
	char *written;
	FILE *out;

	while (length && home[length - 1] == '/')
		length--;
	if (!length)
		return keep(s, text);
	out = gp_text_sink_open(&sink);
	while ((at = find_home(text, from, home, length))) {
		fprintf(out, "%.*s~", (int)(at - from), from);
		from = at + length;
	}
	fputs(from, out);
	written = gp_text_sink_close(&sink, out);
	kept = keep(s, written);
	free(written);
	return kept;
}

static void add(struct session *s, const char *name,
		const struct finding *finding, const char *needed_for)
{
	s->checks[s->doctor.check_count++] = (struct gp_doctor_check){
		.name = name,
		.is_there = finding->is_there,
		.found = without_home(s, finding->text),
		.needed_for = needed_for,
		.hint = *finding->hint && !finding->is_there
				? without_home(s, finding->hint)
				: NULL,
	};
}

static struct finding trouble(const struct gp_diag *diag)
{
	struct finding finding = { 0 };

	snprintf(finding.text, sizeof(finding.text), "%s%s%s", diag->file,
		 *diag->file ? ": " : "", diag->what);
	snprintf(finding.hint, sizeof(finding.hint), "%s", diag->hint);
	return finding;
}

/* ---- what is looked for ---- */

static void find_torch(struct session *s)
{
	static const char *const python[] = { "python3", NULL };
	struct finding finding = { .is_there = true };
	struct gp_python_torch torch;
	struct gp_diag diag = { 0 };

	if (gp_python_find_torch(python, &torch, &diag) == GP_OK)
		snprintf(finding.text, sizeof(finding.text), "%s, %.500s",
			 torch.version, torch.folder);
	else
		finding = trouble(&diag);
	add(s, "PyTorch", &finding,
	    "gpupool record, unless the program has its own");
}

static void find_stand_ins(struct session *s)
{
	static const struct {
		unsigned cuda;
		const char *name, *needed_for;
	} rows[] = {
		{ 12, "CUDA 12",
		  "gpupool record of PyTorch built for CUDA 12" },
		{ 13, "CUDA 13",
		  "gpupool record of PyTorch built for CUDA 13" },
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct finding finding = {
			.is_there = gp_simcuda_find(rows[i].cuda, path),
		};

		snprintf(finding.text, sizeof(finding.text), "%.1000s",
			 finding.is_there ? path
					  : "libgpupool-simcuda.so is not next "
					    "to gpupool");
		snprintf(finding.hint, sizeof(finding.hint),
			 "make, or make install, puts it there");
		add(s, rows[i].name, &finding, rows[i].needed_for);
	}
}

/* Finds prepared engines, and the releases whose decisions they make. */
static void find_engine(struct session *s)
{
	struct finding finding = { .is_there = false };
	struct gp_diag diag = { 0 };
	size_t length = 0;

	for (unsigned r = GP_RELEASE_FIRST; r <= GP_RELEASE_LAST; r++) {
		char *folder = NULL;

		if (gp_torch_lib_find((uint8_t)r, &folder, &diag) != GP_OK)
			continue;
		free(folder);
		length += (size_t)snprintf(
			finding.text + length, sizeof(finding.text) - length,
			"%s2.%u",
			finding.is_there ? ", "
					 : "PyTorch's own, prepared for ",
			r);
		finding.is_there = true;
	}
	if (!finding.is_there)
		finding = trouble(&diag);
	add(s, "allocator", &finding, "gpupool verify and --engine torch");
}

static void find_compilers(struct session *s)
{
	static const char *const programs[] = { "gcc", "g++", "readelf", "nm" };
	struct finding finding = { .is_there = true };
	char path[PATH_MAX], there[64] = "", missing[64] = "";

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		bool is_there =
			gp_program_find(programs[i], path, sizeof(path));
		char *list = is_there ? there : missing;
		size_t length = strlen(list);

		snprintf(list + length, sizeof(there) - length, "%s%s",
			 length ? ", " : "", programs[i]);
		finding.is_there &= is_there;
	}
	snprintf(finding.text, sizeof(finding.text), "%s",
		 finding.is_there ? there : missing);
	snprintf(finding.hint, sizeof(finding.hint),
		 "on Debian: apt-get install g++ binutils");
	add(s, "compilers", &finding,
	    "preparing PyTorch's own allocator: make torch-engine, "
	    "--torch-lib");
}

static void find_gpu(struct session *s)
{
	struct finding finding = { .is_there = true };
	const struct gp_cuda_about *about;
	struct gp_cuda *cuda = NULL;
	struct gp_diag diag = { 0 };

	if (gp_cuda_runtime_open(s->options, &cuda, &diag) == GP_OK) {
		about = gp_cuda_about(cuda);
		finding.is_there = !about->is_stand_in;
		snprintf(finding.text, sizeof(finding.text),
			 "%s%s, %s, driver %s, CUDA %d.%d: %.300s",
			 about->is_stand_in ? "a stand-in: " : "", about->gpu,
			 GP_BYTES(about->total_bytes),
			 *about->driver ? about->driver : "of unknown version",
			 about->runtime / 1000, about->runtime % 1000 / 10,
			 about->library);
	} else {
		finding = trouble(&diag);
	}
	gp_cuda_close(cuda);
	add(s, "GPU", &finding,
	    "--device cuda of gpupool bench, replay and verify");
}

/* ---- the command ---- */

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;

	if (s->options->format == GP_FORMAT_JSON)
		gp_report_doctor_json(&s->doctor, out);
	else
		gp_report_doctor_text(&s->doctor, style, out);
}

/* "glibc 2.36"; other C libraries do not say. */
static const char *glibc_version(char *text, size_t size)
{
	const char *blank;

	*text = '\0';
	confstr(_CS_GNU_LIBC_VERSION, text, size);
	blank = strchr(text, ' ');
	return blank ? blank + 1 : "none";
}

static enum gp_status doctor_command(const struct gp_options *options,
				     struct gp_diag *diag)
{
	char glibc[40];
	const struct gp_doctor_library libraries[] = {
		{ "glibc", glibc_version(glibc, sizeof(glibc)) },
		{ "jansson", JANSSON_VERSION },
		{ "zlib", zlibVersion() },
		{ "zstd", ZSTD_versionString() },
	};
	struct session s = { .options = options };
	struct utsname about = { 0 };
	enum gp_status status;
	char system[160];

	uname(&about);
	snprintf(system, sizeof(system), "%.70s %.70s", about.sysname,
		 about.release);
	s.doctor = (struct gp_doctor){
		.version = GP_VERSION,
		.compiler = COMPILER,
		.architecture = about.machine,
		.system = system,
		.processors = (uint32_t)gp_options_threads(options),
		.libraries = libraries,
		.library_count = sizeof(libraries) / sizeof(*libraries),
		.checks = s.checks,
	};
	find_torch(&s);
	find_stand_ins(&s);
	find_engine(&s);
	find_compilers(&s);
	find_gpu(&s);
	status = gp_outlet_report(options, write_report, &s, diag);
	gp_arena_release(&s.arena);
	return status;
}

const struct gp_command gp_doctor_command = {
	.name = "doctor",
	.operands = "",
	.sentence = "Show what is installed on this machine, and what is "
		    "missing for which command.",
	.about = "For bug reports: versions, PyTorch, engines, compilers and "
		 "the GPU. Replays on a simulated device need none of them.",
	.options = "cudart format output ascii color",
	.run = doctor_command,
};
