/* SPDX-License-Identifier: MIT */
/* The ranks of a job: reading, planning and replaying them. */
#include "commands/ranking.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/larger.h"
#include "base/mem.h"
#include "base/text.h"
#include "commands/output.h"
#include "commands/trace_file.h"
#include "gpupool/status.h"
#include "report/page.h"

/* A packed file that has the same content as another one. */
struct spare {
	char *path;	   /* owned */
	const char *plain; /* borrowed: read instead */
};

struct gp_paths {
	char **items;
	size_t count, room;
	struct spare *spares; /* read if the plain file cannot be */
	size_t spare_count, spare_room;
	bool *is_named; /* of the first named_count; the others are not */
	size_t named_count, named_room;
};

/* ---- files that operands name ---- */

/* More files than any job has ranks: probably the wrong folder. */
#define MOST_FILES   100000
/* torchrun's logs are at RUN/attempt_0/0/stderr.log below --log-dir. */
#define MOST_FOLDERS 4

static void add_path(struct gp_paths *paths, char *path)
{
	GP_GROW(paths->items, paths->count + 1, paths->room);
	paths->items[paths->count++] = path;
}

/* Adds a path that the user named. */
static void add_named(struct gp_paths *paths, char *path)
{
	add_path(paths, path);
	GP_GROW(paths->is_named, paths->count, paths->named_room);
	memset(paths->is_named + paths->named_count, 0,
	       (paths->count - paths->named_count) * sizeof(bool));
	paths->is_named[paths->count - 1] = true;
	paths->named_count = paths->count;
}

/* Whether the user named the path; a file found in a folder need not be a
 * trace. */
static bool is_named(const struct gp_paths *paths, size_t index)
{
	return index < paths->named_count && paths->is_named[index];
}

static char *join(const char *folder, const char *name)
{
	size_t length = strlen(folder), size = length + strlen(name) + 2;
	char *path = gp_mem_alloc(size, 1);

	snprintf(path, size, "%s%s%s", folder,
		 length && folder[length - 1] == '/' ? "" : "/", name);
	return path;
}

static int by_name(const void *left, const void *right)
{
	const char *a = *(char *const *)left, *b = *(char *const *)right;

	return gp_natural_order(a, strlen(a), b, strlen(b));
}

/* The name that a packed file has after unpacking, in text. */
static const char *unpacked(const char *path, char text[PATH_MAX])
{
	size_t length = strlen(path);

	gp_packing_of(path, &length);
	snprintf(text, PATH_MAX, "%.*s", (int)gp_smaller(length, PATH_MAX - 1),
		 path);
	return text;
}

/* The file with the same content as the packed one at that index: the plain
 * file, or an earlier packed one in the folder; NULL: there is none. */
static const char *plain_of(const struct gp_paths *paths, size_t first,
			    size_t index, char text[PATH_MAX])
{
	const char *path = paths->items[index], *plain = unpacked(path, text);
	char other[PATH_MAX];
	char **found;

	if (!strcmp(plain, path))
		return NULL;
	found = bsearch(&plain, paths->items + first, paths->count - first,
			sizeof(char *), by_name);
	if (found)
		return *found;
	if (index > first &&
	    !strcmp(unpacked(paths->items[index - 1], other), plain))
		return paths->items[index - 1];
	return NULL;
}

static void add_spare(struct gp_paths *paths, char *path, const char *plain)
{
	GP_GROW(paths->spares, paths->spare_count + 1, paths->spare_room);
	paths->spares[paths->spare_count++] = (struct spare){ path, plain };
}

/* A trace that is in the folder both packed and plain is one rank. */
static void drop_packed(struct gp_paths *paths, size_t first)
{
	size_t kept = first, count = paths->count;
	const char **plains = gp_mem_alloc(count - first + 1, sizeof(*plains));
	char text[PATH_MAX];

	for (size_t i = first; i < count; i++)
		plains[i - first] = plain_of(paths, first, i, text);
	for (size_t i = first; i < count; i++) {
		if (plains[i - first])
			add_spare(paths, paths->items[i], plains[i - first]);
		else
			paths->items[kept++] = paths->items[i];
	}
	paths->count = kept;
	free(plains);
}

static void paths_release(struct gp_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	for (size_t i = 0; i < paths->spare_count; i++)
		free(paths->spares[i].path);
	free(paths->items);
	free(paths->spares);
	free(paths->is_named);
	*paths = (struct gp_paths){ 0 };
}

/* Adds an entry of a folder: a file to the paths, a folder to the folders. */
static void add_entry(struct gp_paths *paths, struct gp_paths *folders,
		      const char *folder, const char *name)
{
	char *path = join(folder, name);
	struct stat info;

	/* A dangling link is added, too: reading it reports the error. */
	if (stat(path, &info) || S_ISREG(info.st_mode))
		add_path(paths, path);
	else if (S_ISDIR(info.st_mode))
		add_path(folders, path);
	else
		free(path);
}

static enum gp_status add_files(struct gp_paths *paths, const char *folder,
				unsigned depth, struct gp_diag *diag);

/* Replaces a folder that has only folders by these. */
static enum gp_status add_folders(struct gp_paths *paths,
				  const struct gp_paths *folders,
				  unsigned depth, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < folders->count && status == GP_OK; i++)
		status = add_files(paths, folders->items[i], depth, diag);
	return status;
}

/* Adds the files of a folder, in no order, without hidden ones. */
static enum gp_status add_files(struct gp_paths *paths, const char *folder,
				unsigned depth, struct gp_diag *diag)
{
	struct gp_paths folders = { 0 };
	size_t before = paths->count;
	enum gp_status status = GP_OK;
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (!dir) {
		gp_diag_file(diag, folder);
		return gp_diag_set(diag, gp_file_status(errno), "%s",
				   strerror(errno));
	}
	while (paths->count <= MOST_FILES && folders.count <= MOST_FILES &&
	       (entry = readdir(dir)))
		if (*entry->d_name != '.')
			add_entry(paths, &folders, folder, entry->d_name);
	closedir(dir);
	if (paths->count == before && depth)
		status = add_folders(paths, &folders, depth - 1, diag);
	paths_release(&folders);
	return status;
}

/* Adds a file, or the files of a folder by name. */
static enum gp_status paths_add(struct gp_paths *paths, const char *path,
				struct gp_diag *diag)
{
	size_t before = paths->count;
	enum gp_status status;

	if (!gp_file_is_folder(path)) {
		add_named(paths, gp_mem_copy_text(path, strlen(path)));
		return GP_OK;
	}
	status = add_files(paths, path, MOST_FOLDERS, diag);
	if (status != GP_OK)
		return status;
	if (paths->count > before) {
		qsort(paths->items + before, paths->count - before,
		      sizeof(char *), by_name);
		drop_packed(paths, before);
	}
	if (paths->count > before && paths->count <= MOST_FILES)
		return GP_OK;
	gp_diag_file(diag, path);
	if (paths->count > MOST_FILES)
		return gp_diag_set(
			diag, GP_INPUT,
			"there are more than %d files in this folder",
			MOST_FILES);
	return gp_diag_set(diag, GP_INPUT, "there are no files in this folder");
}

/* ---- reading them ---- */

static void print_unread(const struct gp_diag *diag,
			 struct gp_progress *progress, const char *path,
			 const char *fate)
{
	gp_progress_end(progress);
	gp_notice("gpupool: %s: %s%s%s: %s\n", path, diag->record,
		  *diag->record ? ": " : "", fate, diag->what);
}

/* A file that is not a trace, and what it is instead. */
struct passed {
	char *path, *what; /* owned */
};

struct reading {
	struct gp_paths paths;
	struct passed *passed;
	size_t passed_count, passed_room;
	struct gp_diag foreign; /* for the last of them that the user named */
	gp_rank_visitor *visit; /* NULL: keep the traces */
	void *arg;
	struct gp_progress *progress;
	struct gp_ranks *ranks;
};

static void add(const struct reading *r, const char *path,
		struct gp_trace *trace)
{
	size_t before = r->ranks->count;

	gp_ranks_add(r->ranks, path, trace);
	if (r->visit && r->ranks->count > before) {
		r->visit(r->arg, &r->ranks->classes[before]);
		gp_rank_class_drop(&r->ranks->classes[before]);
	}
}

/* An empty file with a trace's name is a rank that was never written. */
static bool is_unwritten(const char *path)
{
	static const char *const ends[] = { ".json", ".jsonl", ".pickle",
					    ".pkl",  ".gpt",   ".gz",
					    ".zst" };
	struct stat status;

	if (stat(path, &status) || status.st_size)
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (gp_path_ends(path, strlen(path), ends[i]))
			return true;
	return false;
}

static enum gp_status read_trace(const struct reading *r, const char *path,
				 struct gp_trace **trace, struct gp_diag *diag)
{
	return r->visit ? gp_trace_file_read_requests(path, r->progress, trace,
						      diag)
			: gp_trace_file_read(path, r->progress, trace, diag);
}

/* Reads a packed form of a file that cannot be read. */
static bool read_spare(const struct reading *r, const char *path,
		       const struct gp_diag *why)
{
	for (size_t i = 0; i < r->paths.spare_count; i++) {
		const struct spare *spare = &r->paths.spares[i];
		struct gp_diag diag = { 0 };
		struct gp_trace *trace;

		if (strcmp(spare->plain, path) != 0 ||
		    read_trace(r, spare->path, &trace, &diag) != GP_OK)
			continue;
		gp_progress_end(r->progress);
		gp_notice("gpupool: %s: %s%scannot be read, but %s is beside "
			  "it: %s\n",
			  path, why->record, *why->record ? ": " : "",
			  gp_page_name(spare->path), why->what);
		add(r, spare->path, trace);
		return true;
	}
	return false;
}

/* Reports the packed files that were skipped because this one was read. */
static void print_spares(const struct reading *r, const char *path)
{
	for (size_t i = 0; i < r->paths.spare_count; i++) {
		const struct spare *spare = &r->paths.spares[i];

		if (strcmp(spare->plain, path) != 0)
			continue;
		gp_progress_end(r->progress);
		gp_notice("gpupool: %s: skipped: %s is beside it\n",
			  spare->path, gp_page_name(path));
	}
}

static void pass(struct reading *r, size_t index, const struct gp_diag *why)
{
	const char *path = r->paths.items[index];

	GP_GROW(r->passed, r->passed_count + 1, r->passed_room);
	r->passed[r->passed_count++] = (struct passed){
		.path = gp_mem_copy_text(path, strlen(path)),
		.what = gp_mem_copy_text(why->what, strlen(why->what)),
	};
}

/* Reports a file of a folder that could not be read. */
static void leave_out(struct reading *r, size_t index,
		      const struct gp_diag *why)
{
	const char *path = r->paths.items[index];

	if (why->is_foreign && !is_unwritten(path)) {
		pass(r, index, why);
		return;
	}
	gp_ranks_add_unread(r->ranks, path, why->what);
	print_unread(why, r->progress, path, "cannot be read");
}

static enum gp_status read_one(struct reading *r, size_t index,
			       struct gp_diag *diag)
{
	const char *path = r->paths.items[index];
	struct gp_trace *trace;
	enum gp_status status = read_trace(r, path, &trace, diag);

	if (status == GP_OK) {
		print_spares(r, path);
		add(r, path, trace);
		return GP_OK;
	}
	if (!*diag->file)
		gp_diag_file(diag, path);
	if (is_named(&r->paths, index)) {
		/* Other files that the user named may be logs, too. */
		if (!diag->is_foreign || !r->progress->unknown.take)
			return status;
		pass(r, index, diag);
		r->foreign = *diag;
	} else if (!read_spare(r, path, diag)) {
		leave_out(r, index, diag);
	}
	*diag = (struct gp_diag){ 0 };
	return GP_OK;
}

/* Says which files are not traces; if there are no traces at all, the command
 * for other files does that. */
static void print_passed(const struct reading *r)
{
	if (*r->foreign.what || (!r->ranks->count && r->progress->unknown.take))
		return;
	gp_progress_end(r->progress);
	for (size_t i = 0; i < r->passed_count; i++)
		gp_notice("gpupool: %s: skipped: %s\n", r->passed[i].path,
			  r->passed[i].what);
}

static enum gp_status fail_empty(const struct reading *r, const char *operand,
				 struct gp_diag *diag)
{
	if (*r->foreign.what) {
		*diag = r->foreign;
		diag->is_foreign = !r->ranks->count;
		return GP_INPUT;
	}
	gp_diag_file(diag, operand);
	if (r->ranks->unread_count)
		return gp_diag_set(diag, GP_INPUT,
				   "no trace in this folder can be read");
	if (r->progress->unknown.take)
		gp_diag_hint(diag, "nor the log of a program that ran out of "
				   "memory");
	return gp_diag_foreign(diag, "there are no traces in this folder");
}

static void reading_release(struct reading *r)
{
	paths_release(&r->paths);
	for (size_t i = 0; i < r->passed_count; i++) {
		free(r->passed[i].path);
		free(r->passed[i].what);
	}
	free(r->passed);
}

enum gp_status gp_rank_each(const char *const *operands, size_t count,
			    gp_rank_visitor *visit, void *arg,
			    struct gp_progress *progress,
			    struct gp_ranks *ranks, struct gp_diag *diag)
{
	struct reading r = {
		.visit = visit, .arg = arg, .progress = progress, .ranks = ranks
	};
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < count && status == GP_OK; i++)
		status = paths_add(&r.paths, operands[i], diag);
	for (size_t i = 0; i < r.paths.count && status == GP_OK; i++)
		status = read_one(&r, i, diag);
	print_passed(&r);
	if (status == GP_OK && (!ranks->count || *r.foreign.what))
		status = fail_empty(&r, operands[0], diag);
	gp_ranks_sort(ranks);
	reading_release(&r);
	return status;
}

enum gp_status gp_rank_files(const char *const *operands, size_t count,
			     struct gp_progress *progress,
			     struct gp_ranks *ranks, struct gp_diag *diag)
{
	return gp_rank_each(operands, count, NULL, NULL, progress, ranks, diag);
}

enum gp_status gp_rank_files_verdict(const struct gp_ranks *ranks,
				     struct gp_diag *diag)
{
	if (!ranks->unread_count)
		return GP_OK;
	gp_diag_file(diag, ranks->unread->path);
	diag->is_partial = true;
	return gp_diag_set(
		diag, GP_INPUT,
		"%zu of %zu traces cannot be read: the report leaves them out",
		ranks->unread_count, ranks->unread_count + ranks->files);
}

enum gp_status gp_rank_files_requests(const struct gp_ranks *ranks,
				      struct gp_diag *diag)
{
	const struct gp_rank_class *first = ranks->classes;

	return gp_ranks_busy(ranks)
		       ? GP_OK
		       : gp_trace_file_is_idle(first->trace, first->paths[0],
					       diag);
}

/* ---- results of replays ---- */

static struct gp_rank_run rank_run_of(const struct gp_replay_result *result)
{
	return (struct gp_rank_run){
		.is_there = result->requests,
		.reserved = result->at_peak.reserved,
		.allocated = gp_replay_peak_allocated(result),
		.ooms = (uint64_t)result->ooms.count,
		.dropped = result->dropped,
		.retries = (uint64_t)result->counts.retries,
		.checked = result->fidelity.checked,
		.matched = result->fidelity.matched,
	};
}

void gp_rank_runs_note(struct gp_rank_runs *runs, struct gp_ranks *ranks,
		       size_t class, const struct gp_plan *plan)
{
	struct gp_rank_class *c = &ranks->classes[class];

	free(c->conf);
	c->conf = gp_mem_copy_text(plan->conf, strlen(plan->conf));
	c->release = plan->settings.release;
	for (size_t d = 0; d < c->trace->device_count; d++)
		runs->runs[c->first_case + d] = rank_run_of(&plan->results[d]);
}

void gp_rank_runs_trouble(struct gp_rank_runs *runs, size_t class,
			  const struct gp_diag *why)
{
	free(runs->troubles[class]);
	runs->troubles[class] = gp_mem_copy_text(why->what, strlen(why->what));
}

/* ---- plans ---- */

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

/* Replays a class under the release and settings of the first one. */
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
	options.knobs = NULL; /* they are part of the settings */
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
	status = gp_rank_files(config->options->operands,
			       config->options->operand_count, config->progress,
			       ranks, diag);
	if (status == GP_OK && config->needs_requests)
		status = gp_rank_files_requests(ranks, diag);
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
				const struct gp_plan *plans,
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
	return name_file(gp_studying_of(studying, plans, ranks->count, options,
					progress, diag),
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

size_t gp_ranking_worst(const struct gp_ranking *ranking,
			const struct gp_studying *studying)
{
	const struct gp_study *study = &studying->study;

	return gp_ranks_class_of(
		&ranking->ranks,
		gp_verdict_worst(study->verdicts, study->case_count));
}

/* The need as recorded; if the trace begins with more than the device has, what
 * it begins with. */
static uint64_t least_need(const struct gp_verdict *v)
{
	return gp_larger(v->need_as_recorded, v->is_unplayable ? v->start : 0);
}

size_t gp_ranking_neediest(const struct gp_ranking *ranking,
			   const struct gp_studying *studying)
{
	const struct gp_study *study = &studying->study;
	const struct gp_ranks *ranks = &ranking->ranks;
	size_t count = study->case_count, busy = gp_ranks_busy(ranks), most;

	if (busy && busy < ranks->count)
		count = ranks->classes[busy].first_case;
	most = gp_verdict_worst(study->verdicts, count);
	for (size_t i = 0; i < count; i++)
		if (least_need(&study->verdicts[i]) >
		    least_need(&study->verdicts[most]))
			most = i;
	return gp_ranks_class_of(ranks, most);
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
