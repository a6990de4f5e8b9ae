/* SPDX-License-Identifier: MIT */
/* The page that replays, as one file. */
#include "report/live_page.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/text_sink.h"
#include "report/emit.h"
#include "report/html.h"
#include "report/svg_parts.h"

/* What the build makes of src/report/page: see the Makefile. */
extern const char gp_app_css[];
extern const char gp_views_css[];
extern const char gp_app_html[];
extern const char gp_app_bundle_js[];
extern const char gp_worker_bundle_js[];

/* Only this program's own scripts and styles; the worker is made of a text in
 * the page, and nothing is fetched from anywhere. */
static void put_policy(FILE *out)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src",
	      out);
	gp_html_allow(gp_page_css, out);
	gp_html_allow(gp_views_css, out);
	gp_html_allow(gp_app_css, out);
	fputs("; script-src 'wasm-unsafe-eval'", out);
	gp_html_allow(gp_app_bundle_js, out);
	gp_html_allow(gp_tables_js, out);
	fputs("; worker-src blob:; base-uri 'none'; form-action 'none'\">",
	      out);
}

static void put_head(const struct gp_live_page *page, FILE *out)
{
	gp_html_open(out);
	put_policy(out);
	fputs("<title>", out);
	gp_svg_text(page->title, out);
	fprintf(out,
		"</title><style>\n%s</style><style>\n%s</style><style>\n%s"
		"</style></head>\n<body>",
		gp_page_css, gp_views_css, gp_app_css);
}

static void put_start(const struct gp_live_page *page, FILE *out)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink) };

	gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_text(&json, "conf", page->conf);
	gp_emit_text(&json, "torch", page->torch);
	gp_emit_text(&json, "capacity", page->capacity);
	gp_emit_close(&json, '}');
	gp_text_sink_close(&sink, json.out);
	fputs("<script type=\"application/json\" id=\"start\">", out);
	gp_html_json(sink.text, sink.size, out);
	fputs("</script>\n", out);
	free(sink.text);
}

static void put_part(const char *id, const struct gp_live_part *part, FILE *out)
{
	fprintf(out, "<script type=\"text/plain\" %s", id);
	if (part->name) {
		fputs(" data-trace=\"", out);
		gp_svg_text(part->name, out);
		putc('"', out);
	}
	putc('>', out);
	gp_base64_put(part->bytes, part->size, out);
	fputs("</script>\n", out);
}

void gp_live_page_write(const struct gp_live_page *page, FILE *out)
{
	put_head(page, out);
	fprintf(out, "<main>%s", gp_app_html);
	if (page->still)
		fprintf(out, "<div id=\"static\">%s</div>", page->still);
	fputs("</main>\n", out);
	if (page->conf)
		put_start(page, out);
	put_part("id=\"gpupool-wasm\"", &page->wasm, out);
	for (size_t i = 0; i < page->trace_count; i++)
		put_part("", &page->traces[i], out);
	fprintf(out,
		"<script type=\"text/plain\" id=\"gpupool-worker\">%s</script>"
		"\n<script>\n%s</script>\n<script>\n%s</script>\n"
		"</body></html>\n",
		gp_worker_bundle_js, gp_app_bundle_js, gp_tables_js);
}
