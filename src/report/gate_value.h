/* SPDX-License-Identifier: MIT */
/* Values of the gate in words, and what several of its reports share. */
#ifndef REPORT_GATE_VALUE_H
#define REPORT_GATE_VALUE_H

#include "report/gate_report.h"
#include "report/emit.h"

#define GP_GATE_TEXT 48

/* "40.00 MiB", "12,345", "98.5 %". */
const char *gp_gate_value_text(const struct gp_number *number, int64_t value,
			       char text[GP_GATE_TEXT]);
const char *gp_gate_reading_text(const struct gp_number *number,
				 const struct gp_reading *reading,
				 char text[GP_GATE_TEXT]);

/* "+80.00 MiB (+200.0 %)", "" where there is nothing to compare. */
const char *gp_gate_change_text(const struct gp_number *number,
				const struct gp_reading *from,
				const struct gp_reading *to,
				char text[2 * GP_GATE_TEXT]);

/* One sentence without a full stop: what a verdict says. */
#define GP_GATE_SENTENCE 512
const char *gp_gate_sentence(const struct gp_gate_report *report,
			     const struct gp_gate_verdict *verdict,
			     char text[GP_GATE_SENTENCE]);
/* The same of where two runs part; "" when they do not. */
const char *gp_gate_parting(const struct gp_parting *parting,
			    char text[GP_GATE_SENTENCE]);

/* "file: record: what; hint". */
#define GP_GATE_TROUBLE 1024
const char *gp_gate_trouble(const struct gp_diag *diag,
			    char text[GP_GATE_TROUBLE]);

void gp_gate_emit_value(struct gp_emit *json, const char *key,
			const struct gp_number *number, int64_t value);
void gp_gate_emit_asked(struct gp_emit *json,
			const struct gp_gate_asked *asked);

/* How many results have that status; GP_INPUT: or worse. */
size_t gp_gate_count(const struct gp_gate_file *file, enum gp_status status);

#endif
