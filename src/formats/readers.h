/* SPDX-License-Identifier: MIT */
/*
 * The readers of files: each gets bytes (source.h) and passes on events
 * (trace/build.h), which are checked there. readers.c recognises the format.
 */
#ifndef FORMATS_READERS_H
#define FORMATS_READERS_H

#include "gpupool/status.h"
#include "gpupool/trace.h"
#include "formats/json_scan.h"
#include "formats/source.h"

/* Whether a file in the format may begin with these bytes. */
typedef bool gp_reader_is(const unsigned char *at, size_t n);
typedef enum gp_status gp_reader_read(struct gp_source *source,
				      struct gp_trace **trace,
				      struct gp_diag *diag);

/* The function that gets an input that is not a trace, such as a log, from its
 * first byte on. take NULL: there is none. */
struct gp_unknown_input {
	void (*take)(void *arg, struct gp_source *source);
	void *arg;
};

/* Like gp_input_read(), but also passes on an input that is not a trace. */
enum gp_status gp_input_read_or(const struct gp_input_config *config,
				const struct gp_unknown_input *unknown,
				struct gp_trace **trace, struct gp_diag *diag);

/* PyTorch's snapshots as written by Python's pickle. */
gp_reader_is gp_pickle_is;
gp_reader_read gp_pickle_read;

/*
 * The log of a program that ran out of memory is not a trace, but
 * study/oom_log.h reads it. By where the message comes from, the most
 * informative first.
 */
enum gp_oom_teller {
	GP_OOM_OF_ALLOCATOR, /* PyTorch's, for CUDA, HIP or XPU */
	GP_OOM_OF_ASYNC,     /* PyTorch, on cudaMallocAsync */
	GP_OOM_OF_MPS,	     /* PyTorch, on a Mac */
	GP_OOM_OF_DRIVER,    /* CUDA, ROCm or their libraries */
	GP_OOM_OF_HOST,	     /* the host is out of memory */
};

struct gp_oom_mark {
	const char *text;
	enum gp_oom_teller teller;
};

#define GP_OOM_MARKS 20
extern const struct gp_oom_mark gp_oom_marks[GP_OOM_MARKS];

/* The first mark in those bytes; NULL: there is none. */
const char *gp_oom_mark_in(const char *at, size_t n,
			   const struct gp_oom_mark **mark);

/* RMM's log. */
gp_reader_is gp_rmm_is;
gp_reader_read gp_rmm_read;

/*
 * A JSON format is an object, recognised by the first key that only this format
 * has. The reader continues with that key's value.
 */
typedef bool gp_json_knows(const char *key);
typedef enum gp_status gp_json_read(struct gp_json_scan *scan,
				    struct gp_json_walk *walk,
				    char key[GP_JSON_KEY_ROOM],
				    struct gp_trace **trace);

/* gpupool-trace, as one document or as JSON Lines. */
gp_json_knows gp_json_trace_knows;
gp_json_read gp_json_trace_read;

/* torch.profiler's profiles. */
gp_json_knows gp_kineto_knows;
gp_json_read gp_kineto_read;

/* PyTorch's snapshots as written by json.dump. */
gp_json_knows gp_json_snapshot_knows;
gp_json_read gp_json_snapshot_read;
/* The same without the outer object: a list of device traces, entries or
 * segments. */
enum gp_status gp_json_snapshot_read_list(struct gp_json_scan *scan,
					  struct gp_trace **trace);

#endif
