/* SPDX-License-Identifier: MIT */
/* gpupool diff: two runs, and a breakdown of their difference. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "commands/command.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "commands/studying.h"
#include "commands/trace_file.h"
#include "report/change_report.h"
#include "report/head.h"
#include "report/page.h"
#include "trace/ranks.h"

/* A trace, and a run of it. */
struct side {
	const char *path, *name;
	const struct gp_trace *trace; /* borrowed */
	struct gp_plan plan;
	struct gp_breakdown *breakdowns; /* by device */
	struct gp_estimate *estimates;	 /* by device; NULL: none */
	uint64_t *moments;		 /* by device; GP_AT_FULLEST: its own */
};

/* Two classes of ranks that are compared; they stand for that many pairs of
 * files. */
struct class_pair {
	const struct gp_rank_class *a, *b; /* borrowed */
	/* From the first pair; a name is the path below the operand's
	 * folder. */
	const char *a_path, *b_path, *a_name, *b_name;
	size_t files;
};

struct class_pairs {
	struct class_pair *items; /* owned */
	size_t count, room;
	/* Files without a counterpart, and one of them; NULL: none. */
	size_t only_a, only_b;
	const char *a_name, *b_name;
	/* Files whose counterpart could not be read, and one of those. */
	size_t lost_a, lost_b;
	const struct gp_rank_unread *a_lost, *b_lost;
};

/* How much more B may reserve: "2%" or "100MiB". */
struct limit {
	bool is_there, is_share;
	uint64_t bytes;
	double percent;
};

/* ---- which ranks of two jobs are compared: files by name ---- */

struct rank_file {
	const char *path, *name;
	size_t length; /* of the name, without .gz or .zst */
	const struct gp_rank_class *class;   /* NULL: it could not be read */
	const struct gp_rank_unread *unread; /* NULL: it could be read */
};

struct rank_files {
	struct rank_file *items; /* owned; by name */
	size_t count;
	bool is_folder; /* else the user named the file */
};

static int by_name(const void *left, const void *right)
{
	const struct rank_file *a = left, *b = right;

	return gp_natural_order(a->name, a->length, b->name, b->length);
}

/* A file in a folder is known by its path below it. */
static struct rank_file file_of(const char *path, const char *folder)
{
	struct rank_file file = { .path = path, .name = gp_page_name(path) };

	if (folder)
		for (file.name = path + strlen(folder); *file.name == '/';)
			file.name++;
	file.length = strlen(file.name);
	gp_packing_of(file.name, &file.length);
	return file;
}

/* All files, including those that could not be read. The caller frees the
 * list. */
static struct rank_files list_files(const struct gp_ranks *ranks,
				    const char *operand)
{
	size_t most = ranks->files + ranks->unread_count, n = 0;
	struct rank_files files = {
		.items = gp_mem_alloc(most + 1, sizeof(*files.items)),
		.is_folder = gp_file_is_folder(operand),
	};
	const char *folder = files.is_folder ? operand : NULL;

	for (size_t i = 0; i < ranks->count; i++)
		for (size_t k = 0; k < ranks->classes[i].count; k++) {
			files.items[n] =
				file_of(ranks->classes[i].paths[k], folder);
			files.items[n++].class = &ranks->classes[i];
		}
	for (size_t i = 0; i < ranks->unread_count; i++) {
		files.items[n] = file_of(ranks->unread[i].path, folder);
		files.items[n++].unread = &ranks->unread[i];
	}
	files.count = n;
	qsort(files.items, n, sizeof(*files.items), by_name);
	return files;
}

/* ---- pairs ---- */

static void add_classes(struct class_pairs *pairs, const struct rank_file *a,
			const struct rank_file *b)
{
	size_t i = 0;

	while (i < pairs->count &&
	       (pairs->items[i].a != a->class || pairs->items[i].b != b->class))
		i++;
	if (i == pairs->count) {
		GP_GROW(pairs->items, pairs->count + 1, pairs->room);
		pairs->items[pairs->count++] = (struct class_pair){
			.a = a->class,
			.b = b->class,
			.a_path = a->path,
			.b_path = b->path,
			.a_name = a->name,
			.b_name = b->name,
		};
	}
	pairs->items[i].files++;
}

static void add_pair(struct class_pairs *pairs, const struct rank_file *a,
		     const struct rank_file *b)
{
	if (a->class && b->class)
		add_classes(pairs, a, b);
	else if (a->class && !pairs->lost_b++)
		pairs->b_lost = b->unread;
	else if (b->class && !pairs->lost_a++)
		pairs->a_lost = a->unread;
}

/* A file that could not be read is not also reported as lacking a
 * counterpart. */
static void note_single(size_t *count, const char **name,
			const struct rank_file *file)
{
	if (file->class && !(*count)++)
		*name = file->name;
}

/* Pairs files of the same name; both lists are sorted. */
static void pair_by_name(const struct rank_files *a, const struct rank_files *b,
			 struct class_pairs *pairs)
{
	size_t i = 0, k = 0;

	while (i < a->count || k < b->count) {
		const struct rank_file *x = &a->items[i], *y = &b->items[k];
		int order = i == a->count   ? 1
			    : k == b->count ? -1
					    : by_name(x, y);

		if (!order)
			add_pair(pairs, x, y);
		else if (order < 0)
			note_single(&pairs->only_a, &pairs->a_name, x);
		else
			note_single(&pairs->only_b, &pairs->b_name, y);
		i += order <= 0;
		k += order >= 0;
	}
}

static void pair_files(const struct rank_files *a, const struct rank_files *b,
		       struct class_pairs *pairs)
{
	size_t most = a->count > b->count ? a->count : b->count;

	if ((a->count > 1 && b->count > 1) || (a->is_folder && b->is_folder))
		pair_by_name(a, b, pairs);
	if (pairs->count || pairs->lost_a || pairs->lost_b ||
	    (a->count != b->count && a->count > 1 && b->count > 1))
		return;
	*pairs = (struct class_pairs){ .items = pairs->items,
				       .room = pairs->room };
	for (size_t i = 0; i < most; i++)
		add_pair(pairs, &a->items[a->count > 1 ? i : 0],
			 &b->items[b->count > 1 ? i : 0]);
}

static enum gp_status no_pair(const struct class_pairs *pairs,
			      struct gp_diag *diag)
{
	const struct gp_rank_unread *lost =
		pairs->b_lost ? pairs->b_lost : pairs->a_lost;

	if (lost) {
		gp_diag_file(diag, lost->path);
		return gp_diag_set(diag, GP_INPUT,
				   "it cannot be read (%.200s), and nothing "
				   "else has the name of one of the others",
				   lost->reason);
	}
	gp_diag_hint(diag, "files are compared by their names, or in their "
			   "order where there are as many");
	return gp_diag_set(
		diag, GP_INPUT,
		"none of its files has the name of one of the others");
}

/* Pairs ranks by file name. If no name matches but the counts are equal, pairs
 * them in the order of their names; a single file is paired with each file of
 * the other side. GP_INPUT: nothing matches. */
static enum gp_status pair_ranks(const struct gp_ranks *a, const char *a_path,
				 const struct gp_ranks *b, const char *b_path,
				 struct class_pairs *pairs,
				 struct gp_diag *diag)
{
	struct rank_files left = list_files(a, a_path);
	struct rank_files right = list_files(b, b_path);

	pair_files(&left, &right, pairs);
	free(left.items);
	free(right.items);
	return pairs->count ? GP_OK : no_pair(pairs, diag);
}

/* ---- a trace, replayed ---- */

static enum gp_status take(struct side *side, struct gp_progress *progress,
			   struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	side->breakdowns = gp_mem_alloc(side->trace->device_count + 1,
					sizeof(*side->breakdowns));
	for (uint32_t i = 0; i < side->trace->device_count && status == GP_OK;
	     i++) {
		struct gp_replay_config config = gp_plan_config(&side->plan, i);

		gp_progress_step(progress, "replaying");
		status = gp_breakdown_take_at(&config, side->moments[i],
					      &side->breakdowns[i],
					      &side->plan.results[i], diag);
	}
	return status;
}

/* options NULL: as recorded. The moments have to be set. */
static enum gp_status side_make(struct side *side,
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
	if (status == GP_OK)
		status = gp_estimating_make(&side->plan, side->trace,
					    &side->estimates, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, side->path);
	return status;
}

static void side_forget(struct side *side)
{
	gp_plan_release(&side->plan);
	free(side->breakdowns);
	free(side->estimates);
	side->breakdowns = NULL;
	side->estimates = NULL;
}

static void side_release(struct side *side)
{
	side_forget(side);
	free(side->moments);
	side->moments = NULL;
}

/* ---- the limit ---- */

static enum gp_status limit_parse(const char *text, struct limit *limit,
				  struct gp_diag *diag)
{
	*limit = (struct limit){ .is_there = true };
	limit->is_share = gp_percent_parse(text, &limit->percent);
	if (limit->is_share || gp_bytes_parse(text, &limit->bytes))
		return GP_OK;
	gp_diag_hint(diag, "see: gpupool help diff");
	return gp_diag_set(diag, GP_USAGE,
			   "--fail-over %s: not a share such as 2%% or a size "
			   "such as 100MiB",
			   text);
}

static uint64_t most_more(const struct limit *limit, uint64_t than)
{
	return limit->is_share ? gp_percent_of(than, limit->percent)
			       : limit->bytes;
}

static uint64_t reserved_by(const struct gp_change_side *side)
{
	return side->estimate ? side->estimate->reserved
			      : side->breakdown.reserved;
}

static enum gp_status say_over(const struct limit *limit,
			       const struct gp_change *change, uint64_t more,
			       struct gp_diag *diag)
{
	char by[GP_BYTES_TEXT], allowed[GP_BYTES_TEXT + 8];

	gp_bytes_text(more, by);
	gp_bytes_text(limit->bytes, allowed);
	if (limit->is_share) {
		snprintf(allowed, sizeof(allowed), "%g %%", limit->percent);
	} else if (!strcmp(by, allowed)) {
		gp_bytes_exact(more, by);
		gp_bytes_exact(limit->bytes, allowed);
	}
	gp_diag_file(diag, change->b.path);
	return gp_diag_set(
		diag, GP_FAILED, "it %s %s more at the peak; %s is allowed",
		change->b.estimate ? "is estimated to reserve" : "reserves", by,
		allowed);
}

/* GP_FAILED if some device reserves more than the limit allows. */
static enum gp_status limit_hold(const struct limit *limit,
				 const struct gp_change *changes, size_t count,
				 struct gp_diag *diag)
{
	for (size_t i = 0; limit->is_there && i < count; i++) {
		uint64_t a = reserved_by(&changes[i].a);
		uint64_t b = reserved_by(&changes[i].b);

		if (b > a && b - a > most_more(limit, a))
			return say_over(limit, &changes[i], b - a, diag);
	}
	return GP_OK;
}

/* Two classes of ranks that are compared. */
struct pair {
	struct side a, b;
};

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	const char *a_path, *b_path; /* b: NULL when there is one */
	struct gp_ranks a_ranks, b_ranks;
	struct class_pairs pairs;
	struct pair *replayed; /* by pair */
	struct gp_report_run *a_runs, *b_runs;
	size_t a_count, b_count;
	struct gp_change *changes;
	struct gp_divergence *divergences;
	size_t change_count;
	struct gp_change_ranks ranks; /* of reports and single files: zero */
	bool has_dropped_idle;
	size_t lone;  /* devices that only one side has */
	size_t alone; /* runs of other devices that only one report has */
	struct limit limit;
	struct gp_progress progress;
};

/* ---- two traces, or one under other settings ---- */

/* Whether two devices are compared: each is the only one, or they have the same
 * ordinal. */
static bool is_pair(const struct pair *p, uint32_t i, uint32_t k)
{
	const struct gp_trace *a = p->a.trace, *b = p->b.trace;

	return (a->device_count == 1 && b->device_count == 1) ||
	       a->devices[i].device == b->devices[k].device;
}

static bool asks_the_same(const struct pair *p, uint32_t i, uint32_t k)
{
	struct gp_divergence divergence;

	if (p->a.trace == p->b.trace)
		return true;
	divergence = gp_divergence_find(p->a.trace, i, p->b.trace, k);
	return !divergence.is_there && !divergence.starts_differ;
}

static uint64_t *unset(const struct gp_trace *trace)
{
	uint64_t *moments =
		gp_mem_alloc(trace->device_count + 1, sizeof(*moments));

	for (size_t i = 0; i < trace->device_count; i++)
		moments[i] = GP_AT_FULLEST;
	return moments;
}

static void choose_moment(struct pair *p, uint32_t i, uint32_t k,
			  enum gp_refusals refusals)
{
	p->a.moments[i] = gp_breakdown_moment(p->a.trace, i, refusals);
	p->b.moments[k] = gp_breakdown_moment(p->b.trace, k, refusals);
}

/* Runs of the same requests are compared at the moment at which the program
 * holds most; other runs each at their own peak of reserved memory. */
static void choose_moments(struct pair *p)
{
	const struct gp_trace *a = p->a.trace, *b = p->b.trace;

	p->a.moments = unset(a);
	p->b.moments = unset(b);
	for (uint32_t i = 0; i < a->device_count; i++)
		for (uint32_t k = 0; k < b->device_count; k++)
			if (is_pair(p, i, k) && asks_the_same(p, i, k))
				choose_moment(p, i, k, GP_REFUSALS_COUNT);
}

/* If neither run serves everything, neither reaches the most that the program
 * would hold: then requests that failed do not count. Returns whether that
 * changes a moment. */
static bool choose_held(struct pair *p)
{
	bool is_changed = false;

	for (uint32_t i = 0; i < p->a.trace->device_count; i++)
		for (uint32_t k = 0; k < p->b.trace->device_count; k++) {
			uint64_t before = p->a.moments[i];

			if (!is_pair(p, i, k) || before == GP_AT_FULLEST ||
			    !p->a.breakdowns[i].dropped ||
			    !p->b.breakdowns[k].dropped)
				continue;
			choose_moment(p, i, k, GP_REFUSALS_DO_NOT_COUNT);
			is_changed |= p->a.moments[i] != before;
		}
	return is_changed;
}

static enum gp_status read_ranks(struct session *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_rank_files(&s->a_path, 1, &s->progress, &s->a_ranks, diag);

	if (status == GP_OK && s->b_path)
		status = gp_rank_files(&s->b_path, 1, &s->progress, &s->b_ranks,
				       diag);
	if (status != GP_OK)
		return status;
	if (!s->b_path)
		return pair_ranks(&s->a_ranks, s->a_path, &s->a_ranks,
				  s->a_path, &s->pairs, diag);
	gp_diag_file(diag, s->b_path);
	return pair_ranks(&s->a_ranks, s->a_path, &s->b_ranks, s->b_path,
			  &s->pairs, diag);
}

/* Under other settings, a state without requests shows nothing. */
static enum gp_status drop_idle(struct session *s, struct gp_diag *diag)
{
	size_t kept = 0;

	if (!gp_plan_is_asked(s->options))
		return GP_OK;
	for (size_t i = 0; i < s->pairs.count; i++)
		if (!s->pairs.items[i].a->is_idle &&
		    !s->pairs.items[i].b->is_idle)
			s->pairs.items[kept++] = s->pairs.items[i];
	s->pairs.count = kept;
	s->has_dropped_idle = true;
	if (kept)
		return GP_OK;
	return gp_rank_files_requests(
		gp_ranks_busy(&s->a_ranks) ? &s->b_ranks : &s->a_ranks, diag);
}

/* With one trace, A is the run as recorded. With two, the settings apply to
 * both. */
static enum gp_status make_sides(struct session *s, struct pair *p,
				 struct gp_diag *diag)
{
	const struct gp_options *asked =
		gp_plan_is_asked(s->options) ? s->options : NULL;
	enum gp_status status =
		side_make(&p->a, s->b_path ? asked : NULL, &s->progress, diag);

	if (status == GP_OK)
		status = side_make(&p->b, asked, &s->progress, diag);
	return status;
}

static enum gp_status replay(struct session *s, size_t index,
			     struct gp_diag *diag)
{
	const struct class_pair *pair = &s->pairs.items[index];
	struct pair *p = &s->replayed[index];
	enum gp_status status;

	p->a.path = pair->a_path;
	p->a.name = pair->a_name;
	p->a.trace = pair->a->trace;
	p->b.path = pair->b_path;
	p->b.name = pair->b_name;
	p->b.trace = pair->b->trace;
	choose_moments(p);
	status = make_sides(s, p, diag);
	if (status != GP_OK || !choose_held(p))
		return status;
	side_forget(&p->a);
	side_forget(&p->b);
	return make_sides(s, p, diag);
}

static struct gp_change_side side_of(const struct side *side, uint32_t device)
{
	struct gp_run run = gp_plan_run(&side->plan);
	struct gp_refused_room recorded;
	bool is_beyond =
		gp_run_refused_room(side->trace, &run, device, &recorded);

	run.estimates = side->estimates;
	return (struct gp_change_side){
		.estimate = gp_run_estimate(&run, device),
		.recorded =
			is_beyond ? recorded : (struct gp_refused_room){ 0 },
		.path = side->path,
		.name = side->name,
		.conf = side->plan.conf,
		.engine = side->plan.engine->name,
		.release = side->plan.settings.release,
		.mode = run.mode,
		.capacity = side->plan.capacity[device],
		.trace = side->trace,
		.breakdown = side->breakdowns[device],
	};
}

static size_t match(const struct side *a, uint32_t i, const struct side *b,
		    uint32_t k, enum gp_sharing sharing,
		    const struct gp_share_pair **pairs)
{
	struct gp_share *x, *y;
	struct gp_share_pair *matched;
	size_t x_count =
		gp_share_out(a->trace, i, &a->plan.results[i], sharing, &x);
	size_t y_count =
		gp_share_out(b->trace, k, &b->plan.results[k], sharing, &y);
	size_t count = gp_share_match(x, x_count, y, y_count, &matched);

	free(x);
	free(y);
	*pairs = matched;
	return count;
}

static void compare_devices(struct session *s, size_t index, uint32_t i,
			    uint32_t k)
{
	struct pair *p = &s->replayed[index];
	struct gp_change *change = &s->changes[s->change_count];
	struct gp_divergence *divergence = &s->divergences[s->change_count++];

	*change = (struct gp_change){
		.device = p->a.trace->devices[i].device,
		.a = side_of(&p->a, i),
		.b = side_of(&p->b, k),
		.is_same = p->a.moments[i] != GP_AT_FULLEST,
		.files = s->ranks.a ? s->pairs.items[index].files : 0,
	};
	change->site_count =
		match(&p->a, i, &p->b, k, GP_SHARE_BY_SITE, &change->sites);
	change->size_count =
		match(&p->a, i, &p->b, k, GP_SHARE_BY_SIZE, &change->sizes);
	if (!s->b_path)
		return;
	*divergence = gp_divergence_find(p->a.trace, i, p->b.trace, k);
	change->divergence = divergence;
}

/* The number of requests that B loses beyond those that A loses. Losing fewer
 * counts as 0. */
static uint64_t lost_of(const struct gp_change *change)
{
	uint64_t a = change->a.breakdown.dropped;
	uint64_t b = change->b.breakdown.dropped;

	return b > a ? b - a : 0;
}

static int64_t growth_of(const struct gp_change *change)
{
	return (int64_t)(change->b.breakdown.reserved -
			 change->a.breakdown.reserved);
}

/* Whether change a is worse: more requests lost, or more reserved. */
static bool is_worse(const struct gp_change *a, const struct gp_change *b)
{
	uint64_t lost = lost_of(a), others = lost_of(b);

	return lost != others ? lost > others : growth_of(a) > growth_of(b);
}

static bool has_pair(const struct pair *p, const struct side *side, uint32_t i)
{
	const struct side *other = side == &p->a ? &p->b : &p->a;

	for (uint32_t k = 0; k < other->trace->device_count; k++)
		if (side == &p->a ? is_pair(p, i, k) : is_pair(p, k, i))
			return true;
	return false;
}

/* Reports a device that only one of the two has. */
static void note_lone(struct session *s, const char *path, uint32_t device,
		      const char *kind)
{
	s->lone++;
	gp_progress_end(&s->progress);
	gp_notice("gpupool: %s: device %u is not compared: the other %s has "
		  "none\n",
		  path, device, kind);
}

static void note_lone_of(struct session *s, const struct pair *p,
			 const struct side *side)
{
	for (uint32_t i = 0; i < side->trace->device_count; i++)
		if (!has_pair(p, side, i))
			note_lone(s, side->path, side->trace->devices[i].device,
				  "trace");
}

static void compare(struct session *s, size_t index)
{
	const struct pair *p = &s->replayed[index];
	const struct gp_trace *a = p->a.trace, *b = p->b.trace;
	size_t first = s->change_count, worst = s->ranks.first;

	for (uint32_t i = 0; i < a->device_count; i++)
		for (uint32_t k = 0; k < b->device_count; k++)
			if (is_pair(p, i, k))
				compare_devices(s, index, i, k);
	note_lone_of(s, p, &p->a);
	note_lone_of(s, p, &p->b);
	for (size_t i = first; i < s->change_count; i++)
		if (!i || is_worse(&s->changes[i], &s->changes[worst])) {
			worst = i;
			s->ranks.first = first;
			s->ranks.count = s->change_count - first;
		}
}

static bool is_ranks(const struct gp_ranks *ranks)
{
	return ranks->files + ranks->unread_count > 1;
}

static enum gp_status compare_ranks(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	size_t most = 0;

	if (is_ranks(&s->a_ranks) || is_ranks(&s->b_ranks)) {
		s->ranks.a = &s->a_ranks;
		s->ranks.b = s->b_path ? &s->b_ranks : NULL;
		s->ranks.tells_idle = s->has_dropped_idle;
		s->ranks.only_a = s->pairs.only_a;
		s->ranks.only_b = s->pairs.only_b;
		s->ranks.a_name = s->pairs.a_name;
		s->ranks.b_name = s->pairs.b_name;
		s->ranks.lost_a = s->pairs.lost_a;
		s->ranks.lost_b = s->pairs.lost_b;
		s->ranks.a_lost = s->pairs.a_lost;
		s->ranks.b_lost = s->pairs.b_lost;
	}
	for (size_t i = 0; i < s->pairs.count; i++)
		most += s->pairs.items[i].a->trace->device_count;
	s->changes = gp_mem_alloc(most + 1, sizeof(*s->changes));
	s->divergences = gp_mem_alloc(most + 1, sizeof(*s->divergences));
	s->replayed = gp_mem_alloc(s->pairs.count + 1, sizeof(*s->replayed));
	for (size_t i = 0; i < s->pairs.count && status == GP_OK; i++) {
		status = replay(s, i, diag);
		if (status == GP_OK)
			compare(s, i);
	}
	return status;
}

static enum gp_status diff_traces(struct session *s, struct gp_diag *diag)
{
	enum gp_status status;

	if (!s->b_path && !gp_plan_is_asked(s->options))
		return gp_diag_usage(
			diag, "diff",
			"it takes two traces, or one and settings",
			"for example: gpupool diff TRACE --max-split-mb 128");
	status = read_ranks(s, diag);
	if (status == GP_OK)
		status = drop_idle(s, diag);
	if (status == GP_OK)
		status = compare_ranks(s, diag);
	return status;
}

/* ---- two reports ---- */

static void note_alone(struct session *s, const char *path, size_t alone,
		       size_t count)
{
	if (!alone)
		return;
	s->alone += alone;
	gp_progress_end(&s->progress);
	gp_notice("gpupool: %s: %zu of %zu run%s %s not compared: the other "
		  "report has none alike\n",
		  path, alone, count, count > 1 ? "s" : "",
		  alone > 1 ? "are" : "is");
}

static void note_lone_runs(struct session *s, const char *path,
			   const struct gp_report_run *runs, size_t count,
			   const struct gp_report_run *others,
			   size_t other_count)
{
	for (size_t i = 0; i < count; i++)
		if (!gp_report_runs_of(runs, i, runs[i].device) &&
		    !gp_report_runs_of(others, other_count, runs[i].device))
			note_lone(s, path, runs[i].device, "report");
	note_alone(s, path,
		   gp_report_runs_alone(runs, count, others, other_count),
		   count);
}

static enum gp_status diff_reports(struct session *s, struct gp_diag *diag)
{
	enum gp_status status;

	if (gp_plan_is_asked(s->options))
		return gp_diag_usage(
			diag, "diff", "reports were made under their settings",
			"compare the traces to replay them under others");
	status = gp_report_read(s->a_path, &s->a_runs, &s->a_count, diag);
	if (status == GP_OK)
		status = gp_report_read(s->b_path, &s->b_runs, &s->b_count,
					diag);
	if (status != GP_OK)
		return status;
	s->changes = gp_mem_alloc(s->a_count + 1, sizeof(*s->changes));
	s->change_count =
		gp_report_pair(s->a_path, s->a_runs, s->a_count, s->b_path,
			       s->b_runs, s->b_count, s->changes);
	if (!s->change_count)
		return GP_OK;
	note_lone_runs(s, s->a_path, s->a_runs, s->a_count, s->b_runs,
		       s->b_count);
	note_lone_runs(s, s->b_path, s->b_runs, s->b_count, s->a_runs,
		       s->a_count);
	return GP_OK;
}

/* ---- the whole command ---- */

static enum gp_status nothing_alike(const struct session *s,
				    struct gp_diag *diag)
{
	for (size_t i = 0; s->replayed && i < s->pairs.count; i++) {
		const struct pair *p = &s->replayed[i];
		const struct side *lone =
			p->a.trace->device_count ? &p->b : &p->a;

		if (!lone->trace->device_count)
			return gp_trace_file_is_idle(lone->trace, lone->path,
						     diag);
	}
	gp_diag_file(diag, s->b_path ? s->b_path : s->a_path);
	if (s->replayed)
		return gp_diag_set(diag, GP_INPUT,
				   "none of its devices is in %.200s",
				   s->a_path);
	return gp_diag_set(diag, GP_INPUT,
			   "none of its runs has the device, trace, "
			   "allocator, settings, release and memory of one in "
			   "%.200s",
			   s->a_path);
}

static enum gp_status diff(struct session *s, struct gp_diag *diag)
{
	bool a = false, b = false;
	enum gp_status status = gp_report_is_one(s->a_path, &a, diag);

	if (status == GP_OK && s->b_path)
		status = gp_report_is_one(s->b_path, &b, diag);
	if (status != GP_OK)
		return status;
	if (s->b_path ? a != b : a)
		return gp_diag_usage(
			diag, "diff", "a report is compared with a report",
			"make one of the trace: gpupool replay TRACE "
			"--format json -o FILE");
	status = a ? diff_reports(s, diag) : diff_traces(s, diag);
	if (status == GP_OK && !s->change_count)
		status = nothing_alike(s, diag);
	return status;
}

static void write_changes(void *arg, const struct gp_report_style *style,
			  FILE *out)
{
	const struct session *s = arg;
	const struct gp_change_ranks *ranks = s->ranks.a ? &s->ranks : NULL;

	if (s->options->format == GP_FORMAT_JSON)
		gp_change_json(s->changes, s->change_count, ranks, out);
	else
		gp_change_text(s->changes, s->change_count, ranks, style, out);
}

/* GP_FAILED: a limit was given, but something was not compared and so not
 * checked. */
static enum gp_status all_compared(const struct session *s,
				   struct gp_diag *diag)
{
	size_t files = s->ranks.only_a + s->ranks.only_b;

	if (!s->limit.is_there)
		return GP_OK;
	if (s->lone)
		return gp_diag_set(diag, GP_FAILED,
				   "%zu device%s of one side could not be "
				   "compared",
				   s->lone, s->lone > 1 ? "s" : "");
	if (!files && !s->alone)
		return GP_OK;
	gp_diag_file(diag, s->b_path);
	if (s->alone)
		return gp_diag_set(diag, GP_FAILED,
				   "%zu run%s of one side could not be "
				   "compared",
				   s->alone, s->alone > 1 ? "s" : "");
	return gp_diag_set(diag, GP_FAILED,
			   "%zu file%s of one side could not be compared",
			   files, files > 1 ? "s" : "");
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	if (s->options->fail_over)
		status = limit_parse(s->options->fail_over, &s->limit, diag);
	if (status == GP_OK)
		status = diff(s, diag);
	gp_progress_end(&s->progress);
	if (status == GP_OK)
		status = gp_outlet_report(s->options, write_changes, s, diag);
	if (status == GP_OK)
		status = limit_hold(&s->limit, s->changes, s->change_count,
				    diag);
	if (status == GP_OK)
		status = all_compared(s, diag);
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s->a_ranks, diag);
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s->b_ranks, diag);
	return status;
}

static void release(struct session *s)
{
	for (size_t i = 0; i < s->change_count; i++) {
		free((void *)s->changes[i].sites);
		free((void *)s->changes[i].sizes);
	}
	free(s->changes);
	free(s->divergences);
	gp_report_runs_release(s->a_runs, s->a_count);
	gp_report_runs_release(s->b_runs, s->b_count);
	for (size_t i = 0; s->replayed && i < s->pairs.count; i++) {
		side_release(&s->replayed[i].a);
		side_release(&s->replayed[i].b);
	}
	free(s->replayed);
	free(s->pairs.items);
	gp_ranks_release(&s->a_ranks);
	gp_ranks_release(&s->b_ranks);
}

static enum gp_status diff_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.a_path = options->operands[0],
		.b_path = options->operand_count > 1 ? options->operands[1]
						     : NULL,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = run(&s, diag);

	release(&s);
	return status;
}

static const struct gp_option diff_options[] = {
	{ "fail-over", 0, GP_OPTION_TEXT, GP_AT(fail_over), "AMOUNT",
	  "Exit 1 when B reserves more than that more: 2%, 100MiB, 0." },
	{ 0 },
};

const struct gp_command gp_diff_command = {
	.name = "diff",
	.operands = "A [B]",
	.least = 1,
	.most = 2,
	.sentence = "Say what a change in memory is made of.",
	.about =
		"A and B are two traces, or two reports that replay --format "
		"json wrote. How much more B reserves at its peak is divided "
		"into live set, rounding, pending free, streams, pools and "
		"packing, which add up; then by source line and by size, as "
		"far as the traces show.\n"
		"Traces are replayed as they were recorded, or both under the "
		"settings given. One trace alone is compared with itself under "
		"those settings.",
	.options = "alloc-conf torch capacity fail-over format output ascii "
		   "color max-input quiet",
	.own = diff_options,
	.takes_settings = true,
	.run = diff_command,
};
