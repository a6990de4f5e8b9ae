/* The frame of a stack that a person wants to see. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/explain.h"

/* Higher is better. */
enum rank { RANK_OTHER, RANK_PYTHON, RANK_OWN };

static enum rank rank_of(const char *text)
{
	static const char *const foreign[] = { "/torch/", "site-packages",
					       "dist-packages", "/lib/python" };

	if (!strstr(text, ".py:"))
		return RANK_OTHER;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (strstr(text, foreign[i]))
			return RANK_PYTHON;
	return RANK_OWN;
}

uint32_t *gp_sites_shown(const struct gp_trace *trace)
{
	size_t n = trace->site_count;
	uint32_t *shown = gp_mem_alloc(n + 1, sizeof(*shown));
	uint32_t *first = gp_mem_alloc(trace->text_count + 1, sizeof(*first));
	uint8_t *ranks = gp_mem_alloc(n + 1, 1);

	/* Callers come before their callees. */
	for (uint32_t i = 0; i < n; i++) {
		const struct gp_site *site = &trace->sites[i];
		uint32_t caller = site->caller;

		ranks[i] = (uint8_t)rank_of(trace->texts[site->text]);
		if (!first[site->text])
			first[site->text] = i + 1;
		shown[i] = first[site->text] - 1;
		if (caller != GP_NO_SITE && ranks[caller] > ranks[i]) {
			ranks[i] = ranks[caller];
			shown[i] = shown[caller];
		}
	}
	free(first);
	free(ranks);
	return shown;
}
