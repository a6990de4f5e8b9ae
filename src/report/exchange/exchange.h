/* SPDX-License-Identifier: MIT */
/*
 * A run, written for other people's tools.
 *
 * What the allocator does is written as it does it, so that memory does not
 * grow with the run.  What the format has no place for is left out; the manual
 * of gpupool convert says what that is.
 */
#ifndef REPORT_EXCHANGE_EXCHANGE_H
#define REPORT_EXCHANGE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

enum gp_exchange_format {
	GP_EXCHANGE_PICKLE,	/* torch.cuda.memory._dump_snapshot() */
	GP_EXCHANGE_PERFETTO,	/* Chrome's trace events, as JSON */
	GP_EXCHANGE_SPEEDSCOPE, /* memory at the peak, by stack */
	GP_EXCHANGE_FOLDED,	/* the same as lines: "a;b;c bytes" */
	GP_EXCHANGE_CSV,	/* one row for each event */
	GP_EXCHANGE_FORMATS,
};

/* All borrowed until the end. */
struct gp_exchange_config {
	enum gp_exchange_format format;
	const struct gp_trace *trace;
	const struct gp_settings *settings;
	const char *conf; /* what settings was parsed from */
	const char *name; /* of the run, for people */
	FILE *out;
};

struct gp_exchange;

/* GP_INPUT where the format cannot hold the trace at all. */
enum gp_status gp_exchange_begin(const struct gp_exchange_config *config,
				 struct gp_exchange **exchange,
				 struct gp_diag *diag);

/* Each device of the trace in turn: how it is to be replayed, by adding to the
 * replay's config, then what came of it.  The result is borrowed. */
void gp_exchange_listen(struct gp_exchange *exchange,
			struct gp_replay_config *config);
void gp_exchange_add(struct gp_exchange *exchange,
		     const struct gp_replay_result *result);

/* What remains to be written; destroys it.  Errors are the stream's. */
void gp_exchange_end(struct gp_exchange *exchange);
/* Instead of the end, when the run failed; NULL is nothing. */
void gp_exchange_abandon(struct gp_exchange *exchange);

/* ---- a format: one row in exchange.c and one file each ---- */

struct writer {
	bool has_peak; /* wants result->peak */
	/* Holds what the format needs; config is borrowed. */
	void *(*begin)(const struct gp_exchange_config *config);
	/* The device with that index comes next. */
	void (*device)(void *state, uint32_t device);
	/* As in struct gp_replay_config; NULL: not needed. */
	void (*action)(void *state, const struct gp_action *action,
		       uint64_t event);
	void (*look)(void *state, struct gp_allocator *allocator,
		     uint64_t event);
	/* The device is done; its result lasts until the end. */
	void (*result)(void *state, const struct gp_replay_result *result);
	void (*end)(void *state);
	void (*release)(void *state);
};

extern const struct writer snapshot_writer;
extern const struct writer perfetto_writer;
extern const struct writer speedscope_writer;
extern const struct writer folded_writer;
extern const struct writer csv_writer;

/* ---- a frame's text, "train.py:42 forward", in its parts ---- */

/* Innermost frames of a stack that are written; those that called them are
 * left out, as a file could otherwise ask for output without end. */
#define MOST_FRAMES 512

/* Parts of the text, not NUL-terminated; a text that names no file and line is
 * a name. */
struct frame_parts {
	const char *file, *name;
	size_t file_length, name_length;
	uint64_t line; /* 0: not known */
};

struct frame_parts frame_parts_of(const char *text);

/* The texts of a stack, innermost first; how many there are. */
size_t frame_stack(const struct gp_trace *trace, uint32_t site,
		   uint32_t texts[MOST_FRAMES]);

/* The same without what says nothing of the program, where anything is left:
 * for a person. */
size_t frame_stack_shown(const struct gp_trace *trace, uint32_t site,
			 uint32_t texts[MOST_FRAMES]);

/* ---- when things happened: the recorded times, or one microsecond an event
 * where there are none ---- */

struct ticks {
	const struct gp_device_trace *device;
	bool has_times;
	uint64_t now_us;
};

void ticks_begin(struct ticks *ticks, const struct gp_device_trace *device);
/* Of an event, never before an earlier one's; events in rising order. */
uint64_t ticks_of(struct ticks *ticks, uint64_t event);
/* The first of all devices; 0 where no event has a time. */
uint64_t ticks_first(const struct gp_trace *trace);

/* ---- memory at the peak of reserved, by stack ---- */

/* Bytes of blocks, as rounded. */
struct peak {
	uint64_t *allocated, *pending; /* by site; the last is of no site */
	uint64_t not_allocated;	       /* reserved, and neither of both */
};

/* Two leaves and a stack that are no frames. */
#define PEAK_PENDING	   "(freed, waiting for a stream)"
#define PEAK_NOT_ALLOCATED "(reserved, not allocated)"
#define PEAK_NO_STACK	   "(no stack)"

void peak_init(struct peak *peak, const struct gp_trace *trace, uint32_t device,
	       const struct gp_replay_result *result);
void peak_release(struct peak *peak);

#endif
