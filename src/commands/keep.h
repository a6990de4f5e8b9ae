/* SPDX-License-Identifier: MIT */
/*
 * What a replay is asked to keep on its way, by --alert, --timeline, --map and
 * the formats that are pictures.
 */
#ifndef COMMANDS_KEEP_H
#define COMMANDS_KEEP_H

#include "commands/options.h"
#include "commands/plan.h"
#include "gpupool/metrics.h"
#include "report/report.h"

struct gp_keep {
	struct gp_alert *alerts; /* owned */
	size_t alert_count;
	struct gp_map_choice map;
	bool has_map;
	unsigned parts; /* enum gp_track_part */
};

/* GP_USAGE where an option is not understood; released in any case. */
enum gp_status gp_keep_make(struct gp_keep *keep,
			    const struct gp_options *options,
			    struct gp_diag *diag);
void gp_keep_release(struct gp_keep *keep);

/* Before the plan is played; is_last: alerts are about it. */
void gp_keep_track(const struct gp_keep *keep, struct gp_plan *plan,
		   bool is_last);

/* --timeline's file. */
enum gp_status gp_keep_timeline(const struct gp_options *options,
				const struct gp_report *report,
				struct gp_diag *diag);

/* GP_FAILED with the first alert that fired. */
enum gp_status gp_keep_verdict(const struct gp_plan *plan,
			       struct gp_diag *diag);

#endif
