/* SPDX-License-Identifier: MIT */
/* What a recording tells of itself, and what it does not tell. */
#ifndef REPORT_RECORDING_H
#define REPORT_RECORDING_H

#include <stdint.h>

#include "gpupool/trace.h"
#include "report/page.h"

/* Sentences for a recording that tells of more reserved than its replay comes
 * to: what is missing, and how little the peak can have been.  NULL: it does
 * not. */
#define GP_RECORDED_TEXT 512
const char *gp_recorded_more(const struct gp_recorded *recorded,
			     uint64_t replayed, char text[GP_RECORDED_TEXT]);

/* ---- what it does not tell, and was guessed (gp_guess_table) ---- */

/* What was guessed, in the plural. */
const char *gp_guess_sentence(const struct gp_guess_row *row);

uint64_t gp_guess_count(const struct gp_guesses *guesses,
			const struct gp_guess_row *row);
uint64_t gp_guess_total(const struct gp_guesses *guesses);

/* One line a kind that occurs; nothing without guesses. */
void gp_guess_print(const struct gp_page *page,
		    const struct gp_guesses *guesses);

#endif
