/* SPDX-License-Identifier: MIT */
/* Plans of the ranks of a job. */
#include "commands/ranking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static enum gp_status name_file(enum gp_status status,
				const struct gp_rank_class *class,
				struct gp_diag *diag)
{
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, class->paths[0]);
	return status;
}

static enum gp_status make_plan(struct gp_ranking *ranking, size_t index,
				const struct gp_ranking_config *config,
				struct gp_diag *diag)
{
	struct gp_rank_class *class = &ranking->ranks.classes[index];
	struct gp_plan *plan = &ranking->plans[index];
	enum gp_status status =
		config->make ? config->make(config->arg, plan, class->trace,
					    config->options, diag)
			     : gp_plan_make(plan, class->trace, config->options,
					    diag);

	if (status == GP_OK) {
		class->release = plan->settings.release;
		class->conf = gp_mem_copy_text(plan->conf, strlen(plan->conf));
	}
	return name_file(status, class, diag);
}

static void put_first(struct gp_ranking *ranking, size_t index)
{
	struct gp_rank_class *classes = ranking->ranks.classes;
	struct gp_rank_class class = classes[index];
	struct gp_plan plan = ranking->plans[index];

	classes[index] = classes[0];
	classes[0] = class;
	ranking->plans[index] = ranking->plans[0];
	ranking->plans[0] = plan;
}

/* One that was recorded under another release, or other settings, is replayed
 * as the first. */
static enum gp_status join_first(struct gp_ranking *ranking, size_t index,
				 const struct gp_options *asked,
				 struct gp_diag *diag)
{
	const struct gp_rank_class *class = &ranking->ranks.classes[index];
	const struct gp_rank_class *first = ranking->ranks.classes;
	struct gp_options options = *asked;
	char torch[8];

	if (class->release == first->release &&
	    !strcmp(class->conf, first->conf))
		return GP_OK;
	snprintf(torch, sizeof(torch), "2.%u", first->release);
	options.torch = torch;
	options.alloc_conf = first->conf;
	options.knobs = NULL; /* the settings have them */
	gp_plan_release(&ranking->plans[index]);
	ranking->plans[index] = (struct gp_plan){ 0 };
	return name_file(gp_plan_asked(&ranking->plans[index], class->trace,
				       &options, diag),
			 class, diag);
}

enum gp_status gp_ranking_make(struct gp_ranking *ranking,
			       const struct gp_ranking_config *config,
			       struct gp_diag *diag)
{
	struct gp_ranks *ranks = &ranking->ranks;
	enum gp_status status;

	*ranking = (struct gp_ranking){ 0 };
	status = gp_rank_files(config->options, config->read, config->progress,
			       ranks, diag);
	if (status != GP_OK)
		return status;
	ranking->plans = gp_mem_alloc(ranks->count, sizeof(*ranking->plans));
	ranking->what_ifs =
		gp_mem_alloc(ranks->count, sizeof(*ranking->what_ifs));
	for (size_t i = 0; i < ranks->count && status == GP_OK; i++)
		status = make_plan(ranking, i, config, diag);
	if (status != GP_OK)
		return status;
	put_first(ranking, gp_ranks_lead(ranks));
	for (size_t i = 1; i < ranks->count && status == GP_OK; i++)
		if (!config->is_each_its_own)
			status = join_first(ranking, i, config->options, diag);
	return status;
}

enum gp_status gp_ranking_alter(struct gp_ranking *ranking,
				const struct gp_options *options,
				struct gp_progress *progress,
				struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < ranking->ranks.count && status == GP_OK; i++)
		status = name_file(gp_plan_alter(&ranking->plans[i], options,
						 progress,
						 &ranking->what_ifs[i], diag),
				   &ranking->ranks.classes[i], diag);
	return status;
}

enum gp_status gp_ranking_study(struct gp_ranking *ranking,
				const struct gp_options *options,
				struct gp_studying *studying,
				struct gp_progress *progress,
				struct gp_diag *diag)
{
	struct gp_ranks *ranks = &ranking->ranks;
	size_t cases = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		ranks->classes[i].first_case = cases;
		cases += ranks->classes[i].trace->device_count;
	}
	return name_file(gp_studying_of(studying, ranking->plans, ranks->count,
					options, progress, diag),
			 ranks->classes, diag);
}

void gp_ranking_release(struct gp_ranking *ranking)
{
	for (size_t i = 0; ranking->plans && i < ranking->ranks.count; i++) {
		gp_plan_release(&ranking->plans[i]);
		gp_what_ifs_release(&ranking->what_ifs[i]);
	}
	free(ranking->plans);
	free(ranking->what_ifs);
	gp_ranks_release(&ranking->ranks);
}

const struct gp_ranks *gp_ranking_ranks(const struct gp_ranking *ranking)
{
	const struct gp_ranks *ranks = &ranking->ranks;

	return ranks->files + ranks->unread_count > 1 ? ranks : NULL;
}

const char *gp_ranking_operand(const struct gp_options *options,
			       const struct gp_rank_class *class)
{
	return options->operand_count == 1 ? options->operands[0]
					   : class->paths[0];
}
