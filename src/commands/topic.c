/* SPDX-License-Identifier: MIT */
/* What gpupool help explains besides commands: one table. */
#include "commands/topic.h"

#include <string.h>

#include "commands/formats_topic.h"
#include "commands/help.h"
#include "commands/metrics_page.h"
#include "commands/report_page.h"
#include "commands/settings_page.h"
#include "commands/what_if_page.h"
#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "report/schema.h"
#include "study/what_if/what_if.h"

#define TEXT 640 /* bytes of an entry */

static void print_settings(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	char text[TEXT];

	fputs("Settings as PYTORCH_CUDA_ALLOC_CONF and --alloc-conf take "
	      "them:\nkey:value,key:value. See gpupool-settings(7).\n\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct gp_knob *k = &knobs[i];

		snprintf(text, sizeof(text),
			 "%s\nTakes: %s. Default: %s. Since 2.%u.%s%s%s",
			 k->sentence, k->range, k->by_default, k->since,
			 k->flag ? " Flag: --" : "", k->flag ? k->flag : "",
			 k->flag ? "." : "");
		gp_help_entry(k->name, text, columns, out);
	}
}

static void print_release(uint8_t release, unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_change_row *rows = gp_change_table(&count);
	char name[8], text[TEXT];

	snprintf(name, sizeof(name), "2.%u", release);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].since != release)
			continue;
		snprintf(text, sizeof(text), "%s [%s]", rows[i].sentence,
			 rows[i].source);
		gp_help_entry(name, text, columns, out);
		*name = 0;
	}
}

static void print_releases(unsigned columns, FILE *out)
{
	fputs("What PyTorch does otherwise from a release on, and the source: "
	      "a pull request, a\nfile, or run: seen by running the releases "
	      "themselves.\n\n",
	      out);
	for (uint8_t r = GP_RELEASE_FIRST; r <= GP_RELEASE_LAST; r++)
		print_release(r, columns, out);
	fputs("\nReleases also differ in the settings they know: "
	      "gpupool help settings\n",
	      out);
}

static void print_settings_page(unsigned columns, FILE *out)
{
	(void)columns;
	gp_settings_page(out);
}

static void print_metrics(unsigned columns, FILE *out)
{
	char text[TEXT];

	fputs("The numbers of reports, timelines and thresholds (--alert). See "
	      "gpupool-metrics(7).\n\n",
	      out);
	for (unsigned i = 0; i < GP_MEASURES; i++) {
		const struct gp_measure *m = &gp_measures[i];

		snprintf(text, sizeof(text), "%s [%s; %s%s]", m->reading,
			 m->formula, gp_unit_name(m->unit),
			 m->scope == GP_SCOPE_MOMENT ? ", over time" : "");
		gp_help_entry(m->key, text, columns, out);
	}
}

static void print_metrics_page(unsigned columns, FILE *out)
{
	(void)columns;
	gp_metrics_page(out);
}

static void print_what_ifs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);
	char flag[80], text[TEXT];

	fputs("The same program, had it asked otherwise: flags of replay, "
	      "explain and convert,\nmade in this order. BLOCKS are "
	      "\"train.py:42\" or a function, size:2MiB,\n"
	      "size:1MiB..8MiB, event:812, addr:0x7f00, id:91 or all. See "
	      "gpupool-what-if(7).\n\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		snprintf(flag, sizeof(flag), "--%s%s%s", rows[i].name,
			 rows[i].argument ? " " : "",
			 rows[i].argument ? rows[i].argument : "");
		snprintf(text, sizeof(text), "%s %s", rows[i].sentence,
			 rows[i].method);
		gp_help_entry(flag, text, columns, out);
	}
}

static void print_what_if_page(unsigned columns, FILE *out)
{
	(void)columns;
	gp_what_if_page(out);
}

static void print_report_page(unsigned columns, FILE *out)
{
	(void)columns;
	gp_report_page(out);
}

static void print_report_schema(unsigned columns, FILE *out)
{
	(void)columns;
	gp_key_schema(out);
}

static const struct topic {
	const char *name;
	const char *sentence; /* NULL: not listed */
	void (*print)(unsigned columns, FILE *out);
} topics[] = {
	{ "settings", "The allocator's settings.", print_settings },
	{ "releases", "What differs between releases of PyTorch.",
	  print_releases },
	{ "metrics", "The numbers, and how to read them.", print_metrics },
	{ "formats", "What is read, and what is written.", gp_formats_topic },
	{ "what-if", "What a program could have asked otherwise.",
	  print_what_ifs },
	{ "report-schema", "What --format json writes, as a JSON Schema.",
	  print_report_schema },
	/* Source of the manual page, for man/. */
	{ "metrics.7", NULL, print_metrics_page },
	{ "report.5", NULL, print_report_page },
	{ "settings.7", NULL, print_settings_page },
	{ "what-if.7", NULL, print_what_if_page },
};

#define TOPICS (sizeof(topics) / sizeof(*topics))

bool gp_topic_print(const char *name, unsigned columns, FILE *out)
{
	for (size_t i = 0; i < TOPICS; i++) {
		if (strcmp(name, topics[i].name) != 0)
			continue;
		topics[i].print(columns, out);
		return true;
	}
	return false;
}

void gp_topic_list(unsigned columns, FILE *out)
{
	char name[32];

	for (size_t i = 0; i < TOPICS; i++) {
		if (!topics[i].sentence)
			continue;
		snprintf(name, sizeof(name), "help %s", topics[i].name);
		gp_help_entry(name, topics[i].sentence, columns, out);
	}
}
