/* SPDX-License-Identifier: MIT */
/*
 * The guesses of a trace, in words.  Their names are the trace's
 * (gp_guess_table).
 */
#ifndef REPORT_GUESS_H
#define REPORT_GUESS_H

#include <stdint.h>

#include "gpupool/trace.h"
#include "report/page.h"

/* What was guessed, in the plural. */
const char *gp_guess_sentence(const struct gp_guess_row *row);

uint64_t gp_guess_count(const struct gp_guesses *guesses,
			const struct gp_guess_row *row);
uint64_t gp_guess_total(const struct gp_guesses *guesses);

/* One line a kind that occurs; nothing without guesses. */
void gp_guess_print(const struct gp_page *page,
		    const struct gp_guesses *guesses);

#endif
