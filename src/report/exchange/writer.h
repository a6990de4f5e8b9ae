/* SPDX-License-Identifier: MIT */
/* A format that runs are written in: one row, one file. */
#ifndef REPORT_EXCHANGE_WRITER_H
#define REPORT_EXCHANGE_WRITER_H

#include "report/exchange/exchange.h"

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

#endif
