/* SPDX-License-Identifier: MIT */
/* Words to choose from, as the tables of options have them: "a|b|c". */
#ifndef BASE_WORD_H
#define BASE_WORD_H

#include <stdint.h>

/* Which of them a word is, from 0; UINT32_MAX: none. */
uint32_t gp_word_index(const char *words, const char *word);

#endif
