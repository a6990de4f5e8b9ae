/* SPDX-License-Identifier: MIT */
/*
 * The space of all values of some settings.
 *
 * It has three axes of whole numbers: MiB of max_split_size, with "not set"
 * above all others; MiB of large_segment_size; and the bit patterns of
 * garbage_collection_threshold as a double, which are in the order of the
 * values, with "off" as the pattern of 1, a threshold that is never reached. An
 * axis that is not searched has a single value.
 */
#include "study/space.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"

/* ---- regions ---- */

/*
 * Regions: sets of points with whole coordinates along a few axes, from which
 * boxes are subtracted.
 */

#define REGION_AXES 3

/* Both ends included; never empty. */
struct region_box {
	uint64_t least[REGION_AXES], most[REGION_AXES];
};

/* Disjoint boxes. Zeroed: empty. */
struct region {
	struct region_box *boxes;
	size_t count, room;
};

static void region_add(struct region *region, const struct region_box *box)
{
	GP_GROW(region->boxes, region->count + 1, region->room);
	region->boxes[region->count++] = *box;
}

static void region_release(struct region *region)
{
	free(region->boxes);
	*region = (struct region){ 0 };
}

static bool intersect(const struct region_box *a, const struct region_box *b)
{
	for (int i = 0; i < REGION_AXES; i++)
		if (a->least[i] > b->most[i] || b->least[i] > a->most[i])
			return false;
	return true;
}

/* Adds the part of `whole` outside the box, which intersects it: up to two
 * pieces along each axis, cut off one after the other. */
static void add_rest(struct region *region, struct region_box whole,
		     const struct region_box *box)
{
	for (int i = 0; i < REGION_AXES; i++) {
		struct region_box piece = whole;

		if (box->most[i] < whole.most[i]) {
			piece.least[i] = box->most[i] + 1;
			region_add(region, &piece);
			whole.most[i] = box->most[i];
		}
		piece = whole;
		if (box->least[i] > whole.least[i]) {
			piece.most[i] = box->least[i] - 1;
			region_add(region, &piece);
			whole.least[i] = box->least[i];
		}
	}
}

static void region_subtract(struct region *region, const struct region_box *box)
{
	struct region left = { 0 };

	for (size_t i = 0; i < region->count; i++)
		if (intersect(&region->boxes[i], box))
			add_rest(&left, region->boxes[i], box);
		else
			region_add(&left, &region->boxes[i]);
	region_release(region);
	*region = left;
}

/* ---- the axes ---- */

#define MIB	      (UINT64_C(1) << 20)
#define LEAST_SEGMENT 11 /* MiB of large_segment_size_mb */
#define USUAL_SEGMENT 20
#define NO_SPLIT      (UINT64_C(1) << 44) /* MiB: 2^64 bytes */
#define MOST_DIGITS   17		  /* enough for any double */
#define ROUNDEST      64		  /* MiB */

enum { SPLIT = GP_SPACE_SPLIT, LARGE = GP_SPACE_LARGE, GC = GP_SPACE_GC };

const char *const gp_space_names[GP_SPACE_AXES] = {
	"max_split_size_mb",
	"large_segment_size_mb",
	"garbage_collection_threshold",
};

struct gp_space {
	uint8_t release;
	unsigned searched;
	uint64_t large_most; /* MiB */
	char *conf;	     /* owned; without the searched settings */
	char *next;	     /* owned; NULL: none */
	struct gp_settings base;
	bool split_may_equal;  /* max_split_size may be large_segment_size */
	bool rounding_follows; /* max_non_split_rounding follows that size */
	struct region left;
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

static bool searches(const struct gp_space *s, enum gp_space_axis axis)
{
	return s->searched >> axis & 1;
}

/* ---- the space ---- */

static uint64_t least_split(const struct gp_space *s, uint64_t large)
{
	return s->split_may_equal ? large : large + 1;
}

/* Whether a release accepts any settings in the box: max_split_size must not be
 * below large_segment_size. */
static bool is_taken(const struct gp_space *s, const struct region_box *box)
{
	return box->most[SPLIT] >= least_split(s, box->least[LARGE]);
}

static struct region_box fixed(const struct gp_space *s)
{
	const struct gp_settings *base = &s->base;
	struct region_box box = {
		.least = {
			[SPLIT] = base->max_split_size == GP_UNLIMITED
					  ? NO_SPLIT
					  : base->max_split_size / MIB,
			[LARGE] = base->large_segment_size / MIB,
			[GC] = bits_of(base->gc_threshold > 0
					       ? base->gc_threshold
					       : 1),
		},
	};

	memcpy(box.most, box.least, sizeof(box.most));
	return box;
}

static struct region_box whole_space(const struct gp_space *s)
{
	uint64_t rounding = s->base.max_non_split_rounding / MIB;
	struct region_box box = fixed(s);

	if (searches(s, GP_SPACE_GC)) {
		box.least[GC] =
			bits_of(DBL_MIN); /* smaller ones are not parsed */
		box.most[GC] = bits_of(1);
	}
	if (searches(s, GP_SPACE_LARGE)) {
		box.least[LARGE] = LEAST_SEGMENT;
		box.most[LARGE] = s->large_most;
		if (!s->rounding_follows && box.most[LARGE] > rounding)
			box.most[LARGE] = rounding;
	}
	if (searches(s, GP_SPACE_SPLIT)) {
		box.least[SPLIT] = least_split(s, box.least[LARGE]);
		box.most[SPLIT] = NO_SPLIT;
	}
	return box;
}

/* ---- the value that a person would choose ---- */

/* Prefers a multiple of 64, then of 32, and so on. */
static uint64_t round_number(uint64_t least, uint64_t most)
{
	for (uint64_t unit = ROUNDEST; unit > 1; unit /= 2) {
		uint64_t at = gp_round_up(least, unit);

		if (at <= most)
			return at;
	}
	return least;
}

static bool is_within(uint64_t at, uint64_t least, uint64_t most)
{
	return least <= at && at <= most;
}

/* A threshold with as few digits as possible; off, if that is in the range. */
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

/* The box must satisfy is_taken(). */
static struct point choose(const struct gp_space *s,
			   const struct region_box *box)
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

/* Writes the shortest text that is parsed as that number. */
static void print_ratio(double ratio, char *text, size_t room)
{
	for (int digits = 1; digits <= MOST_DIGITS; digits++) {
		snprintf(text, room, "%.*g", digits, ratio);
		if (strtod(text, NULL) == ratio)
			return;
	}
}

/* Replaces *conf; value NULL: removes the setting. */
static void set(char **conf, enum gp_space_axis axis, const char *value)
{
	char *made = gp_conf_with(*conf, gp_space_names[axis], value);

	free(*conf);
	*conf = made;
}

static char *conf_of(const struct gp_space *s, const struct point *p)
{
	char *conf = gp_mem_copy_text(s->conf, strlen(s->conf));
	char text[32];

	if (searches(s, GP_SPACE_SPLIT) && p->at[SPLIT] != NO_SPLIT) {
		snprintf(text, sizeof(text), "%" PRIu64, p->at[SPLIT]);
		set(&conf, GP_SPACE_SPLIT, text);
	}
	if (searches(s, GP_SPACE_GC) && p->at[GC] != bits_of(1)) {
		print_ratio(ratio_of(p->at[GC]), text, sizeof(text));
		set(&conf, GP_SPACE_GC, text);
	}
	if (searches(s, GP_SPACE_LARGE) && p->at[LARGE] != USUAL_SEGMENT) {
		snprintf(text, sizeof(text), "%" PRIu64, p->at[LARGE]);
		set(&conf, GP_SPACE_LARGE, text);
	}
	return conf;
}

/* ---- the values that a run covers ---- */

static uint64_t mib_up(uint64_t bytes)
{
	return bytes / MIB + (bytes % MIB != 0);
}

/* The box of equivalent values; it contains those of the run. */
static struct region_box spoken_for(const struct gp_space *s,
				    const struct gp_alike *alike)
{
	struct region_box box = whole_space(s);
	uint64_t least = alike->large_least, most = alike->large_most;
	bool has_some = alike->gc_least <= alike->gc_most;

	box.least[SPLIT] =
		gp_larger(box.least[SPLIT], mib_up(alike->max_split_least));
	if (alike->max_split_most != GP_UNLIMITED)
		box.most[SPLIT] = gp_smaller(box.most[SPLIT],
					     alike->max_split_most / MIB);
	if (searches(s, GP_SPACE_LARGE) && s->rounding_follows) {
		least = gp_larger(least, alike->non_split_least);
		most = gp_smaller(most, alike->non_split_most);
	}
	box.least[LARGE] = gp_larger(box.least[LARGE], mib_up(least));
	box.most[LARGE] = gp_smaller(box.most[LARGE], most / MIB);
	box.least[GC] = gp_larger(box.least[GC],
				  bits_of(has_some ? alike->gc_least : 1));
	box.most[GC] = gp_smaller(box.most[GC],
				  bits_of(alike->gc_off ? 1 : alike->gc_most));
	return box;
}

/* ---- boxes in PyTorch's units ---- */

static struct gp_box box_in_mb(const struct region_box *box)
{
	bool is_off_alone = box->least[GC] == bits_of(1);
	struct gp_box in_mb = {
		.split_least_mb = box->least[SPLIT],
		.split_most_mb = box->most[SPLIT] == NO_SPLIT
					 ? GP_UNLIMITED
					 : box->most[SPLIT],
		.large_least_mb = box->least[LARGE],
		.large_most_mb = box->most[LARGE],
		.gc_least = is_off_alone ? 1 : ratio_of(box->least[GC]),
		.gc_off = box->most[GC] == bits_of(1),
	};

	in_mb.gc_most = is_off_alone   ? 0
			: in_mb.gc_off ? nextafter(1, 0)
				       : ratio_of(box->most[GC]);
	return in_mb;
}

char *gp_space_conf(const struct gp_space *s, const struct gp_box *box)
{
	bool has_some = box->gc_least <= box->gc_most;
	struct region_box inside = {
		.least = { box->split_least_mb, box->large_least_mb,
			   bits_of(has_some ? box->gc_least : 1) },
		.most = { gp_smaller(box->split_most_mb, NO_SPLIT),
			  box->large_most_mb,
			  bits_of(box->gc_off ? 1 : box->gc_most) },
	};
	struct point p = choose(s, &inside);

	return conf_of(s, &p);
}

/* ---- the search ---- */

static bool takes(const struct gp_space *s, const char *conf,
		  enum gp_space_axis axis, const char *value,
		  struct gp_settings *settings)
{
	char *other = gp_conf_with(conf, gp_space_names[axis], value);
	struct gp_diag ignored = { 0 };
	bool is_taken;

	gp_settings_init(settings, s->release);
	is_taken = gp_settings_parse(settings, other, &ignored) == GP_OK;
	free(other);
	return is_taken;
}

static enum gp_status begin(struct gp_space *s, struct gp_diag *diag)
{
	char least[32], larger_one[32];
	struct gp_settings settings;
	struct region_box space;
	enum gp_status status;

	gp_settings_init(&s->base, s->release);
	status = gp_settings_parse(&s->base, s->conf, diag);
	if (status != GP_OK)
		return status;
	snprintf(least, sizeof(least), "%" PRIu64,
		 s->base.large_segment_size / MIB);
	s->split_may_equal =
		takes(s, s->conf, GP_SPACE_SPLIT, least, &settings);
	s->rounding_follows =
		!gp_conf_names(s->conf, "max_non_split_rounding_mb");
	/* Not every release has the setting large_segment_size_mb. */
	snprintf(larger_one, sizeof(larger_one), "%d", LEAST_SEGMENT);
	if (!takes(s, s->conf, GP_SPACE_LARGE, larger_one, &settings) ||
	    settings.large_segment_size != LEAST_SEGMENT * MIB)
		s->searched &= ~(1U << GP_SPACE_LARGE);
	space = whole_space(s);
	region_add(&s->left, &space);
	return GP_OK;
}

enum gp_status gp_space_create(const struct gp_space_config *config,
			       struct gp_space **space, struct gp_diag *diag)
{
	struct gp_space *s = gp_mem_alloc(1, sizeof(*s));
	enum gp_status status;

	*s = (struct gp_space){
		.release = config->release,
		.searched = config->searched,
		.large_most = config->large_most,
		.conf = gp_mem_copy_text(config->conf, strlen(config->conf)),
	};
	for (int i = 0; i < GP_SPACE_AXES; i++)
		if (searches(s, (enum gp_space_axis)i))
			set(&s->conf, (enum gp_space_axis)i, NULL);
	status = begin(s, diag);
	if (status == GP_OK)
		*space = s;
	else
		gp_space_destroy(s);
	return status;
}

void gp_space_destroy(struct gp_space *s)
{
	if (!s)
		return;
	region_release(&s->left);
	free(s->conf);
	free(s->next);
	free(s);
}

/* The order in which boxes are tried: garbage collection off before on, the
 * usual segment size before others, then the highest split limit, then the
 * smallest segment size. */
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
	if (a->most[SPLIT] != b->most[SPLIT])
		return a->most[SPLIT] > b->most[SPLIT];
	return a->least[LARGE] < b->least[LARGE];
}

/* The next box to try. Drops boxes that no release accepts: max_split_size
 * below large_segment_size. */
static const struct region_box *next_box(struct gp_space *s)
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

const char *gp_space_next(struct gp_space *s)
{
	const struct region_box *box = next_box(s);
	struct point p;

	free(s->next);
	s->next = NULL;
	if (!box)
		return NULL;
	p = choose(s, box);
	s->next = conf_of(s, &p);
	return s->next;
}

void gp_space_take(struct gp_space *s, const struct gp_alike *alike,
		   struct gp_box *box)
{
	struct region_box taken = spoken_for(s, alike);

	region_subtract(&s->left, &taken);
	*box = box_in_mb(&taken);
}

uint64_t gp_space_values(const struct gp_space *s, uint64_t top_mb)
{
	struct region_box space = whole_space(s);

	if (s->searched == 1U << GP_SPACE_SPLIT)
		return top_mb - space.least[SPLIT] + 1;
	if (s->searched != 1U << GP_SPACE_LARGE)
		return 0;
	while (space.most[LARGE] > space.least[LARGE] &&
	       least_split(s, space.most[LARGE]) > space.most[SPLIT])
		space.most[LARGE]--;
	return space.most[LARGE] - space.least[LARGE] + 1;
}

/* ---- combining runs ---- */

static double larger_ratio(double a, double b)
{
	return a > b ? a : b;
}

static double smaller_ratio(double a, double b)
{
	return a < b ? a : b;
}

struct gp_alike gp_alike_both(const struct gp_alike *a,
			      const struct gp_alike *b)
{
	return (struct gp_alike){
		.max_split_least =
			gp_larger(a->max_split_least, b->max_split_least),
		.max_split_most =
			gp_smaller(a->max_split_most, b->max_split_most),
		.non_split_least =
			gp_larger(a->non_split_least, b->non_split_least),
		.non_split_most =
			gp_smaller(a->non_split_most, b->non_split_most),
		.large_least = gp_larger(a->large_least, b->large_least),
		.large_most = gp_smaller(a->large_most, b->large_most),
		.gc_least = larger_ratio(a->gc_least, b->gc_least),
		.gc_most = smaller_ratio(a->gc_most, b->gc_most),
		.gc_off = a->gc_off && b->gc_off,
	};
}
