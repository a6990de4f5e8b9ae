/* SPDX-License-Identifier: MIT */
/* A page's beginning, and tables: cells that tell scripts and tests their
 * value. */
#include "report/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "report/svg_parts.h"

/* In the policy: a script or a style whose element holds a newline and this
 * text. */
static void allow(const char *text, FILE *out)
{
	size_t length = strlen(text) + 1;
	char *content = gp_mem_alloc(length + 1, 1), hash[GP_SHA256_TEXT];

	snprintf(content, length + 1, "\n%s", text);
	fprintf(out, " 'sha256-%s'", gp_sha256_base64(content, length, hash));
	free(content);
}

/* Only this program's own scripts and style, whatever a trace brings in; the
 * worker is made of a text in the page, and nothing is fetched. */
static void put_policy(FILE *out)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src",
	      out);
	allow(gp_page_css, out);
	fputs("; script-src 'wasm-unsafe-eval'", out);
	allow(gp_app_bundle_js, out);
	allow(gp_tables_js, out);
	fputs("; worker-src blob:; base-uri 'none'; form-action 'none'\">",
	      out);
}

void gp_html_begin(FILE *out, const char *title)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\"><meta name=\"viewport\" "
	      "content=\"width=device-width,initial-scale=1\">",
	      out);
	put_policy(out);
	fputs("<title>", out);
	gp_svg_text(title, out);
	fprintf(out,
		"%s</title><style>\n%s</style></head>\n<body><main>"
		"<header><h1 id=\"title\">",
		strcmp(title, "gpupool") != 0 ? " - gpupool" : "", gp_page_css);
	gp_svg_text(title, out);
	fputs("</h1>\n", out);
}

void gp_html_end(FILE *out)
{
	fprintf(out, "<script>\n%s</script>\n</body></html>\n", gp_tables_js);
}

void gp_html_table(FILE *out, const char *id, const char *columns)
{
	bool is_number, is_new = true;

	fprintf(out,
		"<div class=scroll><table class=sortable "
		"data-table=\"%s\"><thead><tr>",
		id);
	for (; *columns; columns++) {
		is_number = *columns == '#';
		if (is_new)
			fprintf(out, "<th scope=col%s>",
				is_number ? " class=n" : "");
		is_new = *columns == '|';
		if (is_new)
			fputs("</th>", out);
		else if (!is_number)
			putc(*columns, out);
	}
	fputs("</th></tr></thead><tbody>\n", out);
}

void gp_html_table_end(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}

void gp_html_name(FILE *out, const char *text)
{
	fputs("<tr><th scope=row>", out);
	gp_svg_text(text, out);
	fputs("</th>", out);
}

void gp_html_text(FILE *out, const char *text)
{
	fputs("<td>", out);
	gp_svg_text(text, out);
	fputs("</td>", out);
}

static void number(FILE *out, const char *key, uint64_t value, const char *text)
{
	fprintf(out, "<td data-key=\"%s\" data-value=\"%" PRIu64 "\">%s</td>",
		key, value, text);
}

void gp_html_bytes(FILE *out, const char *key, uint64_t bytes)
{
	char text[GP_BYTES_TEXT];

	number(out, key, bytes, gp_bytes_text(bytes, text));
}

void gp_html_count(FILE *out, const char *key, uint64_t count)
{
	char text[GP_COUNT_TEXT];

	number(out, key, count, gp_count_text(count, text));
}

void gp_html_row_end(FILE *out)
{
	fputs("</tr>\n", out);
}
