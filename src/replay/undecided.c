/* SPDX-License-Identifier: MIT */
/* Runs that a recording cannot decide. */
#include "base/bytes.h"
#include "gpupool/replay.h"

uint64_t gp_replay_undecided(const struct gp_trace *trace, uint32_t device,
			     uint64_t capacity)
{
	uint64_t reserved = gp_state_reserved(&trace->devices[device].start);

	return reserved > capacity ? reserved : 0;
}

enum gp_status gp_replay_decides(const struct gp_trace *trace,
				 uint64_t capacity, struct gp_diag *diag)
{
	char begins[GP_BYTES_TEXT], asked[GP_BYTES_TEXT];

	for (uint32_t i = 0; i < trace->device_count; i++) {
		uint64_t reserved = gp_replay_undecided(trace, i, capacity);

		if (!reserved)
			continue;
		gp_diag_hint(diag, "record from the start of the program, or "
				   "give a larger capacity");
		return gp_diag_set(
			diag, GP_INPUT,
			"undecided: the trace begins with %s reserved, and "
			"does not tell what would have come of it in %s",
			gp_bytes_text(reserved, begins),
			gp_bytes_text(capacity, asked));
	}
	return GP_OK;
}
