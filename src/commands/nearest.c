/* SPDX-License-Identifier: MIT */
/* "Did you mean": Levenshtein's distance, and what continues a word. */
#include "commands/nearest.h"

#include <string.h>

#include "base/larger.h"

#define LONGEST 40 /* no name of ours is longer */

/* Insertions, deletions and replacements that turn a into b. */
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
	/* Not near, but begun: --max-split-size-mb. */
	for (size_t i = 0; i < count && !near && length >= 4; i++)
		if (!strncmp(word, words[i], length < 8 ? length : 8))
			near = words[i];
	return near;
}
