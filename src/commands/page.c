/* SPDX-License-Identifier: MIT */
/* gpupool page: what gpupool replay --format html writes, or a page that waits
 * for files. */
#include "commands/command.h"
#include "commands/live_parts.h"
#include "commands/output.h"

static void write_empty(void *arg, const struct gp_report_style *style,
			FILE *out)
{
	(void)style;
	gp_live_page_write(arg, out);
}

static enum gp_status wait_for_files(const struct gp_options *options,
				     struct gp_diag *diag)
{
	struct gp_live_parts parts;
	enum gp_status status =
		gp_live_parts_make(&parts, options, NULL, NULL, diag);

	if (status == GP_OK && !parts.page.wasm.bytes) {
		gp_diag_hint(diag, "make wasm builds it");
		status = gp_diag_set(diag, GP_SYSTEM,
				     "there is no gpupool.wasm, without which "
				     "a page replays nothing");
	}
	if (status == GP_OK)
		status = gp_outlet_report(options, write_empty, &parts.page,
					  diag);
	gp_live_parts_release(&parts);
	return status;
}

static enum gp_status page_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct gp_options page = *options;
	enum gp_status status;
	bool is_live;

	page.format = GP_FORMAT_HTML;
	if (!page.operand_count)
		return wait_for_files(&page, diag);
	/* Asked before the page is in its place: it may fail. */
	is_live = gp_live_parts_are_there();
	status = gp_replay_command.run(&page, diag);
	if (status == GP_OK && !is_live)
		gp_notice("gpupool: there is no gpupool.wasm (make wasm): the "
			  "page shows the run and replays nothing\n");
	return status;
}

const struct gp_command gp_live_page_command = {
	.name = "page",
	.operands = "[TRACE...]",
	.most = 100000,
	.sentence = "Write a page for a browser that replays by itself.",
	.about = "The page is one file that needs no server and sends nothing "
		 "anywhere: gpupool itself is in it, as WebAssembly, and the "
		 "traces. Settings, release and capacity are controls there; "
		 "those that are given here are what they begin with.\n"
		 "It is the page that gpupool replay writes. Without TRACE it "
		 "waits for files to be dropped on it. Without scripts, and "
		 "where make wasm has not been run, it shows the run, the "
		 "verdict and pictures, and replays nothing.",
	.options = "alloc-conf torch capacity compare output max-input quiet",
	.takes_settings = true,
	.run = page_command,
};
