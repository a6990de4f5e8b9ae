/* SPDX-License-Identifier: MIT */
/* Selecting blocks: by site, size, event, address or id. */
#ifndef STUDY_WHAT_IF_WHICH_H
#define STUDY_WHAT_IF_WHICH_H

#include "study/what_if/scene.h"

struct marked {
	bool **of; /* by device and id: whether selected */
	size_t devices;
	uint64_t blocks, bytes; /* over all devices */
};

/*
 * text: "train.py:42", "size:1MiB..8MiB", "event:812", "addr:0x7f..", "id:91"
 * or "all". Numbers and sizes are those of the recorded trace. Returns
 * GP_USAGE, with nothing to release, if no block is selected.
 */
enum gp_status which_mark(const struct scene *scene, const char *text,
			  struct marked *marked);
void marked_release(struct marked *marked);

#endif
