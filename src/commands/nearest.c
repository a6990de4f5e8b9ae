/* SPDX-License-Identifier: MIT */
/* "Did you mean": Levenshtein's distance, and words with the same beginning. */
#include "commands/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/larger.h"
#include "gpupool/knob.h"

#define LONGEST 40 /* none of our names is longer */

/* The number of insertions, deletions and replacements that turn a into b. */
static size_t distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], length = strlen(b);

	if (length > LONGEST || strlen(a) > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t above = row[j + 1];

			row[j + 1] = gp_smaller(gp_smaller(above, row[j]) + 1,
						diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[length];
}

#define MOST_SETTINGS 64 /* more than PyTorch has */

const char *gp_nearest(const char *word, const char *const *words, size_t count)
{
	size_t length = strlen(word), best = length / 3 + 1;
	const char *near = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t d = distance(word, words[i]);

		if (d < best || (d == best && !near)) {
			best = d;
			near = words[i];
		}
	}
	/* No word is near, but one may have the same beginning:
	 * --max-split-size-mb. */
	for (size_t i = 0; i < count && !near && length >= 4; i++)
		if (!strncmp(word, words[i], length < 8 ? length : 8))
			near = words[i];
	return near;
}

const char *gp_nearest_setting(const char *word)
{
	const char *names[MOST_SETTINGS];
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	count = gp_smaller(count, MOST_SETTINGS);
	for (size_t i = 0; i < count; i++)
		names[i] = knobs[i].name;
	return gp_nearest(word, names, count);
}

/* The setting that the item's key is near to but not equal to, if the failure
 * is about this key; NULL: none. */
static const char *near_key(const char *item, size_t length,
			    const char *failure)
{
	const char *colon = memchr(item, ':', length), *near;
	char key[64];

	if (!colon)
		return NULL;
	snprintf(key, sizeof(key), "%.*s", (int)(colon - item), item);
	near = gp_nearest_setting(key);
	return near && strcmp(near, key) != 0 && strstr(failure, key) ? near
								      : NULL;
}

void gp_hint_settings(const char *conf, struct gp_diag *diag)
{
	const char *item, *near = NULL;
	size_t length;

	while (!near && (item = gp_conf_next(&conf, &length)))
		near = near_key(item, length, diag->what);
	if (near)
		gp_diag_hint(diag,
			     "did you mean %s? gpupool help settings lists "
			     "them",
			     near);
}
