/* SPDX-License-Identifier: MIT */
/* Writing a sweep's report: for sweep and merge. */
#include "commands/sweep_report.h"

#include "commands/outlet.h"

struct told {
	const struct gp_book *book;
	const struct gp_options *options;
	bool is_part;
};

static void write_book(void *arg, const struct gp_report_style *terminal,
		       FILE *out)
{
	const struct told *told = arg;
	const struct gp_book *book = told->book;
	struct gp_book_style style = {
		.by = (enum gp_rank_by)told->options->rank_by,
		.is_part = told->is_part,
		.style = *terminal,
	};

	switch (told->options->format) {
	case GP_FORMAT_JSON: gp_book_json(book, &style, out); break;
	case GP_FORMAT_CSV: gp_book_csv(book, &style, out); break;
	case GP_FORMAT_MARKDOWN: gp_book_markdown(book, &style, out); break;
	case GP_FORMAT_HTML: gp_book_html(book, &style, out); break;
	default: gp_book_text(book, &style, out);
	}
}

enum gp_status gp_sweep_report(const struct gp_book *book,
			       const struct gp_options *options, bool is_part,
			       struct gp_diag *diag)
{
	struct gp_options asked = *options;
	struct told told = { book, &asked, is_part };

	if (is_part)
		asked.format = GP_FORMAT_JSON;
	if (book->is_cut && options->rank_by) {
		gp_diag_file(diag, "merge");
		return gp_diag_set(diag, GP_USAGE,
				   "runs were cut short by what is reserved, "
				   "and cannot be ranked by anything else");
	}
	return gp_outlet_report(&asked, write_book, &told, diag);
}
