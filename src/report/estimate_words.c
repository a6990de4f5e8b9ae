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
