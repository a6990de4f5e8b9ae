/* SPDX-License-Identifier: MIT */
/* What replays in a page. */
#include "report/live_page.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/text_sink.h"
#include "report/emit.h"
#include "report/html.h"
#include "report/svg_parts.h"

static void put_start(const struct gp_live_page *page, FILE *out)
{
	struct gp_text_sink sink;
	struct gp_emit json = { .out = gp_text_sink_open(&sink) };
	char flag[64];

	gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_text(&json, "conf", page->conf);
	gp_emit_text(&json, "torch", page->torch);
	gp_emit_text(&json, "capacity", page->capacity);
	gp_emit_open(&json, "words", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < page->flag_count; i++) {
		snprintf(flag, sizeof(flag), "--%s", page->flags[i].name);
		gp_emit_text(&json, NULL, flag);
		if (page->flags[i].argument)
			gp_emit_text(&json, NULL, page->flags[i].argument);
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
	gp_text_sink_close(&sink, json.out);
	fputs("<script type=\"application/json\" id=\"start\">", out);
	/* Nothing in it may look like the element's end. */
	for (size_t i = 0; i < sink.size; i++)
		if (sink.text[i] == '<')
			fputs("\\u003c", out);
		else
			putc(sink.text[i], out);
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

void gp_live_page_controls(const struct gp_live_page *page, FILE *out)
{
	if (page->wasm.bytes) {
		fputs(gp_app_html, out);
	} else if (page->why) {
		fputs("<p class=\"note\">", out);
		gp_svg_text(page->why, out);
		fputs("</p>\n", out);
	}
}

void gp_live_page_end(const struct gp_live_page *page, FILE *out)
{
	if (page->wasm.bytes) {
		if (page->conf)
			put_start(page, out);
		put_part("id=\"gpupool-wasm\"", &page->wasm, out);
		for (size_t i = 0; i < page->trace_count; i++)
			put_part("", &page->traces[i], out);
		fprintf(out,
			"<script type=\"text/plain\" id=\"gpupool-worker\">%s"
			"</script>\n<script>\n%s</script>\n",
			gp_worker_bundle_js, gp_app_bundle_js);
	}
	gp_html_end(out);
}

void gp_live_page_write(const struct gp_live_page *page, FILE *out)
{
	gp_html_begin(out, "gpupool");
	fputs("</header>\n", out);
	gp_live_page_controls(page, out);
	fputs("</main>\n", out);
	gp_live_page_end(page, out);
}
