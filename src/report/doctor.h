/* SPDX-License-Identifier: MIT */
/* What gpupool doctor finds on a machine: for reports of what went wrong. */
#ifndef REPORT_DOCTOR_H
#define REPORT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct gp_doctor_library {
	const char *name, *version;
};

/* Something beside gpupool that a part of it needs. */
struct gp_doctor_check {
	const char *name;
	bool is_there;
	const char *found;	/* what it is, or why it is not there */
	const char *needed_for; /* "gpupool record" */
	const char *hint;	/* how to have it; NULL: none */
};

/* All of it borrowed. */
struct gp_doctor {
	const char *version, *compiler, *architecture, *system;
	uint32_t processors;
	const struct gp_doctor_library *libraries;
	size_t library_count;
	const struct gp_doctor_check *checks;
	size_t check_count;
};

void gp_report_doctor_text(const struct gp_doctor *doctor,
			   const struct gp_report_style *style, FILE *out);
void gp_report_doctor_json(const struct gp_doctor *doctor, FILE *out);

#endif
