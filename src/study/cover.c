/* SPDX-License-Identifier: MIT */
/*
 * Every value of some settings, tried in few replays.
 *
 * The space has three axes of whole numbers: MiB of max_split_size with "not
 * set" above all, MiB of large_segment_size, and the bits of the threshold,
 * which ascend as the numbers do, with "off" above all, where a threshold is
 * that is never reached.
 */
#include "gpupool/cover.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/replay.h"
#include "study/region.h"

#define MIB	      (UINT64_C(1) << 20)
#define LEAST_SEGMENT 11 /* MiB of large_segment_size_mb */
#define USUAL_SEGMENT 20
#define NO_SPLIT      (UINT64_C(1) << 44) /* MiB: 2^64 bytes */
#define MOST_DIGITS   17		  /* that a double may need */
#define ROUNDEST      64		  /* MiB */

enum axis { SPLIT, LARGE, GC };

struct search {
	const struct gp_cover_config *config;
	struct gp_cover *cover;
	struct gp_diag *diag;
	struct gp_settings base;
	bool split_may_equal;  /* large_segment_size; else it is above */
	bool rounding_follows; /* large_segment_size */
	struct region left;
	size_t room; /* for boxes of cover */
};

/* A point of the space. */
struct point {
	uint64_t at[REGION_AXES];
};

static uint64_t bits_of(double ratio)
{
	uint64_t bits;

	memcpy(&bits, &ratio, sizeof(bits));
	return bits;
}

static double ratio_of(uint64_t bits)
{
	double ratio;

	memcpy(&ratio, &bits, sizeof(ratio));
	return ratio;
}

/* ---- the space ---- */

static uint64_t least_split(const struct search *s, uint64_t large)
{
	return s->split_may_equal ? large : large + 1;
}

/* Large segments of that size allow a max_split_size in the box. */
static bool is_taken(const struct search *s, const struct region_box *box)
{
	return box->most[SPLIT] >= least_split(s, box->least[LARGE]);
}

static struct region_box whole_space(const struct search *s)
{
	uint64_t large = s->base.large_segment_size / MIB;
	struct region_box box = {
		.least = { [GC] = bits_of(DBL_MIN) }, /* others are not read */
		.most = { [SPLIT] = NO_SPLIT, [GC] = bits_of(1) },
	};

	box.least[LARGE] = s->config->large_most ? LEAST_SEGMENT : large;
	box.most[LARGE] = s->config->large_most ? s->config->large_most : large;
	if (s->config->large_most && !s->rounding_follows &&
	    box.most[LARGE] > s->base.max_non_split_rounding / MIB)
		box.most[LARGE] = s->base.max_non_split_rounding / MIB;
	box.least[SPLIT] = least_split(s, box.least[LARGE]);
	return box;
}

/* ---- what a person would type ---- */

/* Rather a multiple of 64, of 32 and so on. */
static uint64_t round_number(uint64_t least, uint64_t most)
{
	for (uint64_t unit = ROUNDEST; unit > 1; unit /= 2) {
		uint64_t at = (least + unit - 1) / unit * unit;

		if (at <= most)
			return at;
	}
	return least;
}

static bool is_within(uint64_t at, uint64_t least, uint64_t most)
{
	return least <= at && at <= most;
}

/* With as few digits as there are in the range; off, where that is in it. */
static uint64_t plain_ratio(uint64_t least, uint64_t most)
{
	static const double used[] = { 0.8, 0.6, 0.9, 0.7, 0.5 };
	double unit = 10;

	if (most == bits_of(1))
		return most;
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
		if (is_within(bits_of(used[i]), least, most))
			return bits_of(used[i]);
	for (int digits = 1; digits < MOST_DIGITS; digits++, unit *= 10) {
		uint64_t at = bits_of(ceil(ratio_of(least) * unit) / unit);

		if (is_within(at, least, most))
			return at;
	}
	return least;
}

/* Of a box that is_taken. */
static struct point choose(const struct search *s, const struct region_box *box)
{
	struct point p;
	uint64_t large = USUAL_SEGMENT, least;

	if (!is_within(large, box->least[LARGE], box->most[LARGE]) ||
	    box->most[SPLIT] < least_split(s, large))
		large = round_number(box->least[LARGE], box->most[LARGE]);
	if (box->most[SPLIT] < least_split(s, large))
		large = box->least[LARGE];
	least = least_split(s, large);
	if (least < box->least[SPLIT])
		least = box->least[SPLIT];
	p.at[LARGE] = large;
	p.at[SPLIT] = box->most[SPLIT] == NO_SPLIT
			      ? NO_SPLIT
			      : round_number(least, box->most[SPLIT]);
	p.at[GC] = plain_ratio(box->least[GC], box->most[GC]);
	return p;
}

/* The shortest text that is read as that number. */
static void print_ratio(double ratio, char *text, size_t room)
{
	for (int digits = 1; digits <= MOST_DIGITS; digits++) {
		snprintf(text, room, "%.*g", digits, ratio);
		if (strtod(text, NULL) == ratio)
			return;
	}
}

/* Replaces *conf; an empty value takes the setting away. */
static void set(char **conf, const char *name, const char *value)
{
	char *made = gp_conf_with(*conf, name, *value ? value : NULL);

	free(*conf);
	*conf = made;
}

static char *conf_of(const struct search *s, const struct point *p)
{
	char *conf = gp_mem_copy_text(s->config->conf, strlen(s->config->conf));
	char text[32] = "";

	if (p->at[SPLIT] != NO_SPLIT)
		snprintf(text, sizeof(text), "%" PRIu64, p->at[SPLIT]);
	set(&conf, "max_split_size_mb", text);
	*text = 0;
	if (p->at[GC] != bits_of(1))
		print_ratio(ratio_of(p->at[GC]), text, sizeof(text));
	set(&conf, "garbage_collection_threshold", text);
	if (!s->config->large_most)
		return conf;
	*text = 0;
	if (p->at[LARGE] != USUAL_SEGMENT)
		snprintf(text, sizeof(text), "%" PRIu64, p->at[LARGE]);
	set(&conf, "large_segment_size_mb", text);
	return conf;
}

/* ---- what a run speaks for ---- */

static uint64_t mib_up(uint64_t bytes)
{
	return bytes / MIB + (bytes % MIB != 0);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The point is in it. */
static struct region_box spoken_for(const struct search *s,
				    const struct gp_alike *alike)
{
	struct region_box box = whole_space(s);
	uint64_t least = alike->large_least, most = alike->large_most;
	bool has_some = alike->gc_least <= alike->gc_most;

	box.least[SPLIT] =
		larger(box.least[SPLIT], mib_up(alike->max_split_least));
	if (alike->max_split_most != GP_UNLIMITED)
		box.most[SPLIT] = alike->max_split_most / MIB;
	if (s->config->large_most && s->rounding_follows) {
		least = larger(least, alike->non_split_least);
		most = smaller(most, alike->non_split_most);
	}
	if (s->config->large_most) {
		box.least[LARGE] = larger(box.least[LARGE], mib_up(least));
		box.most[LARGE] = smaller(box.most[LARGE], most / MIB);
	}
	box.least[GC] =
		larger(box.least[GC], bits_of(has_some ? alike->gc_least : 1));
	box.most[GC] = bits_of(alike->gc_off ? 1 : alike->gc_most);
	return box;
}

static void keep_box(struct search *s, const struct region_box *box,
		     const struct gp_replay_result *result)
{
	struct gp_cover *cover = s->cover;
	struct point p = choose(s, box);
	bool is_off_alone = box->least[GC] == bits_of(1);
	struct gp_cover_box *kept;

	cover->boxes = gp_mem_grow(cover->boxes, &s->room, cover->count + 1,
				   sizeof(*cover->boxes));
	kept = &cover->boxes[cover->count++];
	*kept = (struct gp_cover_box){
		.conf = conf_of(s, &p),
		.alike = result->alike,
		.max_split_least_mb = box->least[SPLIT],
		.max_split_most_mb = box->most[SPLIT] == NO_SPLIT
					     ? GP_UNLIMITED
					     : box->most[SPLIT],
		.large_least_mb = box->least[LARGE],
		.large_most_mb = box->most[LARGE],
		.gc_least = is_off_alone ? 1 : ratio_of(box->least[GC]),
		.gc_off = box->most[GC] == bits_of(1),
		.reserved = result->at_peak.reserved,
		.retries = (uint64_t)result->stats.num_alloc_retries,
		.device_allocs = (uint64_t)result->stats.num_device_alloc,
	};
	kept->gc_most = is_off_alone   ? 0
			: kept->gc_off ? nextafter(1, 0)
				       : ratio_of(box->most[GC]);
}

/* ---- the search ---- */

static enum gp_status parse(struct search *s, const char *conf,
			    struct gp_settings *settings)
{
	gp_settings_init(settings, s->config->release);
	return gp_settings_parse(settings, conf, s->diag);
}

static enum gp_status begin(struct search *s)
{
	struct point p = { .at = { NO_SPLIT, USUAL_SEGMENT, bits_of(1) } };
	char *conf = conf_of(s, &p), *equal, text[32];
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };
	struct region_box space;
	enum gp_status status = parse(s, conf, &s->base);

	snprintf(text, sizeof(text), "%" PRIu64,
		 s->base.large_segment_size / MIB);
	equal = gp_conf_with(conf, "max_split_size_mb", text);
	gp_settings_init(&settings, s->config->release);
	s->split_may_equal =
		gp_settings_parse(&settings, equal, &ignored) == GP_OK;
	s->rounding_follows = !gp_conf_names(conf, "max_non_split_rounding_mb");
	free(equal);
	free(conf);
	if (status != GP_OK)
		return status;
	space = whole_space(s);
	region_add(&s->left, &space);
	return GP_OK;
}

static enum gp_status run(struct search *s, const struct point *p)
{
	const struct gp_cover_config *config = s->config;
	char *conf = conf_of(s, p);
	struct gp_settings settings;
	struct gp_replay_config replay = {
		.trace = config->trace,
		.device = config->device,
		.settings = &settings,
		.engine = config->engine,
		.conf = conf,
		.mode = GP_WHAT_IF,
		.on_oom = GP_OOM_STOP,
		.keep_alike = true,
		.capacity = config->capacity,
		.is_interrupted = config->is_interrupted,
	};
	struct gp_replay_result result;
	enum gp_status status = parse(s, conf, &settings);

	if (config->progress)
		config->progress(config->progress_arg, s->cover->runs);
	if (status == GP_OK)
		status = gp_replay(&replay, &result, s->diag);
	free(conf);
	if (status != GP_OK)
		return status;
	s->cover->runs++;
	s->cover->is_interrupted = result.is_interrupted;
	if (!result.is_interrupted) {
		struct region_box box = spoken_for(s, &result.alike);

		region_subtract(&s->left, &box);
		if (!result.first_oom.is_there &&
		    result.refused <= config->refused)
			keep_box(s, &box, &result);
	}
	gp_replay_release(&result);
	return GP_OK;
}

/* Off before on, the usual segments before others, then the highest limit. */
static bool is_rather(const struct region_box *a, const struct region_box *b)
{
	bool a_usual =
		is_within(USUAL_SEGMENT, a->least[LARGE], a->most[LARGE]);
	bool b_usual =
		is_within(USUAL_SEGMENT, b->least[LARGE], b->most[LARGE]);

	if ((a->most[GC] == bits_of(1)) != (b->most[GC] == bits_of(1)))
		return a->most[GC] == bits_of(1);
	if (a_usual != b_usual)
		return a_usual;
	return a->most[SPLIT] > b->most[SPLIT];
}

/* Drops what no release takes: limits below the large segment size. */
static const struct region_box *next_box(struct search *s)
{
	const struct region_box *best = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->left.count; i++)
		if (is_taken(s, &s->left.boxes[i]))
			s->left.boxes[n++] = s->left.boxes[i];
	s->left.count = n;
	for (size_t i = 0; i < n; i++)
		if (!best || is_rather(&s->left.boxes[i], best))
			best = &s->left.boxes[i];
	return best;
}

enum gp_status gp_cover_search(const struct gp_cover_config *config,
			       struct gp_cover *cover, struct gp_diag *diag)
{
	struct search s = { .config = config, .cover = cover, .diag = diag };
	const struct region_box *box = NULL;
	enum gp_status status;

	*cover = (struct gp_cover){ 0 };
	status = begin(&s);
	while (status == GP_OK && (box = next_box(&s)) &&
	       cover->runs < config->budget && !cover->is_interrupted &&
	       !(config->first_only && cover->count)) {
		struct point p = choose(&s, box);

		status = run(&s, &p);
	}
	cover->complete = status == GP_OK && !box;
	region_release(&s.left);
	if (status != GP_OK)
		gp_cover_release(cover);
	return status;
}

void gp_cover_release(struct gp_cover *cover)
{
	for (size_t i = 0; i < cover->count; i++)
		free(cover->boxes[i].conf);
	free(cover->boxes);
	*cover = (struct gp_cover){ 0 };
}
