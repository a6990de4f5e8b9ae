/* SPDX-License-Identifier: MIT */
/*
 * The words of a PYTORCH_CUDA_ALLOC_CONF, and going from one to the next.
 *
 * PyTorch: lexArgs and consumeToken up to 2.9, which insist on their
 * separators; ConfigTokenizer from 2.10 on, which only counts them.
 */
#ifndef ALLOCATOR_CONF_H
#define ALLOCATOR_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "gpupool/knob.h"

/* One string while it is read.  Positions count tokens, separators too. */
struct gp_conf {
	const char **tokens; /* into text */
	size_t count;
	char *text;
	bool is_strict; /* separators are checked: up to 2.9 */
	struct gp_settings *settings;
	struct gp_diag *diag;
};

/* Borrows settings and diag, which the reading writes to. */
void gp_conf_open(struct gp_conf *conf, const char *text,
		  struct gp_settings *settings, struct gp_diag *diag);
void gp_conf_close(struct gp_conf *conf);

bool gp_conf_has(const struct gp_conf *conf, size_t at);
bool gp_conf_is(const struct gp_conf *conf, size_t at, const char *token);

/* Steps onto the separator that is to come next. */
enum gp_status gp_conf_pass(struct gp_conf *conf, size_t *at,
			    const char *separator);

/* Steps from a key onto its value; missing is what a strict reader says when
 * there is none. */
enum gp_status gp_conf_value(struct gp_conf *conf, size_t *at,
			     const char *missing);

/* Steps from a key onto the end of its value, whatever it is. */
enum gp_status gp_conf_skip(struct gp_conf *conf, size_t *at);

/* The token there, or PyTorch's error that there is none. */
enum gp_status gp_conf_token(struct gp_conf *conf, size_t at,
			     const char **token);

enum gp_status gp_conf_unclosed(struct gp_conf *conf);

/* ---- one setting: conf_knob.c ---- */

/* Its value, checked and put into struct gp_settings.  at: of the key; then of
 * the value's last token. */
enum gp_status gp_conf_read_knob(struct gp_conf *conf,
				 const struct gp_knob *knob, size_t *at);

#endif
