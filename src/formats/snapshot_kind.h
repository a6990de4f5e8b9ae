/* SPDX-License-Identifier: MIT */
/*
 * The kinds of dict in a pickled snapshot: the keys each is known by, and how
 * it becomes a record.
 */
#ifndef FORMATS_SNAPSHOT_KIND_H
#define FORMATS_SNAPSHOT_KIND_H

#include "formats/snapshot_object.h"

/* Both take what was gathered last: objects->mask and objects->value. */
struct gp_dict_kind {
	enum gp_object_kind kind;
	uint64_t keys; /* any of them; GP_WORD_BITs */
	/* Makes a record, and returns its number. */
	uint32_t (*add)(struct gp_snapshot_objects *objects);
	/* The items of a new record, and those that come later; NULL: add has
	 * them, and later ones change nothing. */
	void (*set)(struct gp_snapshot_objects *objects, uint32_t number);
};

/* A dict is of the first kind of which it has a key. */
#define GP_DICT_KINDS 8
extern const struct gp_dict_kind gp_dict_kinds[GP_DICT_KINDS];

#endif
