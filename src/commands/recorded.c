/* SPDX-License-Identifier: MIT */
/* What a recorded program left, made into traces and checked. */
#include "commands/recorded.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "commands/command.h"
#include "commands/parts.h"
#include "commands/plan.h"
#include "commands/proof.h"
#include "commands/recorded_calls.h"
#include "commands/tell.h"
#include "gpupool/input.h"

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
	gp_tell("gpupool: %s: %s allocations; replayed: %s\n", path,
		gp_count_text(proof.allocs, allocs),
		gp_proof_text(&proof, text));
}

/* Under the replay's verdict, which says nothing of it: the trace is what the
 * program did here, and on a GPU it may have done something else. */
static void tell_path(const struct gp_trace *trace, bool quiet)
{
	if (!trace->values)
		gp_tell("gpupool: path: not known: this program's "
			"Python was not there to follow it\n");
	else if (!quiet || gp_trace_doubts_path(trace))
		gp_tell("gpupool: path: %s\n", trace->values);
}

static enum gp_status check(const char *path, struct gp_recorded_options how,
			    bool *is_doubted, struct gp_diag *diag)
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
	if (status == GP_OK) {
		tell(path, &plan, how.quiet);
		tell_path(trace, how.quiet);
		*is_doubted |= !trace->values || gp_trace_doubts_path(trace);
	}
	gp_plan_release(&plan);
	gp_trace_destroy(trace);
	return status;
}

/* ---- all of it ---- */

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

static enum gp_status take(const struct gp_part *of, const char *folder,
			   const char *output, struct gp_recorded_options how,
			   bool *is_doubted, struct gp_diag *diag)
{
	char part[PATH_MAX], calls[PATH_MAX];
	enum gp_status status;

	snprintf(part, sizeof(part), "%s/%llu-%ld.jsonl", folder, of->began,
		 of->number);
	snprintf(calls, sizeof(calls), "%s/%llu-%ld.calls", folder, of->began,
		 of->number);
	if (gp_part_finish(of, part))
		gp_tell("gpupool: %s: process %ld still runs; what it does "
			"from now on is not kept\n",
			output, of->number % GP_PART_NEXT);
	status = convert(part, output, diag);
	if (status != GP_OK) {
		gp_diag_hint(diag, "what the program did is kept in %s", part);
		return status;
	}
	unlink(part);
	status = check(output, how, is_doubted, diag);
	if (status == GP_OK && !how.quiet)
		gp_recorded_calls_tell(calls);
	unlink(calls);
	return status;
}

/* The program may have chosen what cannot be recorded. */
static void tell_why_not(const char *folder)
{
	char path[PATH_MAX], why[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/why.not", folder);
	file = fopen(path, "r");
	if (file && !fgets(why, sizeof(why), file))
		why[0] = '\0';
	if (file)
		fclose(file);
	unlink(path);
	if (*why)
		gp_tell("gpupool: no trace: the program chose %s, which cannot "
			"be recorded; leave it out, and it can\n",
			why);
	else
		gp_tell("gpupool: no trace: the program used no CUDA "
			"device through PyTorch\n");
}

enum gp_status gp_recorded_take(const char *folder, const char *output,
				struct gp_recorded_options how,
				struct gp_diag *diag)
{
	struct gp_parts parts = { 0 };
	bool is_doubted = false;
	enum gp_status status = GP_OK;

	gp_parts_find(&parts, folder);
	gp_parts_drop_idle(&parts, folder);
	for (size_t i = 0; i < parts.count && status == GP_OK; i++) {
		char name[PATH_MAX];

		name_of(output, i, parts.count, name, sizeof(name));
		status = take(&parts.items[i], folder, name, how, &is_doubted,
			      diag);
	}
	if (!parts.count)
		tell_why_not(folder);
	gp_parts_clear(folder);
	rmdir(folder);
	gp_parts_release(&parts);
	if (status != GP_OK || !how.strict || !is_doubted)
		return status;
	gp_diag_file(diag, output);
	return gp_diag_set(diag, GP_FAILED,
			   "the program may take another path on a GPU");
}
