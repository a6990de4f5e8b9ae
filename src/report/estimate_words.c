/* SPDX-License-Identifier: MIT */
/* Estimates in reports. */
#include "report/estimate_words.h"

#include <stdio.h>

const struct gp_estimate *gp_run_estimate(const struct gp_run *run,
					  size_t device)
{
	return run->estimates && run->estimates[device].is_there
		       ? &run->estimates[device]
		       : NULL;
}

const char *gp_estimate_text(const struct gp_estimate *estimate,
			     char text[GP_ESTIMATE_TEXT])
{
	char low[GP_BYTES_TEXT], high[GP_BYTES_TEXT];

	snprintf(text, GP_ESTIMATE_TEXT, "an estimate: %s to %s",
		 gp_bytes_text(estimate->low, low),
		 gp_bytes_text(estimate->high, high));
	return text;
}

void gp_emit_estimate(struct gp_emit *json, const char *key,
		      const struct gp_estimate *estimate)
{
	if (!estimate) {
		gp_emit_null(json, key);
		return;
	}
	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "reserved", estimate->reserved);
	gp_emit_uint(json, "low", estimate->low);
	gp_emit_uint(json, "high", estimate->high);
	gp_emit_text(json, "how", estimate->how);
	gp_emit_close(json, '}');
}
