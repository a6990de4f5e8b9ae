/* SPDX-License-Identifier: MIT */
/* What is kept of a profile: memory events, steps and operators. */
#ifndef FORMATS_KINETO_RECORD_H
#define FORMATS_KINETO_RECORD_H

#include "trace/build.h"

/* In the order in which they come at one time. */
enum kineto_kind { KINETO_STEP_END, KINETO_STEP, KINETO_MEMORY };

struct kineto_record {
	double ts; /* microseconds */
	uint64_t order;
	uint64_t thread;
	uint64_t addr, size; /* KINETO_MEMORY */
	uint64_t total;	     /* allocated behind it; UINT64_MAX: not known */
	uint64_t reserved;   /* likewise */
	uint32_t device;
	uint32_t site;
	uint32_t text; /* KINETO_STEP */
	uint8_t kind;  /* enum kineto_kind */
	bool is_free;
};

/* What ran on a thread, from ts to end. */
struct kineto_span {
	double ts, end;
	uint64_t order;
	uint64_t thread;
	uint32_t text;
};

/* Gives each memory event the stack of what ran on its thread. */
void kineto_place(struct gp_build *build, struct kineto_record *records,
		  size_t record_count, struct kineto_span *spans,
		  size_t span_count);

/* What a device has, by CUDA's ordinal. */
#define KINETO_DEVICES 64 /* that are told of */
struct kineto_memory {
	uint64_t ordinal, bytes;
};

struct kineto_profile {
	struct kineto_record *records; /* are put in order */
	size_t count;
	const struct kineto_memory *memory;
	size_t memory_count;
	uint64_t base_us; /* added to times */
};

/* The requests, on the devices that have any. */
enum gp_status kineto_request(struct gp_build *build,
			      const struct kineto_profile *profile,
			      struct gp_diag *diag);

#endif
