/* SPDX-License-Identifier: MIT */
/* Writing a sweep's report: for sweep and merge. */
#include "commands/sweep_report.h"

#include "commands/outlet.h"
#include "commands/terminal.h"

enum gp_status gp_sweep_report(const struct gp_book *book,
			       const struct gp_options *options, bool is_part,
			       struct gp_diag *diag)
{
	struct gp_book_style style = {
		.by = (enum gp_rank_by)options->rank_by,
		.is_part = is_part,
		.style = gp_terminal_style(options),
	};
	bool is_text = !is_part && (options->format == GP_FORMAT_TEXT ||
				    options->format == GP_FORMAT_MARKDOWN);
	struct gp_output output;
	enum gp_status status;

	if (book->is_cut && options->rank_by) {
		gp_diag_file(diag, "merge");
		return gp_diag_set(diag, GP_USAGE,
				   "runs were cut short by what is reserved, "
				   "and cannot be ranked by anything else");
	}
	status = gp_outlet_open_report(&output, options->output, is_text, diag);
	if (status != GP_OK)
		return status;
	if (is_part || options->format == GP_FORMAT_JSON)
		gp_book_json(book, &style, output.stream);
	else if (options->format == GP_FORMAT_CSV)
		gp_book_csv(book, &style, output.stream);
	else if (options->format == GP_FORMAT_MARKDOWN)
		gp_book_markdown(book, &style, output.stream);
	else if (options->format == GP_FORMAT_HTML)
		gp_book_html(book, &style, output.stream);
	else
		gp_book_text(book, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}
