/* SPDX-License-Identifier: MIT */
/* Makes traces from what a recorded program left, and checks them. */
#include "commands/recorded.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "gpupool/input.h"
#include "report/page.h"

struct part {
	unsigned long long began;
	long number;
};

struct gp_parts {
	struct part *items; /* in the order in which they began */
	size_t count, room;
};

/* A process that calls exec leaves several parts: the first has its pid, later
 * ones the pid plus multiples of this. */
#define GP_PART_NEXT (1L << 22)

/* ---- files that processes leave ---- */

static int compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->began != y->began)
		return x->began > y->began ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static void parts_find(struct gp_parts *parts, const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	struct part part;

	while (list && (entry = readdir(list))) {
		const char *dot = strchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".jsonl") != 0 ||
		    sscanf(entry->d_name, "%llu-%ld", &part.began,
			   &part.number) != 2)
			continue;
		GP_GROW(parts->items, parts->count + 1, parts->room);
		parts->items[parts->count++] = part;
	}
	if (list)
		closedir(list);
	if (parts->count)
		qsort(parts->items, parts->count, sizeof(part), compare);
}

static bool ends_as(const char *name, const char *ending)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ending);
}

/* Removes the files with which the processes of a job communicated. */
static void parts_clear(const char *folder)
{
	DIR *list = opendir(folder);
	char path[PATH_MAX];
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if ((ends_as(entry->d_name, ".rank") ||
		     ends_as(entry->d_name, ".ranks") ||
		     ends_as(entry->d_name, ".saved")) &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder,
				     entry->d_name) < sizeof(path))
			unlink(path);
	if (list)
		closedir(list);
}

static void parts_release(struct gp_parts *parts)
{
	free(parts->items);
	*parts = (struct gp_parts){ 0 };
}

static void path_of(const struct part *part, const char *folder,
		    const char *suffix, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.4000s/%llu-%ld.%s", folder, part->began,
		 part->number, suffix);
}

static bool has_allocations(const struct part *part, const char *folder)
{
	static const char alloc[] = "{\"op\":\"alloc\"";
	char path[PATH_MAX], *line = NULL;
	bool is_there = false;
	size_t room = 0;
	FILE *file;

	path_of(part, folder, "jsonl", path);
	file = fopen(path, "re");
	while (file && !is_there && getline(&line, &room, file) > 0)
		is_there = !strncmp(line, alloc, sizeof(alloc) - 1);
	free(line);
	if (file)
		fclose(file);
	return is_there;
}

static void drop(const struct part *part, const char *folder)
{
	char path[PATH_MAX];

	path_of(part, folder, "jsonl", path);
	unlink(path);
	path_of(part, folder, "calls", path);
	unlink(path);
}

/* Drops parts without allocations, unless all are: torch.compile starts
 * processes that only query the device. */
static void parts_drop_idle(struct gp_parts *parts, const char *folder)
{
	size_t busy = 0;

	/* Keep the parts with allocations, in their order. */
	for (size_t i = 0; i < parts->count; i++) {
		struct part part = parts->items[i];

		if (!has_allocations(&part, folder))
			continue;
		memmove(&parts->items[busy + 1], &parts->items[busy],
			(i - busy) * sizeof(part));
		parts->items[busy++] = part;
	}
	for (size_t i = busy; busy && i < parts->count; i++)
		drop(&parts->items[i], folder);
	if (busy)
		parts->count = busy;
}

/* The offset at which the last whole line ends. */
static off_t end_of_lines(int file, off_t size)
{
	char *bytes =
		size ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0)
		     : MAP_FAILED;
	off_t end = size;

	if (bytes == MAP_FAILED)
		return size;
	while (end && bytes[end - 1] != '\n')
		end--;
	munmap(bytes, (size_t)size);
	return end;
}

/* Replaces the file by a shorter copy. Its writer may have mapped the file, and
 * would crash if it were truncated. */
static void replace(const char *path, int file, off_t end)
{
	char name[PATH_MAX];
	off_t at = 0;
	int copy;

	if ((size_t)snprintf(name, sizeof(name), "%s.copy", path) >=
	    sizeof(name))
		return;
	copy = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (copy < 0)
		return;
	while (at < end && sendfile(copy, file, &at, (size_t)(end - at)) > 0)
		continue;
	if (close(copy) || at < end || rename(name, path))
		unlink(name);
}

/* Cuts off an incomplete last line and zeros, which a writer leaves if it was
 * killed or still runs. True: it still runs, and what it writes from now on is
 * lost. */
static bool part_finish(const struct part *part, const char *path)
{
	bool is_running = !kill((pid_t)(part->number % GP_PART_NEXT), 0);
	int file = open(path, O_RDWR | O_CLOEXEC);
	struct stat about;
	off_t end;

	if (file < 0)
		return false;
	if (!fstat(file, &about)) {
		end = end_of_lines(file, about.st_size);
		if (is_running)
			replace(path, file, end);
		else if (end < about.st_size && ftruncate(file, end))
			end = 0; /* the reader will report what is wrong */
	}
	close(file);
	return is_running;
}

/* ---- calls that nothing could answer ---- */

struct names {
	char text[600];
	size_t used;
	unsigned left_out;
};

static void add_name(struct names *names, const char *name, uint64_t calls)
{
	size_t room = sizeof(names->text) - names->used;
	int n = snprintf(names->text + names->used, room, "%s%s (%" PRIu64 ")",
			 names->used ? ", " : "", name, calls);

	if (n > 0 && (size_t)n < room) {
		names->used += (size_t)n;
	} else {
		names->text[names->used] = 0;
		names->left_out++;
	}
}

static void print_names(const struct names *names, const char *what)
{
	if (!names->used)
		return;
	gp_notice("gpupool: %s: %s", what, names->text);
	if (names->left_out)
		fprintf(stderr, " and %u more", names->left_out);
	fprintf(stderr, "\n");
}

/* cudnnGetVersion: 92600 is 9.26.0, 8902 is 8.9.2. */
static void print_version(unsigned version)
{
	unsigned major = version >= 90000 ? 10000 : 1000;

	fprintf(stderr, "gpupool: cuDNN %u.%u.%u", version / major,
		version % major / 100, version % 100);
}

/* Prints "91002", the version of a cuDNN that plans, or "90100" with the reason
 * why it does not. */
static void print_plans(uint64_t plans, const char *of)
{
	unsigned version = 0;
	int n = 0;

	sscanf(of, "%u %n", &version, &n);
	if (!of[n] && !plans)
		return;
	if (version)
		print_version(version);
	else
		fprintf(stderr, "gpupool: cuDNN");
	if (plans)
		fprintf(stderr, " gave the workspaces of %" PRIu64 " plans",
			plans);
	if (of[n])
		gp_notice("%s gives no plans: %s", plans ? ", and now" : "",
			  of + n);
	fprintf(stderr, "\n");
}

/* Plans that do not come from the library have no workspace: says what would
 * provide them. */
static void hint(const struct names *sizes)
{
	if (strstr(sizes->text, "cudnnBackendGetAttribute"))
		fprintf(stderr, "gpupool: cudnnBackendGetAttribute returns "
				"workspaces of convolutions and attention; "
				"cuDNN 9.8 or later, installed with PyTorch or "
				"named by --cudnn, can be asked for them\n");
}

/* Prints to standard error what the recorder counted; nothing if there is no
 * such file. */
static void print_calls(const char *path, const char *context)
{
	struct names sizes = { .text = "" }, measured = { .used = 0 },
		     answers = { .used = 0 }, refused = { .used = 0 },
		     deserted = { .used = 0 };
	char name[320], kind[16];
	uint64_t calls;
	FILE *file = fopen(path, "r");

	if (!file)
		return;
	while (fscanf(file, "%" SCNu64 " %15s %319[^\n]", &calls, kind, name) ==
	       3)
		if (!strcmp(kind, "plans"))
			print_plans(calls, name);
		else if (!strcmp(kind, "device"))
			gp_notice("gpupool: the program asked for device %s, "
				  "which does not exist: it needs --devices "
				  "%lu at least\n",
				  name, strtoul(name, NULL, 10) + 1);
		else if (!strcmp(kind, "context"))
			gp_notice("gpupool: the program asked for free memory: "
				  "%s\n",
				  context);
		else
			add_name(!strcmp(kind, "size")	     ? &sizes
				 : !strcmp(kind, "measured") ? &measured
				 : !strcmp(kind, "answer")   ? &answers
				 : !strcmp(kind, "deserted") ? &deserted
							     : &refused,
				 name, calls);
	fclose(file);
	print_names(
		&sizes,
		"answered with 0, as only the real libraries know these sizes");
	hint(&sizes);
	print_names(&measured, "answered with sizes measured on a Hopper GPU");
	print_names(&answers, "not known here, answered with success");
	print_names(&deserted,
		    "other ranks ended or made no progress; from then on, this "
		    "rank received what it sent itself");
	print_names(&refused, "not known here, refused as not supported");
}

/* trace.json -> trace.2.json */
void gp_recorded_name(const char *output, size_t index, size_t count,
		      char *name, size_t size)
{
	const char *base = strrchr(output, '/');
	const char *dot = strchr(base ? base + 1 : output, '.');

	if (count == 1 || !dot)
		snprintf(name, size, "%s", output);
	else
		snprintf(name, size, "%.*s.%zu%s", (int)(dot - output), output,
			 index + 1, dot);
}

/* ---- messages ---- */

static void print_proof(const char *path, const struct gp_plan *plan,
			bool quiet)
{
	char text[GP_PROOF_TEXT];
	const struct gp_proof proof = gp_proof_of(plan);

	if (quiet && gp_proof_is_exact(&proof))
		return;
	gp_notice("gpupool: %s: %s; replayed: %s\n", path,
		  GP_PLURAL(proof.allocs, "allocation"),
		  gp_proof_text(&proof, text));
}

/* A note below the replay's verdict: on a GPU the program may have taken
 * another path. */
static void print_path(const struct gp_trace *trace, bool quiet)
{
	if (!trace->values)
		gp_notice("gpupool: path: not known: this program's Python "
			  "code could not be tracked\n");
	else if (!quiet || gp_trace_doubts_path(trace))
		gp_notice("gpupool: path: %s\n", trace->values);
}

static void add_peaks(struct gp_recorded_result *result,
		      const struct gp_plan *plan)
{
	for (size_t i = 0; i < plan->trace->device_count; i++) {
		const struct gp_replay_result *of = &plan->results[i];

		result->peak_allocated = gp_larger(
			result->peak_allocated, gp_replay_peak_allocated(of));
		result->peak_reserved =
			gp_larger(result->peak_reserved, of->at_peak.reserved);
	}
}

/* The path may be in doubt for other reasons, which follow these words. */
static bool has_guessed(const struct gp_trace *trace)
{
	return trace->values && strncmp(trace->values, GP_VALUES_KNOWN,
					strlen(GP_VALUES_KNOWN)) != 0;
}

/* What was written to a pipe or a terminal cannot be read again. */
static bool is_file(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISREG(about.st_mode);
}

/* Checks a recording by a replay of the trace at that path, or, if it is not a
 * file, of the part it was made from. */
static enum gp_status check(const char *path, const char *part,
			    struct gp_recorded_options how,
			    struct gp_recorded_result *result,
			    struct gp_diag *diag)
{
	struct gp_input_config config = { .path = is_file(path) ? path : part };
	struct gp_trace *trace;
	struct gp_plan plan = { 0 };
	enum gp_status status = gp_input_read(&config, &trace, diag);

	if (status != GP_OK)
		return status;
	status = gp_plan_recorded(&plan, trace, diag);
	if (status == GP_OK)
		status = gp_plan_play(&plan, NULL, NULL, diag);
	if (status == GP_OK) {
		print_proof(path, &plan, how.quiet);
		print_path(trace, how.quiet);
		add_peaks(result, &plan);
		result->is_doubted |=
			!trace->values || gp_trace_doubts_path(trace);
		result->has_guessed |= has_guessed(trace);
	}
	gp_plan_release(&plan);
	gp_trace_destroy(trace);
	return status;
}

/* ---- the whole recording ---- */

static enum gp_status convert(const char *part, const char *output,
			      struct gp_diag *diag)
{
	const char *operands[] = { part, output };
	const struct gp_options options = {
		.operands = operands,
		.operand_count = 2,
		.quiet = true,
	};

	return gp_convert_command.run(&options, diag);
}

static enum gp_status take(const struct part *of, const char *folder,
			   const char *output, struct gp_recorded_options how,
			   struct gp_recorded_result *result,
			   struct gp_diag *diag)
{
	char part[PATH_MAX], calls[PATH_MAX];
	enum gp_status status;

	snprintf(part, sizeof(part), "%s/%llu-%ld.jsonl", folder, of->began,
		 of->number);
	snprintf(calls, sizeof(calls), "%s/%llu-%ld.calls", folder, of->began,
		 of->number);
	if (part_finish(of, part))
		gp_notice("gpupool: %s: process %ld still runs; what it does "
			  "from now on is not recorded\n",
			  output, of->number % GP_PART_NEXT);
	status = convert(part, output, diag);
	if (status != GP_OK) {
		gp_diag_hint(diag, "what the program did is in %s", part);
		return status;
	}
	status = check(output, part, how, result, diag);
	unlink(part);
	if (status == GP_OK && !how.quiet)
		print_calls(calls, how.context);
	unlink(calls);
	return status;
}

/* Says why nothing was recorded, if the program chose an allocator that cannot
 * be recorded. */
static void print_why_not(const char *folder)
{
	char path[PATH_MAX], why[64] = "";
	bool is_empty;
	FILE *file;

	snprintf(path, sizeof(path), "%s/why.not", folder);
	file = fopen(path, "r");
	if (file && !fgets(why, sizeof(why), file))
		why[0] = '\0';
	is_empty = file && !*why;
	if (file)
		fclose(file);
	unlink(path);
	if (is_empty)
		gp_notice("gpupool: no trace: it could not be written\n");
	else if (*why)
		gp_notice("gpupool: no trace: the program uses %s, which "
			  "cannot be recorded: remove that, and record again\n",
			  why);
	else
		gp_notice("gpupool: no trace: the program used no CUDA "
			  "device through PyTorch\n");
}

enum gp_status gp_recorded_take(const char *folder, const char *output,
				struct gp_recorded_options how,
				struct gp_recorded_result *result,
				struct gp_diag *diag)
{
	struct gp_parts parts = { 0 };
	enum gp_status status = GP_OK;

	parts_find(&parts, folder);
	parts_drop_idle(&parts, folder);
	for (size_t i = 0; i < parts.count && status == GP_OK; i++) {
		char name[PATH_MAX];

		gp_recorded_name(output, i, parts.count, name, sizeof(name));
		status = take(&parts.items[i], folder, name, how, result, diag);
	}
	result->count = parts.count;
	if (!parts.count)
		print_why_not(folder);
	parts_clear(folder);
	rmdir(folder);
	parts_release(&parts);
	if (status != GP_OK || !how.strict || !result->is_doubted)
		return status;
	gp_diag_file(diag, output);
	return gp_diag_set(diag, GP_FAILED,
			   "the program may take another path on a GPU");
}
