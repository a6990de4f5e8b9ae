/* SPDX-License-Identifier: MIT */
/*
 * The records of a snapshot in JSON, read key by key: stacks of frames, which
 * are most of such a file and come again and again, are recognised by their
 * text and parsed once.
 */
#ifndef FORMATS_JSON_RECORD_H
#define FORMATS_JSON_RECORD_H

#include "base/intern.h"
#include "formats/json_scan.h"
#include "formats/snapshot_record.h"

struct gp_json_snapshot {
	struct gp_json_scan *scan; /* borrowed */
	struct gp_diag *diag;
	struct gp_build *build;
	struct gp_snapshot_delivery delivery;
	struct gp_intern pair_of; /* the bytes of a struct gp_pool_id */
	size_t pair_room;
	struct gp_intern stacks; /* texts of frames, up to a limit */
	uint32_t *stack_sites;	 /* by number of the stack */
	size_t stack_room, stack_bytes;
	uint32_t *frames; /* of the stack being read */
	size_t frame_room;
	bool has_something;
};

uint32_t gp_json_pair(struct gp_json_snapshot *snapshot, struct gp_pool_id id);

/* Each reads one object and delivers it; number is for messages. */
void gp_json_entry(struct gp_json_snapshot *snapshot, uint64_t ordinal,
		   size_t number);
void gp_json_segment(struct gp_json_snapshot *snapshot, size_t number);
void gp_json_annotation(struct gp_json_snapshot *snapshot, size_t number);
/* In a list by itself: which it is, its first key says. */
void gp_json_entry_or_segment(struct gp_json_snapshot *snapshot, size_t number);

/* The site of the list of frames that comes next. */
uint32_t gp_json_frames(struct gp_json_snapshot *snapshot);
/* Of an already parsed one. */
uint32_t gp_json_frames_of(struct gp_json_snapshot *snapshot,
			   const json_t *list);

#endif
