/* What a recorded program left, made into traces and checked. */
#include "cli/recorded.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/plan.h"
#include "cli/recorded_calls.h"
#include "cli/proof.h"
#include "gpupool/input.h"

/* Files of a kind in the folder, by the number of their process. */
struct parts {
	long *processes;
	size_t count, room;
};

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static void find_parts(const char *folder, struct parts *parts)
{
	DIR *list = opendir(folder);
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		const char *dot = strchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".jsonl") != 0)
			continue;
		parts->processes = gp_mem_grow(parts->processes, &parts->room,
					       parts->count + 1, sizeof(long));
		parts->processes[parts->count++] =
			strtol(entry->d_name, NULL, 10);
	}
	if (list)
		closedir(list);
	if (parts->count)
		qsort(parts->processes, parts->count, sizeof(long), compare);
}

/* Where the last line ends: a writer that was killed leaves half of one, and
 * zeros. */
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

static void cut_off(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	struct stat about;

	if (file < 0)
		return;
	if (!fstat(file, &about)) {
		off_t end = end_of_lines(file, about.st_size);

		if (end < about.st_size && ftruncate(file, end))
			end = 0; /* the reader will say what is wrong */
	}
	close(file);
}

/* trace.json -> trace.2.json */
static void name_of(const char *output, size_t index, size_t count, char *name,
		    size_t size)
{
	const char *base = strrchr(output, '/');
	const char *dot = strchr(base ? base + 1 : output, '.');

	if (count == 1 || !dot)
		snprintf(name, size, "%s", output);
	else
		snprintf(name, size, "%.*s.%zu%s", (int)(dot - output), output,
			 index + 1, dot);
}

/* ---- telling ---- */

static void tell(const char *path, const struct gp_plan *plan, bool quiet)
{
	char allocs[GP_COUNT_TEXT], text[GP_PROOF_TEXT];
	const struct gp_proof proof = gp_proof_of(plan);

	if (quiet && gp_proof_is_exact(&proof))
		return;
	fprintf(stderr, "gpupool: %s: %s allocations; replayed: %s\n", path,
		gp_count_text(proof.allocs, allocs),
		gp_proof_text(&proof, text));
}

static enum gp_status check(const char *path, bool quiet, struct gp_diag *diag)
{
	struct gp_input_config config = { .path = path };
	struct gp_trace *trace;
	struct gp_plan plan = { 0 };
	enum gp_status status = gp_input_read(&config, &trace, diag);

	if (status != GP_OK)
		return status;
	status = gp_plan_recorded(&plan, trace, diag);
	if (status == GP_OK)
		status = gp_plan_play(&plan, NULL, NULL, diag);
	if (status == GP_OK)
		tell(path, &plan, quiet);
	gp_plan_release(&plan);
	gp_trace_destroy(trace);
	return status;
}

/* ---- all of it ---- */

static enum gp_status take(const char *part, const char *calls,
			   const char *output, bool quiet, struct gp_diag *diag)
{
	const char *operands[] = { part, output };
	const struct gp_options options = {
		.operands = operands,
		.operand_count = 2,
		.quiet = true,
		.to = GP_TO_BY_NAME,
	};
	enum gp_status status;

	cut_off(part);
	status = gp_convert_command(&options, diag);
	if (status == GP_OK)
		status = check(output, quiet, diag);
	if (status == GP_OK && !quiet)
		gp_recorded_calls_tell(calls);
	unlink(part);
	unlink(calls);
	return status;
}

enum gp_status gp_recorded_take(const char *folder, const char *output,
				bool quiet, struct gp_diag *diag)
{
	struct parts parts = { 0 };
	enum gp_status status = GP_OK;

	find_parts(folder, &parts);
	for (size_t i = 0; i < parts.count && status == GP_OK; i++) {
		char part[PATH_MAX], calls[PATH_MAX], name[PATH_MAX];

		snprintf(part, sizeof(part), "%s/%ld.jsonl", folder,
			 parts.processes[i]);
		snprintf(calls, sizeof(calls), "%s/%ld.calls", folder,
			 parts.processes[i]);
		name_of(output, i, parts.count, name, sizeof(name));
		status = take(part, calls, name, quiet, diag);
	}
	if (!parts.count)
		fprintf(stderr, "gpupool: no trace: the program used no CUDA "
				"device through PyTorch\n");
	rmdir(folder);
	free(parts.processes);
	return status;
}
