/* SPDX-License-Identifier: MIT */
/* A page's beginning, and tables: cells that tell scripts and tests their
 * value. */
#ifndef REPORT_HTML_TABLE_H
#define REPORT_HTML_TABLE_H

#include <stdint.h>
#include <stdio.h>

/* Up to the end of the headline, in <main><header>. */
void gp_html_begin(FILE *out, const char *title);

/* columns: names with '|' between; those behind '#' are numbers.  id: as what
 * scripts and tests find it. */
void gp_html_table(FILE *out, const char *id, const char *columns);
void gp_html_table_end(FILE *out);

/* The first cell of a row, which names it; then the others. */
void gp_html_name(FILE *out, const char *text);
void gp_html_text(FILE *out, const char *text);
void gp_html_bytes(FILE *out, const char *key, uint64_t bytes);
void gp_html_count(FILE *out, const char *key, uint64_t count);
void gp_html_row_end(FILE *out);

#endif
