/* SPDX-License-Identifier: MIT */
#include "base/word.h"

#include <string.h>

uint32_t gp_word_index(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (uint32_t i = 0;; i++) {
		size_t end = strcspn(words, "|");

		if (end == length && !memcmp(words, word, length))
			return i;
		if (!words[end])
			return UINT32_MAX;
		words += end + 1;
	}
}
