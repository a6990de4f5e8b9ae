/* SPDX-License-Identifier: MIT */
/*
 * Any bytes are a report of a sweep, or a part of one, or an error. What is
 * read can be joined with itself and written in every format, and what is
 * written as a part is read back and written the same again.
 */
#include <string.h>

#include "fuzz/target.h"
#include "report/sweep_report.h"

static enum gp_status read_bytes(const void *data, size_t size,
				 struct gp_sweep_report *sweep,
				 struct gp_diag *diag)
{
	struct bytes bytes = bytes_of(data, size);
	enum gp_status status = gp_sweep_report_read(sweep, bytes.path, diag);

	close(bytes.fd);
	must(status == GP_OK || status == GP_INPUT, "neither read nor refused");
	must(status == GP_OK || *diag->what, "an error says nothing");
	return status;
}

static char *write_part(const struct gp_sweep_report *sweep, size_t *size)
{
	const struct gp_sweep_report_style style = { .is_part = true };
	char *text;
	FILE *out = open_memstream(&text, size);

	gp_sweep_report_json(sweep, &style, out);
	must(!fclose(out), "a part cannot be written");
	return text;
}

static void write_all(const struct gp_sweep_report *sweep)
{
	const struct gp_sweep_report_style style = { .style.columns = 80 };
	FILE *out = fopen("/dev/null", "w");

	gp_sweep_report_json(sweep, &style, out);
	gp_sweep_report_text(sweep, &style, out);
	gp_sweep_report_csv(sweep, &style, out);
	gp_sweep_report_markdown(sweep, &style, out);
	fclose(out);
}

/* Written and read back. */
static void write_and_read(const struct gp_sweep_report *sweep)
{
	struct gp_sweep_report again;
	struct gp_diag diag = { 0 };
	size_t size, size_again;
	char *text = write_part(sweep, &size), *text_again;

	must(read_bytes(text, size, &again, &diag) == GP_OK,
	     "what was written cannot be read");
	text_again = write_part(&again, &size_again);
	must(size == size_again && !memcmp(text, text_again, size),
	     "what is read is written otherwise");
	free(text);
	free(text_again);
	gp_sweep_report_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_sweep_report sweep, same;
	struct gp_diag diag = { 0 };

	if (read_bytes(data, size, &sweep, &diag) != GP_OK)
		return 0;
	must(gp_sweep_report_done(&sweep) <= gp_sweep_report_asked(&sweep),
	     "more is done than was asked for");
	write_all(&sweep);
	write_and_read(&sweep);
	must(read_bytes(data, size, &same, &diag) == GP_OK,
	     "it cannot be read twice");
	must(gp_sweep_report_join(&sweep, &same, GP_SWEEP_MERGE, &diag) ==
		     GP_OK,
	     "it is not the same as itself");
	gp_sweep_report_release(&same);
	gp_sweep_report_release(&sweep);
	return 0;
}
