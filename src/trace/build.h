/* SPDX-License-Identifier: MIT */
/*
 * Building a trace: every input format ends in one.
 *
 * A reader passes on what the file contains, in the file's order; it deals
 * neither with dense ids nor with start states. gp_build_finish sorts the
 * tables, numbers the blocks and checks every event; for a recorded history (a
 * PyTorch snapshot, which has addresses but no ids) it also infers the start
 * state and the requests that a snapshot does not list.
 *
 * All strings are copied and interned. Errors name the device and the event.
 */
#ifndef TRACE_BUILD_H
#define TRACE_BUILD_H

#include "gpupool/status.h"
#include "gpupool/trace.h"

struct gp_build;

/* What the events of a build consist of. */
enum gp_build_kind {
	GP_BUILD_REQUESTS, /* gpupool-trace: requests with the file's ids */
	GP_BUILD_HISTORY,  /* PyTorch snapshot: addresses, and the end state */
};

struct gp_build *gp_build_create(enum gp_build_kind kind);
void gp_build_destroy(struct gp_build *build);

/* An interned text, frame or stack. frames: innermost first. */
uint32_t gp_build_text(struct gp_build *build, const char *text, size_t length);
uint32_t gp_build_frame(struct gp_build *build, const char *file, uint64_t line,
			const char *function);
uint32_t gp_build_site(struct gp_build *build, const uint32_t *frames,
		       size_t count);
/* A site given as a text and the calling site, or GP_NO_SITE. */
uint32_t gp_build_call(struct gp_build *build, uint32_t text, uint32_t caller);

/* Dense indices, in order of first appearance until finish sorts them; index 0
 * is always the default stream or pool. */
enum gp_status gp_build_stream(struct gp_build *build, uint64_t handle,
			       uint16_t *stream, struct gp_diag *diag);
enum gp_status gp_build_pool(struct gp_build *build, struct gp_pool_id id,
			     uint16_t *pool, struct gp_diag *diag);

/* Sets *device to the index, for the calls below, of the device with that
 * ordinal, which is created if it is new. */
enum gp_status gp_build_device(struct gp_build *build, uint64_t ordinal,
			       uint32_t *device, struct gp_diag *diag);
void gp_build_total_memory(struct gp_build *build, uint32_t device,
			   uint64_t bytes);

/*
 * Appends an event. REQUESTS: name is the file's id of the block, unless
 * event->id is GP_NO_ID (a synchronize of a stream, a free_completed without an
 * id). HISTORY: kinds are GP_ALLOC, GP_FREE and outcomes; addr identifies the
 * block; name is ignored.
 */
void gp_build_event(struct gp_build *build, uint32_t device,
		    const struct gp_event *event, uint64_t name);

/* HISTORY: the same for several events that the caller writes in place:
 * gp_build_room() returns room for up to n of them, gp_build_events() appends
 * n. */
struct gp_event *gp_build_room(struct gp_build *build, uint32_t device,
			       size_t n);
void gp_build_events(struct gp_build *build, uint32_t device, size_t n);

/*
 * REQUESTS: the start state; HISTORY: the end state. A block belongs to the
 * segment that was added last. Block addr 0 means directly after the previous
 * block. id and first_block are ignored (REQUESTS: a block without a name has
 * id GP_NO_ID); name is the file's id of an active block, or of one that is
 * pending free.
 */
void gp_build_segment(struct gp_build *build, uint32_t device,
		      const struct gp_segment *segment);
enum gp_status gp_build_block(struct gp_build *build, uint32_t device,
			      const struct gp_block *block, uint64_t name,
			      struct gp_diag *diag);

/* REQUESTS: what a converted snapshot has in addition to its requests. is_end:
 * the segments that follow are the end state's. */
void gp_build_end_state(struct gp_build *build, uint32_t device, bool is_end);
void gp_build_guesses(struct gp_build *build, uint32_t device,
		      const struct gp_guesses *guesses);

/*
 * REQUESTS: properties that a file states once for all events, at any place.
 * gp_build_sites: the sites of all events, segments and blocks so far are
 * indices into this table. gp_build_frees_at_once: applies to every GP_FREE
 * that is not flagged with GP_BUILD_LATE.
 */
#define GP_BUILD_LATE (1 << 7)
enum gp_status gp_build_sites(struct gp_build *build, const uint32_t *sites,
			      size_t count, struct gp_diag *diag);
void gp_build_frees_at_once(struct gp_build *build);

/* Adds an owner of blocks; the file refers to owners by number, from 0. */
void gp_build_owner(struct gp_build *build, const struct gp_owner *owner);
/* Sets the owner of the block that had this name most recently, as of the last
 * event so far; is_at_start: of the start state's block. A later claim replaces
 * an earlier one. */
void gp_build_claim(struct gp_build *build, uint32_t device, uint64_t name,
		    uint32_t owner, bool is_at_start);

/* A counter after the device's last event, with PyTorch's name. */
void gp_build_counter(struct gp_build *build, uint32_t device, const char *name,
		      int64_t value);

/* An annotation, which is inserted among the device's events by time. */
void gp_build_annotation(struct gp_build *build, uint64_t ordinal,
			 uint32_t text, enum gp_mark_stage stage,
			 uint64_t time_us);

/* Provenance. Later calls replace earlier ones; ranges of releases are
 * intersected, and the first why is kept for each end that was changed. */
void gp_build_source(struct gp_build *build, const char *source);
void gp_build_settings(struct gp_build *build, const char *conf);
void gp_build_values(struct gp_build *build, const char *values);
void gp_build_not_told(struct gp_build *build, const char *text);
void gp_build_complete(struct gp_build *build, bool is_complete);
void gp_build_release_from(struct gp_build *build, uint8_t minor,
			   const char *why);
void gp_build_release_to(struct gp_build *build, uint8_t minor,
			 const char *why);

/* Makes the trace; destroys the build, on failure too. */
enum gp_status gp_build_finish(struct gp_build *build, struct gp_trace **trace,
			       struct gp_diag *diag);

#endif
