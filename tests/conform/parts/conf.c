/* SPDX-License-Identifier: MIT */
/* Settings of a trial. */
#include "conf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "classes.h"

/* Each returns false if it writes nothing. */

static bool throw_split(struct conf *conf, struct dice *dice, char *text,
			size_t room)
{
	static const uint64_t sizes[] = { 21, 22, 32, 40, 64, 100, 128, 256 };
	uint64_t mib = DICE_PICK(dice, sizes);
	uint64_t least = conf->large;

	if (conf->era >= 10 && dice_permille(dice, 150))
		mib = 20;
	if (conf->is_moving && !conf->split)
		return false;
	if (conf->is_moving && conf->split > least)
		least = conf->split;
	if (mib < least)
		mib = least + (conf->era < 10 && least == 20);
	conf->split = mib;
	snprintf(text, room, "max_split_size_mb:%" PRIu64, mib);
	return true;
}

static bool throw_rounding(struct conf *conf, struct dice *dice, char *text,
			   size_t room)
{
	static const uint64_t sizes[] = { 21, 24, 32, 64, 100, 200 };
	uint64_t mib = DICE_PICK(dice, sizes);

	conf->rounding = mib > conf->large ? mib : conf->large + 1;
	snprintf(text, room, "max_non_split_rounding_mb:%" PRIu64,
		 conf->rounding);
	return true;
}

static bool throw_gc(struct conf *conf, struct dice *dice, char *text,
		     size_t room)
{
	static const char *const ratios[] = { "0.05", "0.1", "0.3",  "0.5",
					      "0.6",  "0.8", "0.95", "0.999" };

	(void)conf;
	snprintf(text, room, "garbage_collection_threshold:%s",
		 DICE_PICK(dice, ratios));
	return true;
}

/* Powers of two from 1 MiB to 64 GiB, each with its own divisions. */
static void throw_list(struct dice *dice, char *text, size_t room)
{
	size_t n = dice_between(dice, 1, 4), at = 0;
	unsigned key = (unsigned)dice_below(dice, 6);
	const char *between = "[";

	for (size_t i = 0; i < n && key <= 16; i++) {
		unsigned divisions = 1U << dice_below(dice, 6);

		at += (size_t)snprintf(text + at, room - at, "%s%u:%u", between,
				       1U << key, divisions);
		key += (unsigned)dice_between(dice, 1, 4);
		between = ",";
	}
	if (dice_permille(dice, 700)) {
		unsigned divisions = 1U << dice_below(dice, 5);

		at += (size_t)snprintf(text + at, room - at, "%s>:%u", between,
				       divisions);
	}
	snprintf(text + at, room - at, "]");
}

static bool throw_roundup(struct conf *conf, struct dice *dice, char *text,
			  size_t room)
{
	static const char name[] = "roundup_power2_divisions:";
	static const char *const few[] = { "[>:4]", "[1:8]", "[1:4,>:16]" };

	(void)conf;
	room -= sizeof(name) - 1;
	memcpy(text, name, sizeof(name));
	text += sizeof(name) - 1;
	if (dice_permille(dice, 450))
		snprintf(text, room, "%u", 1U << dice_below(dice, 8));
	else if (dice_permille(dice, 200))
		snprintf(text, room, "%s", DICE_PICK(dice, few));
	else
		throw_list(dice, text, room);
	return true;
}

static bool throw_expandable(struct conf *conf, struct dice *dice, char *text,
			     size_t room)
{
	bool on = !conf->is_moving || dice_permille(dice, 500);

	snprintf(text, room, "expandable_segments:%s", on ? "True" : "False");
	return true;
}

static bool throw_large(struct conf *conf, struct dice *dice, char *text,
			size_t room)
{
	static const uint64_t sizes[] = { 11, 12, 16, 20, 21, 32, 64, 128 };
	uint64_t mib = DICE_PICK(dice, sizes);

	conf->large = mib;
	conf->rounding = mib;
	snprintf(text, room, "large_segment_size_mb:%" PRIu64, mib);
	return true;
}

static bool throw_fraction(struct conf *conf, struct dice *dice, char *text,
			   size_t room)
{
	static const char *const ratios[] = { "0.25", "0.3",  "0.5", "0.75",
					      "0.9",  "0.99", "1.0", "0.05" };

	(void)conf;
	snprintf(text, room, "per_process_memory_fraction:%s",
		 DICE_PICK(dice, ratios));
	return true;
}

static bool throw_reuse(struct conf *conf, struct dice *dice, char *text,
			size_t room)
{
	bool on = !conf->is_moving || dice_permille(dice, 700);

	snprintf(text, room, "graph_capture_record_stream_reuse:%s",
		 on ? "True" : "False");
	return true;
}

static bool throw_throw(struct conf *conf, struct dice *dice, char *text,
			size_t room)
{
	bool on = !conf->is_moving || dice_permille(dice, 500);

	snprintf(text, room, "throw_on_cudamalloc_oom:%s",
		 on ? "True" : "False");
	return true;
}

static bool throw_reserve(struct conf *conf, struct dice *dice, char *text,
			  size_t room)
{
	static const char *const sizes[] = { "0.01", "0.05", "0.25", "0.5",
					     "1.0",  "2.0",  "1G",   "0.1G",
					     "40g",  "0.02" };

	(void)conf;
	snprintf(text, room, "expandable_segments_reserve:%s",
		 DICE_PICK(dice, sizes));
	return true;
}

/* In the order of enum conf_bit, except that settings on which others depend
 * are thrown first. */
static const struct setting {
	unsigned bit;
	uint8_t since;
	bool (*write)(struct conf *conf, struct dice *dice, char *text,
		      size_t room);
} settings[] = {
	{ CONF_LARGE_SEGMENT, 11, throw_large },
	{ CONF_SPLIT, 0, throw_split },
	{ CONF_NON_SPLIT_ROUNDING, 6, throw_rounding },
	{ CONF_GC, 0, throw_gc },
	{ CONF_ROUNDUP, 0, throw_roundup },
	{ CONF_EXPANDABLE, 1, throw_expandable },
	{ CONF_FRACTION, 10, throw_fraction },
	{ CONF_THROW, 12, throw_throw },
	{ CONF_RESERVE, 15, throw_reserve },
	{ CONF_REUSE, 9, throw_reuse },
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

static void write_all(struct conf *conf, struct dice *dice, unsigned bits,
		      char *text, size_t room)
{
	char one[128];

	*text = 0;
	for (size_t i = 0; i < SETTINGS; i++) {
		size_t length = strlen(text);

		if (!(bits & settings[i].bit) ||
		    !settings[i].write(conf, dice, one, sizeof(one)) ||
		    length + strlen(one) + 2 > room)
			continue;
		snprintf(text + length, room - length, "%s%s",
			 length ? "," : "", one);
	}
}

static unsigned throw_bits(struct dice *dice, uint8_t era, unsigned always,
			   unsigned sometimes)
{
	unsigned bits = 0;

	for (size_t i = 0; i < SETTINGS; i++) {
		unsigned bit = settings[i].bit;
		bool wanted = sometimes & bit && dice_permille(dice, 350);

		if (always & bit || (wanted && settings[i].since <= era))
			bits |= bit;
	}
	return bits;
}

/* So that old releases also get trials of classes that use every setting. */
static uint8_t throw_era(struct dice *dice, unsigned always)
{
	static const uint8_t eras[] = { 1, 6, 10, 11, 15, 15 };
	uint8_t era = DICE_PICK(dice, eras);

	for (size_t i = 0; i < SETTINGS; i++)
		if (always & settings[i].bit && settings[i].since > era)
			era = settings[i].since;
	return era;
}

void conf_throw(struct conf *conf, struct dice *dice, unsigned always,
		unsigned sometimes, char *text, size_t room)
{
	*conf = (struct conf){ .large = 20, .rounding = 20 };
	conf->era = throw_era(dice, always);
	conf->bits = throw_bits(dice, conf->era, always, sometimes);
	/* This rounding has an effect only together with a split limit. */
	if (conf->bits & CONF_NON_SPLIT_ROUNDING)
		conf->bits |= CONF_SPLIT;
	write_all(conf, dice, conf->bits, text, room);
}

void conf_change(struct conf *conf, struct dice *dice, unsigned allowed,
		 char *text, size_t room)
{
	unsigned bits;

	conf->is_moving = true;
	if (conf->split)
		allowed &= ~(unsigned)CONF_EXPANDABLE;
	bits = throw_bits(dice, conf->era, 0, allowed);
	/* A change that does not name the limit removes it. */
	if (conf->split && dice_permille(dice, 600))
		bits |= CONF_SPLIT;
	if (!(bits & CONF_SPLIT))
		conf->split = 0;
	write_all(conf, dice, bits, text, room);
}
