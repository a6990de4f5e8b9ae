/* SPDX-License-Identifier: MIT */
/* The flags of a command, explained: of the same tables that parse them. */
#include <string.h>

#include "commands/help.h"
#include "commands/option_table.h"
#include "gpupool/knob.h"

static void explain_knobs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	char flag[80], sentence[512];

	fputs("\nSettings of the allocator (PyTorch's names in brackets):\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct gp_knob *k = &knobs[i];

		if (!k->flag)
			continue;
		snprintf(flag, sizeof(flag), "--%s %s", k->flag,
			 k->type == GP_KNOB_BOOL  ? "[True|False]"
			 : k->type == GP_KNOB_MIB ? "MIB"
						  : "VALUE");
		snprintf(sentence, sizeof(sentence),
			 "[%s] %s (%s; default: %s; since 2.%u)", k->name,
			 k->sentence, k->range, k->by_default, k->since);
		gp_help_entry(flag, sentence, columns, out);
	}
}

static void explain_what_ifs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);
	char flag[80];

	fputs("\nWhat-ifs, made in this order (gpupool help what-if):\n", out);
	for (size_t i = 0; i < count; i++) {
		snprintf(flag, sizeof(flag), "--%s%s%s", rows[i].name,
			 rows[i].argument ? " " : "",
			 rows[i].argument ? rows[i].argument : "");
		gp_help_entry(flag, rows[i].sentence, columns, out);
	}
}

void gp_options_help(enum gp_taker taker, unsigned columns, FILE *out)
{
	char flag[80];

	fputs("\nOptions:\n", out);
	for (size_t i = 0; i < gp_option_count; i++) {
		const struct gp_option_row *row = &gp_option_table[i];
		char letter[] = { '-', row->letter, ',', ' ', 0 };

		if (!(row->takers & taker))
			continue;
		snprintf(flag, sizeof(flag), "%s--%s%s%s",
			 row->letter ? letter : "", row->name,
			 row->argument ? " " : "",
			 row->argument ? row->argument : "");
		gp_help_entry(flag, row->sentence, columns, out);
	}
	if (taker & WHAT_IF_TAKERS)
		explain_what_ifs(columns, out);
	if (taker & KNOB_TAKERS)
		explain_knobs(columns, out);
}
