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

/* The text of a list of frames. */
struct gp_json_stack {
	size_t length; /* 0: it does not end by itself */
	uint32_t site;
	uint32_t after; /* the stack that came next, the last time */
};

struct gp_json_snapshot {
	struct gp_json_scan *scan; /* borrowed */
	struct gp_diag *diag;
	struct gp_build *build;
	struct gp_snapshot_delivery delivery;
	struct gp_intern pair_of; /* the bytes of a struct gp_pool_id */
	size_t pair_room;
	struct gp_intern stack_texts; /* of frames, up to a limit */
	struct gp_json_stack *stacks; /* by number of the text */
	size_t stack_room, stack_bytes;
	uint32_t last_stack;
	uint8_t key_after[GP_WORDS + 1]; /* of an entry, the last time */
	uint32_t *frames;		 /* of the stack being read */
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
/* The same of one that came before, all in the window; else false. */
bool gp_json_plain_frames(struct gp_json_snapshot *snapshot, struct gp_plain *p,
			  uint32_t *site);
/* Of an already parsed one. */
uint32_t gp_json_frames_of(struct gp_json_snapshot *snapshot,
			   const json_t *list);

#endif
