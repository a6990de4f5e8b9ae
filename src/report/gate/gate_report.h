/* SPDX-License-Identifier: MIT */
/*
 * The gate's report as text, JSON, JUnit's XML, Markdown, GitHub's annotations
 * and GitLab's findings.
 */
#ifndef REPORT_GATE_GATE_REPORT_H
#define REPORT_GATE_GATE_REPORT_H

#include <stdio.h>

#include "report/emit.h"
#include "report/gate/gate.h"
#include "report/report.h"

struct gp_gate_device {
	uint32_t device; /* CUDA's ordinal */
	struct gp_gate_verdict *verdicts;
	size_t verdict_count;
	struct gp_gate_divergence divergence;
	/* For the whole program, if the trace is a window that was cached under
	 * other settings. */
	struct gp_estimate estimate;
};

/* The result of a run. GP_OK: all limits are kept; GP_FAILED: some are not;
 * else it could not be judged, and diag says why. */
struct gp_gate_result {
	const struct gp_gate_run *run;
	enum gp_status status;
	struct gp_diag diag;
	const struct gp_record *baseline; /* NULL: there is none */
	const struct gp_record *now;	  /* NULL: not played */
	struct gp_gate_device *devices;
	size_t device_count;
};

struct gp_gate_file {
	const struct gp_gate *gate;
	const struct gp_gate_result *results;
	size_t count;
	/* The baseline that --update replaces; NULL: none. */
	const struct gp_baseline *baseline;
};

struct gp_gate_report {
	const struct gp_numbers *numbers;
	const struct gp_gate_file *files;
	size_t count;
};

void gp_report_gate_text(const struct gp_gate_report *report,
			 const struct gp_report_style *style, FILE *out);
/* gpupool-check/1: man/gpupool-check.1. */
void gp_report_gate_json(const struct gp_gate_report *report, FILE *out);
void gp_report_gate_junit(const struct gp_gate_report *report, FILE *out);
/* Workflow commands, which GitHub shows at the file, followed by the text. */
void gp_report_gate_github(const struct gp_gate_report *report,
			   const struct gp_report_style *style, FILE *out);

/* For a pull request or a build summary. */
void gp_report_gate_markdown(const struct gp_gate_report *report, FILE *out);
/* GitLab's code quality report: a finding for each limit that is exceeded. */
void gp_report_gate_codequality(const struct gp_gate_report *report, FILE *out);

/* What --update wrote: each number that changed. */
void gp_report_update(const struct gp_gate_file *file,
		      const struct gp_numbers *numbers,
		      const struct gp_report_style *style, FILE *out);

/* ---- values in words, and what several of these share ---- */

#define GP_GATE_TEXT 48

/* "40.00 MiB", "12,345", "98.5 %", or "none". */
const char *gp_gate_reading_text(const struct gp_number *number,
				 const struct gp_reading *reading,
				 char text[GP_GATE_TEXT]);

/* "+80.00 MiB (+200.0 %)", or "" if there is nothing to compare. */
const char *gp_gate_change_text(const struct gp_number *number,
				const struct gp_reading *from,
				const struct gp_reading *to,
				char text[2 * GP_GATE_TEXT]);

/* A verdict as a sentence without a full stop. */
#define GP_GATE_SENTENCE 512
const char *gp_gate_sentence(const struct gp_gate_report *report,
			     const struct gp_gate_verdict *verdict,
			     char text[GP_GATE_SENTENCE]);
/* What the limit allows: "no worse than the baseline", "+2%, at most 80.00
 * MiB". */
#define GP_GATE_LIMIT 128
const char *gp_gate_limit_text(const struct gp_number *number,
			       const struct gp_gate_verdict *verdict,
			       char text[GP_GATE_LIMIT]);

/* "train", or "train, device 1" if the run has several; device NULL: only the
 * run. */
const char *gp_gate_run_text(const struct gp_gate_result *result,
			     const struct gp_gate_device *device,
			     char text[GP_GATE_SENTENCE]);

/* Where the runs of a device diverge, and in which settings and release this
 * one differs from the baseline; "": they do not diverge. */
const char *gp_gate_divergence_text(const struct gp_gate_result *result,
				    const struct gp_gate_device *device,
				    char text[GP_GATE_SENTENCE]);

/* An estimate of what the whole program reserves, if the judged numbers do not
 * show it; "" otherwise. */
const char *gp_gate_estimate_text(const struct gp_gate_device *device,
				  char text[GP_GATE_SENTENCE]);

/* For a run within its limits: a note if it, or one of its devices, makes less
 * than half of the requests of its baseline, because a run that was aborted is
 * within every upper limit. "" otherwise. */
const char *gp_gate_shrunk_text(const struct gp_gate_result *result,
				char text[GP_GATE_SENTENCE]);

/* "file: record: what; hint". */
#define GP_GATE_TROUBLE 1024
const char *gp_gate_trouble(const struct gp_diag *diag,
			    char text[GP_GATE_TROUBLE]);

/* The path of gpupool.json relative to the root of the repository, in which a
 * check runs, without a leading "./". */
const char *gp_gate_repository_path(const struct gp_gate *gate);

void gp_gate_emit_value(struct gp_emit *json, const char *key,
			const struct gp_number *number, int64_t value);

/* The number of results with that status; for GP_INPUT, with that or a worse
 * one. */
size_t gp_gate_count(const struct gp_gate_file *file, enum gp_status status);
/* Whether some limit of that kind is exceeded: one that a new baseline would
 * change, or one that is a value of its own. */
enum gp_gate_over { GP_GATE_OVER_BASELINE, GP_GATE_OVER_VALUE };
bool gp_gate_is_over(const struct gp_gate_file *file, enum gp_gate_over over);

#endif
