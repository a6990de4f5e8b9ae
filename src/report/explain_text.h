/* What the pages of gpupool explain share. */
#ifndef REPORT_EXPLAIN_TEXT_H
#define REPORT_EXPLAIN_TEXT_H

#include "gpupool/explain.h"
#include "report/page.h"

struct explain_page {
	struct gp_page page;
	const struct gp_explanation *explanation;
	const struct gp_explain *explain;
};

#define EXPLAIN_SITE 160
/* " from train.py:42 forward", or "" */
const char *explain_site(const struct gp_trace *trace, uint32_t site,
			 char text[EXPLAIN_SITE]);

/* One line each. */
void explain_culprit_now(const struct explain_page *p,
			 const struct gp_culprit *culprit);
void explain_culprit_over_time(const struct explain_page *p,
			       const struct gp_culprit *culprit);
void explain_trial(const struct explain_page *p,
		   const struct gp_attempt *trial);

struct gp_explain_reason_row {
	const char *key, *label, *note;
};
extern const struct gp_explain_reason_row explain_reasons[GP_GAP_REASONS];
extern const char *const explain_verdicts[]; /* by enum gp_verdict; JSON */

/* src/report/explain_detail.c */
void explain_details(const struct explain_page *p);
/* src/report/explain_run.c: streams and pools, churn, drift. */
void explain_run(const struct explain_page *p);

#endif
