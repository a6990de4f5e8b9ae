/* SPDX-License-Identifier: MIT */
/*
 * Any bytes are a report of a sweep, or a part of one, or an error; what is
 * read can be joined with itself and written in every form, and what is written
 * as a part reads back and is written the same.
 */
#include <string.h>

#include "fuzz/target.h"
#include "report/book.h"

static enum gp_status read_bytes(const void *data, size_t size,
				 struct gp_book *book, struct gp_diag *diag)
{
	struct bytes bytes = bytes_of(data, size);
	enum gp_status status = gp_book_read(book, bytes.path, diag);

	close(bytes.fd);
	must(status == GP_OK || status == GP_INPUT, "neither read nor refused");
	must(status == GP_OK || *diag->what, "an error says nothing");
	return status;
}

static char *write_part(const struct gp_book *book, size_t *size)
{
	const struct gp_book_style style = { .is_part = true };
	char *text;
	FILE *out = open_memstream(&text, size);

	gp_book_json(book, &style, out);
	must(!fclose(out), "a part cannot be written");
	return text;
}

static void write_all(const struct gp_book *book)
{
	const struct gp_book_style style = { .style.columns = 80 };
	FILE *out = fopen("/dev/null", "w");

	gp_book_json(book, &style, out);
	gp_book_text(book, &style, out);
	gp_book_csv(book, &style, out);
	gp_book_markdown(book, &style, out);
	fclose(out);
}

/* There and back. */
static void write_and_read(const struct gp_book *book)
{
	struct gp_book again;
	struct gp_diag diag = { 0 };
	size_t size, size_again;
	char *text = write_part(book, &size), *text_again;

	must(read_bytes(text, size, &again, &diag) == GP_OK,
	     "what was written cannot be read");
	text_again = write_part(&again, &size_again);
	must(size == size_again && !memcmp(text, text_again, size),
	     "what is read is written otherwise");
	free(text);
	free(text_again);
	gp_book_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_book book, same;
	struct gp_diag diag = { 0 };

	if (read_bytes(data, size, &book, &diag) != GP_OK)
		return 0;
	must(gp_book_done(&book) <= gp_book_asked(&book),
	     "more is done than was asked for");
	write_all(&book);
	write_and_read(&book);
	must(read_bytes(data, size, &same, &diag) == GP_OK,
	     "it cannot be read twice");
	must(gp_book_join(&book, &same, &diag) == GP_OK,
	     "it is not the same as itself");
	gp_book_release(&same);
	gp_book_release(&book);
	return 0;
}
