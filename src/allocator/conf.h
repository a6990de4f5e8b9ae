/* SPDX-License-Identifier: MIT */
/*
 * The tokens of a PYTORCH_CUDA_ALLOC_CONF, and steps from one to the next.
 *
 * PyTorch: lexArgs and consumeToken up to 2.9, which check the separators;
 * ConfigTokenizer from 2.10 on, which only counts them.
 */
#ifndef ALLOCATOR_CONF_H
#define ALLOCATOR_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "gpupool/knob.h"

/* The state of parsing one string. Positions are indices of tokens, including
 * separators. */
struct gp_conf {
	const char **tokens; /* into text */
	size_t count;
	char *text;
	bool is_strict; /* up to 2.9: separators are checked */
	struct gp_settings *settings;
	struct gp_diag *diag;
};

/* Borrows settings and diag, to which parsing writes. */
void gp_conf_open(struct gp_conf *conf, const char *text,
		  struct gp_settings *settings, struct gp_diag *diag);
void gp_conf_close(struct gp_conf *conf);

bool gp_conf_has(const struct gp_conf *conf, size_t at);
bool gp_conf_is(const struct gp_conf *conf, size_t at, const char *token);

/* Steps to the expected separator. */
enum gp_status gp_conf_pass(struct gp_conf *conf, size_t *at,
			    const char *separator);

/* Steps from a key to its value; `missing` is the message of a strict parser if
 * there is none. */
enum gp_status gp_conf_value(struct gp_conf *conf, size_t *at,
			     const char *missing);

/* Steps from a key to the last token of its value, whatever that is. */
enum gp_status gp_conf_skip(struct gp_conf *conf, size_t *at);

/* The token at a position, or PyTorch's error if there is none. */
enum gp_status gp_conf_token(struct gp_conf *conf, size_t at,
			     const char **token);

enum gp_status gp_conf_unclosed(struct gp_conf *conf);

/* ---- one setting: conf_knob.c ---- */

/* Checks the value of a setting and stores it in struct gp_settings. *at: the
 * position of the key; then that of the value's last token. */
enum gp_status gp_conf_read_knob(struct gp_conf *conf,
				 const struct gp_knob *knob, size_t *at);

#endif
