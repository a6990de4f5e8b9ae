/* SPDX-License-Identifier: MIT */
/* Who holds the memory at the moment explained. */
#include "report/holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/intern.h"
#include "base/mem.h"
#include "trace/site.h"
#include "report/emit.h"
#include "report/explain_words.h"
#include "report/object.h"

#define INDENT 22 /* column of what follows the bytes and their share */

/* "since step 3"; "" where no step is known. */
#define SINCE 48
static const char *since(const struct gp_explain *e, const struct gp_culprit *c,
			 char text[SINCE])
{
	char step[GP_STEP_TEXT];

	*text = '\0';
	if (c->from_start)
		snprintf(text, SINCE, ", %ssince before the trace",
			 c->blocks == 1 ? "" : "some ");
	else if (*gp_event_step(e->trace, e->device, &e->steps,
				e->live_event - c->events, step))
		snprintf(text, SINCE, ", %s %s",
			 c->blocks == 1 ? "of" : "since", step);
	return text;
}

static void print_amount(const struct gp_page *page, const struct gp_explain *e,
			 uint64_t bytes, const char *words)
{
	char percent[GP_PERCENT_TEXT];

	gp_page_line(
		page, GP_TONE_PLAIN, INDENT, "%11s %7s  %s", GP_BYTES(bytes),
		gp_percent_text((double)bytes / (double)e->live_bytes, percent),
		words);
}

/* Room for the text after a holder's bytes, without regard to columns. */
#define WORDS (EXPLAIN_WHO + SINCE)
static void words_of_all(const struct gp_explain *e, const struct gp_culprit *c,
			 unsigned columns, char words[WORDS])
{
	char who[EXPLAIN_WHO], text[SINCE];

	(void)columns;
	snprintf(words, WORDS, "%s%s", explain_who(e->trace, c, who),
		 since(e, c, text));
}

/* Cuts a name at a character boundary. */
static size_t cut(const char *name, size_t room)
{
	size_t length = strlen(name);

	if (length <= room)
		return length;
	for (length = room; length && (name[length] & 0xc0) == 0x80;)
		length--;
	return length;
}

/* Whether another holder has the same source line. */
static bool is_shared(const struct gp_explain *e, const struct gp_culprit *c,
		      const char *line)
{
	char other[GP_SITE_TEXT];

	for (size_t i = 0; i < e->live.count; i++) {
		uint32_t site = e->live.list[i].site;

		if (site != GP_NO_SITE && site != c->site &&
		    !strcmp(gp_site_place(e->trace, site, other), line))
			return true;
	}
	return false;
}

/* Fits a site's name into that many columns: drops the operation, unless
 * another holder has the same line, and folders. */
static void put_site(const struct gp_explain *e, const struct gp_culprit *c,
		     size_t room, char name[GP_SITE_TEXT])
{
	char line[GP_SITE_TEXT], runs[GP_SITE_TEXT] = "";
	const char *folder, *operation;
	size_t length;

	if (strlen(gp_site_text(e->trace, c->site, name)) <= room)
		return;
	gp_site_place(e->trace, c->site, line);
	length = strlen(line);
	if (!strncmp(name, line, length) && is_shared(e, c, line))
		snprintf(runs, sizeof(runs), "%s", name + length);
	folder = strrchr(line, '/');
	if (folder && (*runs || length > room))
		memmove(line, folder + 1, strlen(folder));
	operation = strstr(runs, " (");
	if (operation && strlen(line) + strlen(runs) > room)
		memmove(runs, operation, strlen(operation) + 1);
	length = strlen(line);
	memcpy(name, line, length);
	snprintf(name + length, GP_SITE_TEXT - length, "%s", runs);
	if (strlen(name) <= room)
		return;
	length = cut(name, room - 3);
	snprintf(name + length, GP_SITE_TEXT - length, "...");
}

static void words_in_brief(const struct gp_explain *e,
			   const struct gp_culprit *c, unsigned columns,
			   char words[WORDS])
{
	char name[GP_SITE_TEXT], tail[SINCE + GP_PLURAL_TEXT + 4], text[SINCE];

	if (c->site == GP_NO_SITE) {
		words_of_all(e, c, columns, words);
		return;
	}
	snprintf(tail, sizeof(tail), ": %s%s", GP_PLURAL(c->blocks, "block"),
		 since(e, c, text));
	put_site(e, c, columns > strlen(tail) + 3 ? columns - strlen(tail) : 3,
		 name);
	snprintf(words, WORDS, "%s%s", name, tail);
}

static void print_rest(const struct gp_page *page, const struct gp_explain *e,
		       size_t shown)
{
	uint64_t bytes = 0, blocks = 0;
	const char *what = e->trace->site_count ? "sites or sizes" : "sizes";
	const char *one = e->trace->site_count ? "site or size" : "size";
	char words[2 * GP_PLURAL_TEXT];

	for (size_t i = shown; i < e->live.count; i++) {
		bytes += e->live.list[i].bytes;
		blocks += e->live.list[i].blocks;
	}
	if (!bytes)
		return;
	snprintf(words, sizeof(words), "%s of %zu other %s",
		 GP_PLURAL(blocks, "block"), e->live.count - shown,
		 e->live.count - shown > 1 ? what : one);
	print_amount(page, e, bytes, words);
}

const char *gp_holders_moment(const struct gp_explain *e)
{
	if (e->live_bytes != e->gap.allocated)
		return "at the fullest moment";
	if (e->result.first_oom.is_there)
		return "when memory ran out";
	if (!e->has_requests)
		return "at that moment";
	if (!explain_is_peak(e))
		return "at the fullest moment";
	return e->event != GP_AT_START && e->event > e->result.at_peak.event
		       ? "at the peak, when it is fullest"
		       : "at the peak";
}

static void print_holders(const struct gp_page *page,
			  const struct gp_explain *e, size_t most,
			  void (*words_of)(const struct gp_explain *,
					   const struct gp_culprit *, unsigned,
					   char[WORDS]))
{
	char words[WORDS];

	if (!e->live_bytes)
		return;
	gp_page_line(page, GP_TONE_TITLE, 2, "Who holds the %s in use %s",
		     GP_BYTES(e->live_bytes), gp_holders_moment(e));
	for (size_t i = 0; i < e->live.count && i < most; i++) {
		words_of(e, &e->live.list[i], page->columns - INDENT + 1,
			 words);
		print_amount(page, e, e->live.list[i].bytes, words);
	}
	print_rest(page, e, most);
}

void gp_report_holders(const struct gp_page *page, const struct gp_explain *e,
		       size_t most)
{
	print_holders(page, e, most, words_of_all);
}

void gp_report_holders_brief(const struct gp_page *page,
			     const struct gp_explain *e, size_t most)
{
	print_holders(page, e, most, words_in_brief);
}

/* ---- what memory is for ---- */

const char *gp_category_words(enum gp_category category)
{
	static const char *const words[GP_CATEGORIES] = {
		[GP_CATEGORY_UNKNOWN] = "not known",
		[GP_CATEGORY_PARAMETER] = "parameters",
		[GP_CATEGORY_BUFFER] = "buffers of modules",
		[GP_CATEGORY_GRADIENT] = "gradients",
		[GP_CATEGORY_OPTIMIZER_STATE] = "optimizer states",
		[GP_CATEGORY_ACTIVATION] = "activations",
		[GP_CATEGORY_TEMPORARY] = "temporaries",
		[GP_CATEGORY_CUBLAS_WORKSPACE] = "cuBLAS workspaces",
		[GP_CATEGORY_CUDNN_WORKSPACE] = "cuDNN workspaces",
		[GP_CATEGORY_NCCL] = "NCCL buffers",
	};

	return words[category];
}

const char *gp_module_words(const struct gp_trace *trace,
			    const struct gp_owner *owner,
			    char text[GP_SITE_TEXT])
{
	if (owner->module == GP_NO_ID)
		return "of no known module";
	snprintf(text, GP_SITE_TEXT, "%s%s%s%s", trace->texts[owner->module],
		 owner->type == GP_NO_ID ? "" : " (",
		 owner->type == GP_NO_ID ? "" : trace->texts[owner->type],
		 owner->type == GP_NO_ID ? "" : ")");
	return text;
}

/* Modules whose names differ in numbers only, as one. */
struct layer {
	uint64_t bytes, modules;
	const char *words;
	const struct gp_culprit *first;
};

/* "h.*.attn (GPT2Attention)" from "h.11.attn (GPT2Attention)". */
static void hide_numbers(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		bool is_number = *at >= '0' && *at <= '9' &&
				 (at == text || at[-1] == '.');

		if (!is_number) {
			*to++ = *at;
			continue;
		}
		while (at[1] >= '0' && at[1] <= '9')
			at++;
		*to++ = '*';
	}
	*to = '\0';
}

static int by_bytes(const void *a, const void *b)
{
	const struct layer *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->words, y->words);
}

/* Sums the modules by name without numbers; the names are stored in texts. */
static struct layer *find_layers(const struct gp_explain *e,
				 struct gp_intern *texts)
{
	struct layer *layers =
		gp_mem_alloc(e->by_module.count + 1, sizeof(*layers));

	for (size_t i = 0; i < e->by_module.count; i++) {
		const struct gp_culprit *c = &e->by_module.list[i];
		char text[GP_SITE_TEXT];
		uint32_t layer;

		snprintf(text, sizeof(text), "%s",
			 gp_module_words(e->trace, &c->owner,
					 (char[GP_SITE_TEXT]){ "" }));
		hide_numbers(text);
		layer = gp_intern(texts, text, strlen(text));
		if (!layers[layer].modules++)
			layers[layer].first = c;
		layers[layer].bytes += c->bytes;
	}
	for (size_t i = 0; i < texts->count; i++)
		layers[i].words = texts->texts[i];
	qsort(layers, texts->count, sizeof(*layers), by_bytes);
	return layers;
}

static void print_layer(const struct gp_page *page, const struct gp_explain *e,
			const struct layer *l)
{
	char words[GP_SITE_TEXT + GP_PLURAL_TEXT], name[GP_SITE_TEXT];

	if (l->modules == 1)
		snprintf(words, sizeof(words), "%s",
			 gp_module_words(e->trace, &l->first->owner, name));
	else
		snprintf(words, sizeof(words), "%s: %s", l->words,
			 GP_PLURAL(l->modules, "module"));
	print_amount(page, e, l->bytes, words);
}

static void print_layers(const struct gp_page *page, const struct gp_explain *e,
			 size_t most)
{
	struct gp_intern texts = { 0 };
	struct layer *layers = find_layers(e, &texts);
	uint64_t rest = 0;

	for (size_t i = 0; i < texts.count; i++)
		if (i < most)
			print_layer(page, e, &layers[i]);
		else
			rest += layers[i].bytes;
	if (rest)
		print_amount(page, e, rest, "other modules");
	free(layers);
	gp_intern_release(&texts);
}

void gp_report_owners(const struct gp_page *page, const struct gp_explain *e,
		      size_t most)
{
	if (!e->by_category.count || !e->live_bytes)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_TITLE, 2, "What it is for");
	for (size_t i = 0; i < e->by_category.count; i++)
		print_amount(page, e, e->by_category.list[i].bytes,
			     gp_category_words(
				     e->by_category.list[i].owner.category));
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_TITLE, 2, "Which modules it is of");
	print_layers(page, e, most);
}

/* ---- for a program ---- */

void gp_emit_holders(struct gp_emit *json, const char *key,
		     const struct gp_trace *trace,
		     const struct gp_culprits *culprits, size_t most)
{
	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < culprits->count && i < most; i++) {
		const struct gp_culprit *c = &culprits->list[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_keys(json, "holder", c);
		gp_emit_sites(json, trace, c->site);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

void gp_emit_explained(struct gp_emit *json, const char *key,
		       const char *key_before, uint64_t event)
{
	gp_emit_uint(json, key, event == GP_AT_START ? 0 : event);
	gp_emit_bool(json, key_before, event == GP_AT_START);
}

void gp_emit_in_use(struct gp_emit *json, const struct gp_explain *e,
		    size_t most)
{
	gp_emit_explained(json, "in_use_event", "in_use_before", e->live_event);
	gp_emit_uint(json, "in_use_bytes", e->live_bytes);
	gp_emit_holders(json, "in_use", e->trace, &e->live, most);
}

static void emit_use(struct gp_emit *json, const struct gp_culprit *c)
{
	gp_emit_uint(json, "bytes", c->bytes);
	gp_emit_uint(json, "blocks", c->blocks);
	gp_emit_close(json, '}');
}

void gp_emit_owners(struct gp_emit *json, const struct gp_explain *e)
{
	const char *const *texts = e->trace->texts;

	if (!e->by_category.count)
		return;
	gp_emit_open(json, "by_category", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < e->by_category.count; i++) {
		const struct gp_culprit *c = &e->by_category.list[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(json, "category",
			     gp_category_name(c->owner.category));
		emit_use(json, c);
	}
	gp_emit_close(json, ']');
	gp_emit_open(json, "by_module", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < e->by_module.count; i++) {
		const struct gp_culprit *c = &e->by_module.list[i];
		const struct gp_owner *o = &c->owner;

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(json, "module",
			     o->module == GP_NO_ID ? NULL : texts[o->module]);
		gp_emit_text(json, "class",
			     o->type == GP_NO_ID ? NULL : texts[o->type]);
		emit_use(json, c);
	}
	gp_emit_close(json, ']');
}
