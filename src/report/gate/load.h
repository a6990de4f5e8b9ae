/* SPDX-License-Identifier: MIT */
/* Loads the gate's JSON files: of limited size, without duplicate keys, and
 * with texts that are safe to print. */
#ifndef REPORT_GATE_LOAD_H
#define REPORT_GATE_LOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "gpupool/status.h"

#define GATE_MOST_BYTES ((size_t)64 << 20)

/* The caller frees *text. *missing: there is no such file; if missing is NULL,
 * that is an error, too. */
enum gp_status load_file(const char *path, char **text, size_t *size,
			 bool *missing, struct gp_diag *diag);

/* The caller releases *root, an object (json_decref). */
enum gp_status load_json(const char *text, size_t size, json_t **root,
			 struct gp_diag *diag);

/* A text without control characters, of at most `most` bytes. */
enum gp_status load_text(const json_t *value, const char *key, size_t most,
			 struct gp_arena *arena, const char **text,
			 struct gp_diag *diag);

/* Whether a key or text can be shown. */
bool load_is_plain(const char *text);

#endif
