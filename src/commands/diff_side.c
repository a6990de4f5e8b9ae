/* SPDX-License-Identifier: MIT */
/* What gpupool diff compares, and the limit it may be held to. */
#include "commands/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

/* ---- a trace ---- */

static enum gp_status take(struct gp_diff_side *side,
			   struct gp_progress *progress, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	side->makeups = gp_mem_alloc(side->trace->device_count + 1,
				     sizeof(*side->makeups));
	for (uint32_t i = 0; i < side->trace->device_count && status == GP_OK;
	     i++) {
		struct gp_replay_config config = gp_plan_config(&side->plan, i);

		gp_progress_step(progress, "replaying");
		status = gp_makeup_take_at(&config, side->moments[i],
					   &side->makeups[i],
					   &side->plan.results[i], diag);
	}
	return status;
}

enum gp_status gp_diff_side_make(struct gp_diff_side *side,
				 const struct gp_options *options,
				 struct gp_progress *progress,
				 struct gp_diag *diag)
{
	enum gp_status status;

	if (options)
		status = gp_plan_asked(&side->plan, side->trace, options, diag);
	else
		status = gp_plan_recorded(&side->plan, side->trace, diag);
	if (status == GP_OK && options && options->capacity)
		status =
			gp_replay_decides(side->trace, options->capacity, diag);
	if (status == GP_OK)
		status = take(side, progress, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, side->path);
	return status;
}

void gp_diff_side_release(struct gp_diff_side *side)
{
	gp_plan_release(&side->plan);
	free(side->makeups);
	free(side->moments);
	side->makeups = NULL;
	side->moments = NULL;
}

/* ---- reports ---- */

static struct gp_change_side told(const char *path,
				  const struct gp_report_run *run)
{
	return (struct gp_change_side){
		.path = path,
		.conf = run->conf,
		.release = run->release,
		.capacity = run->capacity,
		.makeup = run->makeup,
	};
}

static bool is_alike(const struct gp_report_run *a,
		     const struct gp_report_run *b)
{
	return a->device == b->device && a->release == b->release &&
	       a->capacity == b->capacity && !strcmp(a->conf, b->conf);
}

static size_t runs_of(const struct gp_report_run *runs, size_t count,
		      uint32_t device)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += runs[i].device == device;
	return n;
}

/* Its counterpart: the only run there is, else the one under the same
 * settings. */
static const struct gp_report_run *find(const struct gp_report_run *a,
					size_t a_count,
					const struct gp_report_run *b,
					size_t b_count,
					const struct gp_report_run *run)
{
	bool is_only = runs_of(a, a_count, run->device) == 1 &&
		       runs_of(b, b_count, run->device) == 1;

	for (size_t i = 0; i < b_count; i++)
		if (is_only ? b[i].device == run->device : is_alike(run, &b[i]))
			return &b[i];
	return NULL;
}

size_t gp_diff_pair_reports(const char *a_path, const struct gp_report_run *a,
			    size_t a_count, const char *b_path,
			    const struct gp_report_run *b, size_t b_count,
			    struct gp_change *changes)
{
	size_t count = 0;

	for (size_t i = 0; i < a_count; i++) {
		const struct gp_report_run *other =
			find(a, a_count, b, b_count, &a[i]);

		if (other)
			changes[count++] = (struct gp_change){
				.device = a[i].device,
				.a = told(a_path, &a[i]),
				.b = told(b_path, other),
			};
	}
	return count;
}

/* ---- the limit ---- */

enum gp_status gp_diff_limit_parse(const char *text,
				   struct gp_diff_limit *limit,
				   struct gp_diag *diag)
{
	char *end;
	double percent = strtod(text, &end);

	*limit = (struct gp_diff_limit){ .is_there = true };
	if (end != text && !strcmp(end, "%") && isfinite(percent) &&
	    percent >= 0) {
		limit->is_ratio = true;
		limit->ratio = percent / 100;
		return GP_OK;
	}
	if (gp_bytes_parse(text, &limit->bytes))
		return GP_OK;
	gp_diag_file(diag, "diff");
	gp_diag_hint(diag, "see: gpupool help diff");
	return gp_diag_set(diag, GP_USAGE,
			   "--fail-over %s: not a share such as 2%% or a size "
			   "such as 100MiB",
			   text);
}

static bool is_over(const struct gp_diff_limit *limit, uint64_t a, uint64_t b)
{
	if (b <= a)
		return false;
	if (limit->is_ratio)
		return (double)(b - a) > limit->ratio * (double)a;
	return b - a > limit->bytes;
}

enum gp_status gp_diff_limit_hold(const struct gp_diff_limit *limit,
				  const struct gp_change *changes, size_t count,
				  struct gp_diag *diag)
{
	char more[GP_BYTES_TEXT], bytes[GP_BYTES_TEXT], allowed[64];

	for (size_t i = 0; limit->is_there && i < count; i++) {
		uint64_t a = changes[i].a.makeup.reserved;
		uint64_t b = changes[i].b.makeup.reserved;

		if (!is_over(limit, a, b))
			continue;
		if (limit->is_ratio)
			snprintf(allowed, sizeof(allowed), "%g %%",
				 limit->ratio * 100);
		else
			snprintf(allowed, sizeof(allowed), "%s",
				 gp_bytes_text(limit->bytes, bytes));
		gp_diag_file(diag, changes[i].b.path);
		return gp_diag_set(diag, GP_FAILED,
				   "it reserves %s more at the peak; %s is "
				   "allowed",
				   gp_bytes_text(b - a, more), allowed);
	}
	return GP_OK;
}
