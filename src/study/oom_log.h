/* SPDX-License-Identifier: MIT */
/*
 * The message of PyTorch's OutOfMemoryError, as it stands in the log of a
 * program that recorded no trace, and what can be concluded from it.
 *
 * When PyTorch raises the error it has already released every cached segment
 * that no tensor is in (CUDACachingAllocator.cpp, release_cached_blocks),
 * except during a graph capture. So what is "reserved but unallocated" then
 * lies between tensors, and nothing but another placement could have used it.
 */
#ifndef STUDY_OOM_LOG_H
#define STUDY_OOM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

struct gp_input_config;

/* A size as printed, with two decimals: the true one differs by at most
 * `error`. */
struct printed_bytes {
	uint64_t bytes, error;
	bool is_there;
};

#define OOM_TIME_ROOM 40

enum oom_api { OOM_OF_CUDA, OOM_OF_HIP, OOM_OF_XPU, OOM_OF_MPS };

/* How much a message says, the most informative form first. Of several
 * messages, the last one of the most informative form is taken. */
enum oom_form {
	OOM_TOLD,     /* the sentence with all sizes */
	OOM_REJECTED, /* 2.12 and later, throw_on_cudamalloc_oom: the request */
	OOM_ASYNC,    /* backend:cudaMallocAsync: not what it has cached */
	OOM_ABSURD,   /* more than 2^60 bytes were asked for */
	OOM_CUT,    /* little more than the request and the device, or not even
		       that */
	OOM_MPS,    /* another allocator, on a Mac: the request */
	OOM_DRIVER, /* CUDA's own, of which nothing is known */
	OOM_HOST,   /* the host ran out of memory */
};

/* All are of the moment at which the error was raised. */
struct oom_message {
	enum oom_form form;
	uint64_t line; /* of the file, from 1 */
	/* Messages in the file that say as much; this is the last. */
	uint64_t count;
	uint64_t devices; /* of all of them: a bit for each of the first 64 */
	/* As at the beginning of its line: "2026-11-27 10:00:00,123"; empty:
	 * unknown. */
	char time[OOM_TIME_ROOM];
	bool has_rank; /* "[rank3]: " is before it */
	uint32_t rank;
	enum oom_api api;
	const char *variable; /* of the environment, for settings: as it names
				 it, else as of that API */
	bool has_device;
	bool is_named; /* its number is printed, and does not end the message */
	uint32_t device;
	/* The size of the segment that was requested: the request, rounded up
	 * to 2 MiB, 20 MiB, or a multiple of 2 MiB. With OOM_REJECTED and
	 * cudaMallocAsync, the request itself. */
	struct printed_bytes asked;
	/* cudaMemGetInfo. XPU did not print the free memory before 2.7:
	 * free.is_there is false then, and it is at most free.error. */
	struct printed_bytes total, free;
	struct printed_bytes limit;   /* memory fraction of the process */
	struct printed_bytes process; /* all that this process has, by NVML */
	struct printed_bytes others;  /* all that other processes have */
	struct printed_bytes reserved, unallocated;
	/* Cached for private pools, which unallocated does not count. */
	struct printed_bytes in_pools;
	bool is_async;	    /* of cudaMallocAsync */
	bool is_old;	    /* of PyTorch 2.0 or before */
	bool is_expandable; /* it says that expandable_segments are on */
};

/* What stood in the way. */
enum oom_cause {
	OOM_BY_MOMENT,	  /* the device had enough free right afterwards */
	OOM_BY_PLACEMENT, /* there was enough in total */
	OOM_BY_POOLS,	  /* the same, with what private pools have cached */
	OOM_BY_LIMIT,	  /* the process may not use what the device has */
	OOM_BY_OTHERS,	  /* it would fit without other processes */
	OOM_BY_UNSEEN,	  /* the same; NVML did not say who holds it */
	OOM_BY_FULLNESS,  /* next to nothing is left, however it is placed */
	OOM_BY_CAPACITY,
	OOM_BY_REJECTION, /* before the device was asked */
	OOM_BY_SIZE,	  /* no device has that much */
	OOM_BY_DRIVER,	  /* not PyTorch's allocator, but CUDA or a library */
	OOM_BY_HOST,
	OOM_BY_UNKNOWN, /* the message does not say */
};

struct oom_conclusion {
	enum oom_cause cause;
	uint64_t allocated; /* by tensors */
	uint64_t needed;    /* allocated, and asked */
	uint64_t available; /* at most: reserved and free, or the limit */
	uint64_t missing;   /* the difference; 0: there was enough in total */
	uint64_t left;	    /* available and not needed */
	uint64_t idle;	    /* available, in no tensor, and in no pool */
	/* What others have, or a limit keeps from it; 0: next to nothing. */
	uint64_t withheld;
	uint64_t own;	 /* of the process, besides PyTorch; 0: not known */
	uint64_t unseen; /* taken on the device, and not by PyTorch */
	/* Reserved beyond what the device has; 0: next to nothing. NVIDIA's
	 * driver for Windows goes on in the host's memory when the device's is
	 * full. */
	uint64_t spilled;
};

/* Reads the message from a line of a log, as PyTorch 1.x to 2.15 write it;
 * false: it has none, or not a whole one. */
bool oom_log_parse(const char *line, struct oom_message *message);
/* The same for a message of which little is left, or that says little. */
bool oom_log_parse_brief(const char *line, struct oom_message *message);
/* Whether the sentence with which the text begins is complete. */
bool oom_log_is_whole(const char *text);
/* Reads the last message in a stream; false: there is none. What precedes a
 * message on its line, such as a time and a rank, may be repeated on each line
 * that the message is wrapped over. */
struct gp_source;
bool oom_log_scan(struct gp_source *source, struct oom_message *message);
struct oom_conclusion oom_log_conclude(const struct oom_message *message);

/* One of several log files, such as one for each rank. */
struct oom_logged {
	char *path; /* owned */
	struct oom_message message;
	struct oom_conclusion conclusion;
};
/* The index of the log whose message came first, if all messages have a time,
 * in the same format (*is_by_time); else of the first one that says most. */
size_t oom_logs_first(const struct oom_logged *logs, size_t count,
		      bool *is_by_time);
/* How little a message says; 0: everything. */
int oom_log_silence(const struct oom_message *message);

#endif
