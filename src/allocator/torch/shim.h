/* SPDX-License-Identifier: MIT */
/*
 * A C interface to PyTorch's allocator: implemented by shim*.cc against the
 * headers of one release, and used by helper.c.
 *
 * Each function returns an enum torch_answer; the message of an error is then
 * in shim_text, verbatim but without the backtrace.
 */
#ifndef ALLOCATOR_TORCH_SHIM_H
#define ALLOCATOR_TORCH_SHIM_H

#include "allocator/torch/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

extern char shim_text[TORCH_TEXT_MOST];

/* Called for each action; to be set before shim_start(). */
extern void (*shim_on_action)(const struct torch_message *action);

/* The minor number of the release, 2.x. */
int shim_release(void);
int shim_start(int device);
int shim_alloc(uint64_t size, uint64_t stream, const uint64_t pool[2],
	       uint64_t *addr);
int shim_free(uint64_t addr);
int shim_record_stream(uint64_t addr, uint64_t stream);
int shim_empty_cache(const uint64_t pool[2]);
int shim_set_fraction(double fraction);
int shim_set_settings(const char *conf);
/* op: TORCH_POOL_BEGIN to TORCH_POOL_NO_SPLIT; no effect if the release does
 * not support it. */
int shim_pool(enum torch_op op, const uint64_t pool[2]);
/* Begins a capture of that stream; it is ended by shim_pool() with
 * TORCH_CAPTURE_END. */
int shim_capture(const uint64_t pool[2], uint64_t stream);
void shim_wait(uint64_t stream, uint64_t by);
void shim_reset_peak(void);
void shim_reset_accumulated(void);
void shim_counters(struct torch_counters *counters);
/* Sends each segment followed by its blocks; actions are not reported
 * meanwhile. */
void shim_state(void (*send)(const struct torch_message *piece));
/* In releases that do not report actions as they happen: reports those of the
 * last request now. */
void shim_flush_actions(void);

#ifdef __cplusplus
}
#endif

#endif
