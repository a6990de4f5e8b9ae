/* SPDX-License-Identifier: MIT */
/* gpupool check-engine: tests the promises of an engine. */
#include <stdio.h>

#include "commands/command.h"
#include "commands/engine_named.h"
#include "commands/output.h"
#include "commands/progress.h"
#include "report/page.h"
#include "study/contract.h"

struct session {
	const struct gp_engine *engine;
	struct gp_promise promises[GP_PROMISES];
	size_t kept;
};

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;
	struct gp_page page = gp_page_make(style, out);

	gp_page_line(&page, GP_TONE_TITLE, 2, "%s: %s", s->engine->name,
		     s->engine->sentence);
	gp_page_blank(&page);
	for (size_t i = 0; i < GP_PROMISES; i++) {
		const struct gp_promise *p = &s->promises[i];

		gp_page_line(&page, p->is_kept ? GP_TONE_GOOD : GP_TONE_BAD, 6,
			     "%s %s: %s", p->is_kept ? "ok   " : "WRONG",
			     p->sentence, p->note);
	}
	gp_page_blank(&page);
	gp_page_line(&page, GP_TONE_PLAIN, 2, "%zu of %d promises kept",
		     s->kept, GP_PROMISES);
}

static void step(void *arg, const char *sentence)
{
	gp_progress_step(arg, sentence);
}

static enum gp_status try(struct session *s, const struct gp_options *options,
			  struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options);
	const struct gp_contract_config config = {
		.engine = s->engine,
		.step = step,
		.arg = &progress,
	};
	enum gp_status status;

	gp_contract_try(&config, s->promises);
	gp_progress_end(&progress);
	for (size_t i = 0; i < GP_PROMISES; i++)
		s->kept += s->promises[i].is_kept;
	status = gp_outlet_report(options, write_report, s, diag);
	if (status != GP_OK || s->kept == GP_PROMISES)
		return status;
	gp_diag_file(diag, s->engine->name);
	return gp_diag_set(diag, GP_FAILED, "%zu of %d promises are not kept",
			   GP_PROMISES - s->kept, GP_PROMISES);
}

static enum gp_status check_engine_command(const struct gp_options *options,
					   struct gp_diag *diag)
{
	struct gp_engine *opened = NULL;
	struct session s = { 0 };
	enum gp_status status =
		gp_engine_named(options->operands[0], &opened, &s.engine, diag);

	if (status == GP_OK)
		status = try(&s, options, diag);
	gp_engine_close(opened);
	return status;
}

const struct gp_command gp_check_engine_command = {
	.name = "check-engine",
	.operands = "ENGINE",
	.least = 1,
	.most = 1,
	.sentence =
		"Check that an engine of your own behaves as an engine must.",
	.about = "ENGINE is a library, ./mine.so, or a built-in engine. It "
		 "serves generated programs, the same ones each time, with and "
		 "without enough memory. Exit 1: a promise is not kept.",
	.options = "output ascii color quiet",
	.run = check_engine_command,
};
