/* SPDX-License-Identifier: MIT */
/* Loads the gate's JSON files: of bounded size, without duplicate keys, with
 * texts that can be printed as they are. */
#ifndef REPORT_GATE_LOAD_H
#define REPORT_GATE_LOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "gpupool/status.h"

#define GATE_MOST_BYTES ((size_t)64 << 20)

/* The caller frees *text.  *missing: there is no such file; missing NULL: that
 * is an error, too. */
enum gp_status load_file(const char *path, char **text, size_t *size,
			 bool *missing, struct gp_diag *diag);

/* The caller releases *root, an object (json_decref). */
enum gp_status load_json(const char *text, size_t size, json_t **root,
			 struct gp_diag *diag);

/* A text without control characters, of at most so many bytes. */
enum gp_status load_text(const json_t *value, const char *key, size_t most,
			 struct gp_arena *arena, const char **text,
			 struct gp_diag *diag);

/* Whether a key or text can be shown. */
bool load_is_plain(const char *text);

#endif
