/* SPDX-License-Identifier: MIT */
/* Which event a picture is of. */
#include "report/moment.h"

uint64_t gp_map_event(const struct gp_map_choice *choice,
		      const struct gp_replay_result *result, const char **what)
{
	switch (choice->when) {
	case GP_MAP_EVENT: *what = "as asked"; return choice->event;
	case GP_MAP_END: *what = "the end"; return result->at_end.event;
	case GP_MAP_OOM:
		if (result->first_oom.is_there) {
			*what = "the first out-of-memory error";
			return result->first_oom.event;
		}
		break;
	case GP_MAP_PEAK: break;
	}
	*what = "the peak of reserved";
	return result->at_peak.event;
}
