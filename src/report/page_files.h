/* SPDX-License-Identifier: MIT */
/* The files in src/report/page, which the build makes part of the program. */
#ifndef REPORT_PAGE_FILES_H
#define REPORT_PAGE_FILES_H

extern const char gp_page_css[];
extern const char gp_page_js[];
extern const char gp_tables_js[];

#endif
