/* SPDX-License-Identifier: MIT */
/* gpupool merge: the parts of a sweep that was split, as one. */
#include "commands/command.h"
#include "commands/sweep_report.h"
#include "report/book.h"

static enum gp_status add_part(struct gp_book *book, const char *path,
			       struct gp_diag *diag)
{
	struct gp_book part;
	enum gp_status status = gp_book_read(&part, path, diag);

	if (status != GP_OK)
		return status;
	status = gp_book_join(book, &part, diag);
	if (status != GP_OK)
		gp_diag_file(diag, path);
	gp_book_release(&part);
	return status;
}

static enum gp_status merge_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	struct gp_book book = { 0 };
	enum gp_status status = gp_book_read(&book, options->operands[0], diag);
	size_t asked, done;

	for (size_t i = 1; i < options->operand_count && status == GP_OK; i++)
		status = add_part(&book, options->operands[i], diag);
	asked = gp_book_asked(&book);
	done = gp_book_done(&book);
	if (status == GP_OK && done < asked) {
		gp_diag_file(diag, "merge");
		gp_diag_hint(diag, "a part is missing, or was not finished: "
				   "run that shard again with --resume");
		status = gp_diag_set(diag, GP_INPUT,
				     "%zu of %zu runs are in none of the parts",
				     asked - done, asked);
	}
	if (status == GP_OK)
		status = gp_sweep_report(&book, options, false, diag);
	gp_book_release(&book);
	return status;
}

static const struct gp_option merge_options[] = {
	GP_COMMON("rank-by"),
	GP_SWEEP_FORMAT_OPTION,
	GP_COMMON("output"),
	GP_COMMON("ascii"),
	GP_COMMON("color"),
	GP_COMMON("quiet"),
	{ 0 },
};

const struct gp_command gp_merge_command = {
	.name = "merge",
	.operands = "PART...",
	.least = 1,
	.most = 100000,
	.sentence = "Put the parts of a split sweep together.",
	.about = "The report is, to the byte, that of a sweep that was not "
		 "split.",
	.options = merge_options,
	.run = merge_command,
};
