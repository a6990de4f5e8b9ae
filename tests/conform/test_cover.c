/* SPDX-License-Identifier: MIT */
/*
 * The search with few replays finds the same as trying every value.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "conform/parts/author.h"
#include "study/cover.h"
#include "study/space.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "study/sweep/grid.h"
#include "suite.h"

#define SEEDS	   2 /* in each class */
#define CAPACITIES 3 /* of each trial */
#define ENOUGH	   2000
#define MOST_MB	   700 /* few trials have larger blocks */
#define MANY_MB	   64

static const char *const ratios[] = { NULL,  "0.05", "0.31", "0.5",
				      "0.6", "0.77", "0.8",  "0.93" };

/* Values of large_segment_size_mb, among those that are searched. */
static const char *const larges[] = { NULL, "11", "12", "19", "22", "24" };
#define LARGE_MOST  24
#define LARGE_SINCE 11 /* release */
#define LARGE	    (1U << GP_SPACE_LARGE)
#define OTHERS	    (1U << GP_SPACE_SPLIT | 1U << GP_SPACE_GC)

struct found {
	uint64_t searches, complete, runs, values, serving;
	uint64_t larges; /* values that serve, if only these are searched */
	uint64_t mixed;	 /* searches in which some values serve and some not */
};

static bool serves(const struct gp_cover_config *config, const char *conf,
		   struct gp_settings *settings)
{
	struct gp_replay_config replay = {
		.trace = config->trace,
		.settings = settings,
		.engine = config->engine,
		.conf = conf,
		.mode = GP_WHAT_IF,
		.on_oom = GP_OOM_STOP,
		.capacity = config->capacity,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	bool is_served;

	ck_assert_int_eq(gp_replay(&replay, &result, &diag), GP_OK);
	is_served = !result.dropped;
	gp_replay_release(&result);
	return is_served;
}

static bool is_in(const struct gp_cover *cover,
		  const struct gp_settings *settings)
{
	for (size_t i = 0; i < cover->count; i++)
		if (gp_alike_holds(&cover->boxes[i].alike, settings))
			return true;
	return false;
}

/* Whether conf serves; settings that the release refuses do not count. */
static int compare_conf(const struct gp_cover_config *config,
			const struct gp_cover *cover, const char *conf)
{
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };
	bool is_served;

	gp_settings_init(&settings, config->release);
	if (gp_settings_parse(&settings, conf, &ignored) != GP_OK)
		return -1;
	is_served = serves(config, conf, &settings);
	ck_assert_msg(is_in(cover, &settings) == is_served, "%s: %s serve",
		      conf, is_served ? "does" : "does not");
	return is_served;
}

static int compare_value(const struct gp_cover_config *config,
			 const struct gp_cover *cover, const char *base,
			 uint64_t mib)
{
	char text[32];
	char *conf;
	int is_served;

	snprintf(text, sizeof(text), "%u", (unsigned)mib);
	conf = gp_conf_with(base, "max_split_size_mb", mib ? text : NULL);
	is_served = compare_conf(config, cover, conf);
	free(conf);
	return is_served;
}

/* Every other setting is as in base. */
static void compare_values(const struct gp_cover_config *config,
			   const struct gp_cover *cover, const char *base,
			   struct found *found)
{
	/* Every value at sizes that most blocks have. */
	for (uint64_t mib = 0; mib <= MOST_MB; mib += mib < MANY_MB ? 1 : 7) {
		int is_served = compare_value(config, cover, base, mib);

		found->serving += is_served == 1;
		found->values += is_served >= 0;
	}
}

/* Every large_segment_size_mb, with the other settings of config. */
static void compare_larges(const struct gp_cover_config *config,
			   const struct gp_cover *cover, struct found *found)
{
	for (unsigned mib = 11; mib <= LARGE_MOST; mib++) {
		char text[32];
		char *conf;
		int is_served;

		snprintf(text, sizeof(text), "%u", mib);
		conf = gp_conf_with(config->conf, "large_segment_size_mb",
				    text);
		is_served = compare_conf(config, cover, conf);
		found->serving += is_served == 1;
		found->values += is_served >= 0;
		found->larges += is_served == 1;
		free(conf);
	}
}

static void compare_others(const struct gp_cover_config *config,
			   const struct gp_cover *cover, struct found *found)
{
	size_t sizes = config->searched & LARGE ? COUNT_OF(larges) : 0;

	for (size_t k = 0; k < COUNT_OF(ratios); k++) {
		char *base =
			gp_conf_with(config->conf,
				     "garbage_collection_threshold", ratios[k]);

		if (!sizes)
			compare_values(config, cover, base, found);
		for (size_t n = 0; n < sizes && k < 2; n++) {
			char *other = gp_conf_with(
				base, "large_segment_size_mb", larges[n]);

			compare_values(config, cover, other, found);
			free(other);
		}
		free(base);
	}
}

static void compare_all(const struct gp_cover_config *config,
			const struct gp_cover *cover, struct found *found)
{
	uint64_t values = found->values, serving = found->serving;

	if (config->searched == LARGE)
		compare_larges(config, cover, found);
	else
		compare_others(config, cover, found);
	values = found->values - values;
	serving = found->serving - serving;
	found->mixed += serving && serving < values;
}

/* The settings in a box have the result that the box has. */
static void check_boxes(const struct gp_cover_config *config,
			const struct gp_cover *cover)
{
	for (size_t i = 0; i < cover->count; i++) {
		const struct gp_cover_box *box = &cover->boxes[i];
		struct gp_settings settings;
		struct gp_diag diag = { 0 };

		gp_settings_init(&settings, config->release);
		ck_assert_int_eq(gp_settings_parse(&settings, box->conf, &diag),
				 GP_OK);
		ck_assert(gp_alike_holds(&box->alike, &settings));
		ck_assert(serves(config, box->conf, &settings));
	}
}

/* Between the bytes that are live and those reserved without a limit. */
static uint64_t throw_capacity(const struct trial *trial, struct dice *dice,
			       const struct gp_cover_config *config)
{
	struct gp_settings settings;
	struct gp_replay_config replay = {
		.trace = config->trace,
		.settings = &settings,
		.engine = config->engine,
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	uint64_t live, need;

	gp_settings_init(&settings, config->release);
	if (gp_settings_parse(&settings, trial->conf, &diag) != GP_OK)
		return trial->capacity;
	ck_assert_int_eq(gp_replay(&replay, &result, &diag), GP_OK);
	need = result.at_peak.reserved;
	live = gp_replay_peak_allocated(&result);
	gp_replay_release(&result);
	if (need > 64 * GIB)
		return trial->capacity;
	return dice_between(dice, live / MIB, need / MIB + 1) * MIB;
}

static void search(const struct trial *trial, struct dice *dice,
		   struct found *found)
{
	struct gp_cover_config config = {
		.engine = gp_engine_find("caching"),
		.conf = trial->conf,
		.capacity = trial->capacity,
		.budget = ENOUGH,
		.searched = OTHERS,
		.large_most = LARGE_MOST,
	};
	struct gp_trace *trace;
	struct gp_cover cover = { 0 };
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(trial_trace(trial, &trace, &diag), GP_OK);
	config.trace = trace;
	config.release = (uint8_t)dice_between(dice, trial_since(trial),
					       GP_RELEASE_LAST);
	if (config.release >= LARGE_SINCE && dice_permille(dice, 500))
		config.searched =
			dice_permille(dice, 500) ? LARGE : LARGE | OTHERS;
	config.capacity = throw_capacity(trial, dice, &config);
	if (gp_cover_search(&config, &cover, &diag) == GP_OK) {
		found->searches++;
		found->runs += cover.runs;
		found->complete += cover.complete;
		check_boxes(&config, &cover);
		if (cover.complete)
			compare_all(&config, &cover, found);
		gp_cover_release(&cover);
	}
	gp_trace_destroy(trace);
}

/* A case in which settings matter: memory is short. */
static const char *const classes[] = { "default",    "split",	"large",
				       "expandable", "streams", "gc",
				       "reserve",    "pools",	"settings",
				       "long",	     "mixed" };

START_TEST(test_what_serves_is_found)
{
	struct found found = { 0 };
	struct dice dice;

	dice_init(&dice, 4, "cover");
	for (size_t i = 0; i < COUNT_OF(classes); i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct trial trial;

			author_write(&trial, seed,
				     trial_class_find(classes[i]));
			for (int n = 0; n < CAPACITIES; n++)
				search(&trial, &dice, &found);
			trial_release(&trial);
		}
	printf("%u searches, %u complete, %u mixed; %u runs for %u values\n",
	       (unsigned)found.searches, (unsigned)found.complete,
	       (unsigned)found.mixed, (unsigned)found.runs,
	       (unsigned)found.values);
	ck_assert_uint_ge(found.complete, found.searches * 9 / 10);
	ck_assert_uint_lt(found.runs, found.values / 10);
	ck_assert_uint_ge(found.mixed, 3);
	ck_assert_uint_ge(found.larges, 3);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_serves_is_found, 0 },
	};

	return suite_run("cover", tests, COUNT_OF(tests));
}
