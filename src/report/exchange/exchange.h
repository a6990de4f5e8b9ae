/* SPDX-License-Identifier: MIT */
/*
 * A run, written for other tools.
 *
 * Allocator actions are written as they occur, so that the memory needed does
 * not grow with the run. What the format cannot express is left out;
 * gpupool-convert(1) says what that is.
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

/* GP_INPUT if the format cannot represent the trace at all. */
enum gp_status gp_exchange_begin(const struct gp_exchange_config *config,
				 struct gp_exchange **exchange,
				 struct gp_diag *diag);

/* To be called for each device of the trace in turn: gp_exchange_listen adds
 * callbacks to the replay's config, and gp_exchange_add takes the result of
 * that replay, which is borrowed. */
void gp_exchange_listen(struct gp_exchange *exchange,
			struct gp_replay_config *config);
void gp_exchange_add(struct gp_exchange *exchange,
		     const struct gp_replay_result *result);

/* Writes the rest and destroys the exchange. Write errors stay with the
 * stream. */
void gp_exchange_end(struct gp_exchange *exchange);
/* To be called in place of the end if the run failed; accepts NULL. */
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
	/* The device is complete; its result lives until the end. */
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

/* The most frames of a stack that are written, counted from the innermost; the
 * rest is left out, as a file could otherwise cause unlimited output. */
#define MOST_FRAMES 512

/* The parts of a frame's text, not NUL-terminated. A text without file and line
 * is only a name. */
struct frame_parts {
	const char *file, *name;
	size_t file_length, name_length;
	uint64_t line; /* 0: not known */
};

struct frame_parts frame_parts_of(const char *text);

/* The texts of a stack, innermost first; returns their number. */
size_t frame_stack(const struct gp_trace *trace, uint32_t site,
		   uint32_t texts[MOST_FRAMES]);

/* The same for a person: without frames that say nothing about the program,
 * unless there are no others. */
size_t frame_stack_shown(const struct gp_trace *trace, uint32_t site,
			 uint32_t texts[MOST_FRAMES]);

/* ---- when things happened: the recorded times, or one microsecond per event
 * without them ---- */

struct ticks {
	const struct gp_device_trace *device;
	bool has_times;
	uint64_t now_us;
};

void ticks_begin(struct ticks *ticks, const struct gp_device_trace *device);
/* The time of an event, never before that of an earlier one. To be called for
 * events in ascending order. */
uint64_t ticks_of(struct ticks *ticks, uint64_t event);
/* The first time on any device; 0 if no event has one. */
uint64_t ticks_first(const struct gp_trace *trace);

/* ---- memory at the peak of reserved, by stack ---- */

/* Bytes of blocks, as rounded. */
struct peak {
	uint64_t *allocated, *pending; /* by site; the last: no site */
	uint64_t not_allocated;	       /* reserved, but neither of these */
};

/* Names of two leaves and of a stack that are not frames. */
#define PEAK_PENDING	   "(freed, waiting for a stream)"
#define PEAK_NOT_ALLOCATED "(reserved, not allocated)"
#define PEAK_NO_STACK	   "(no stack)"

void peak_init(struct peak *peak, const struct gp_trace *trace, uint32_t device,
	       const struct gp_replay_result *result);
void peak_release(struct peak *peak);

#endif
