/* SPDX-License-Identifier: MIT */
/* Which event a picture is of. */
#ifndef REPORT_MOMENT_H
#define REPORT_MOMENT_H

#include "report/report.h"

/* The event of a run, and what it is: "the peak of reserved".  An OOM that did
 * not happen is the peak. */
uint64_t gp_map_event(const struct gp_map_choice *choice,
		      const struct gp_replay_result *result, const char **what);

#endif
