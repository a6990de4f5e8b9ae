/* SPDX-License-Identifier: MIT */
/* The traces that a command's operands name, read as the ranks of a job: files,
 * and all files of folders. Files in a folder that are not traces are skipped,
 * with a message on standard error. So are traces that cannot be read, which
 * the report and the exit status show, too. */
#ifndef COMMANDS_RANKING_H
#define COMMANDS_RANKING_H

#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/studying.h"
#include "trace/ranks.h"

/* Reads operands, each a file or a folder, and sorts the traces into classes,
 * at least one. To be released in any case. */
enum gp_status gp_rank_files(const char *const *operands, size_t count,
			     struct gp_progress *progress,
			     struct gp_ranks *ranks, struct gp_diag *diag);

/* The same for traces with requests, of which only one is in memory at a time:
 * each new class is passed to visit, and then its trace is destroyed. */
typedef void gp_rank_visitor(void *arg, struct gp_rank_class *class);
enum gp_status gp_rank_each(const char *const *operands, size_t count,
			    gp_rank_visitor *visit, void *arg,
			    struct gp_progress *progress,
			    struct gp_ranks *ranks, struct gp_diag *diag);

/* GP_INPUT: some could not be read, and the report is without them. */
enum gp_status gp_rank_files_verdict(const struct gp_ranks *ranks,
				     struct gp_diag *diag);

/* GP_INPUT: none has requests. */
enum gp_status gp_rank_files_requests(const struct gp_ranks *ranks,
				      struct gp_diag *diag);

/* Notes the result of a replayed plan of the class. */
void gp_rank_runs_note(struct gp_rank_runs *runs, struct gp_ranks *ranks,
		       size_t class, const struct gp_plan *plan);
/* Notes that it could not be replayed. */
void gp_rank_runs_trouble(struct gp_rank_runs *runs, size_t class,
			  const struct gp_diag *why);

struct gp_ranking {
	struct gp_ranks ranks;
	struct gp_plan *plans;	      /* owned; by class */
	struct gp_what_ifs *what_ifs; /* owned; by class */
};

typedef enum gp_status gp_plan_maker(void *arg, struct gp_plan *plan,
				     const struct gp_trace *trace,
				     const struct gp_options *options,
				     struct gp_diag *diag);

struct gp_ranking_config {
	const struct gp_options *options;
	gp_plan_maker *make; /* NULL: gp_plan_make */
	void *arg;
	bool is_each_its_own; /* each plan has its own settings */
	bool needs_requests;  /* at least one trace must have some */
	struct gp_progress *progress;
};

/* Reads the traces and makes the plans, all under the release and settings of
 * the first class. To be released in any case. */
enum gp_status gp_ranking_make(struct gp_ranking *ranking,
			       const struct gp_ranking_config *config,
			       struct gp_diag *diag);
/* Alters every plan's trace by the options' what-ifs. */
enum gp_status gp_ranking_alter(struct gp_ranking *ranking,
				const struct gp_options *options,
				struct gp_progress *progress,
				struct gp_diag *diag);
/* Judges plans, one for each class, together: each class and device is a
 * case. */
enum gp_status gp_ranking_study(struct gp_ranking *ranking,
				const struct gp_plan *plans,
				const struct gp_options *options,
				struct gp_studying *studying,
				struct gp_progress *progress,
				struct gp_diag *diag);
void gp_ranking_release(struct gp_ranking *ranking);

/* The class with the worst verdict, in a study by gp_ranking_study. */
size_t gp_ranking_worst(const struct gp_ranking *ranking,
			const struct gp_studying *studying);
/* The class of the device that needs most under its present settings; if there
 * are several, the worst. A class with requests, if there is any. */
size_t gp_ranking_neediest(const struct gp_ranking *ranking,
			   const struct gp_studying *studying);
/* The ranks, for reports; NULL: there is a single file. */
const struct gp_ranks *gp_ranking_ranks(const struct gp_ranking *ranking);
/* How suggested commands name a class: by the only operand, else by its first
 * file. */
const char *gp_ranking_operand(const struct gp_options *options,
			       const struct gp_rank_class *class);

#endif
