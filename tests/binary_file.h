/* SPDX-License-Identifier: MIT */
/* The bytes of a binary trace, some of which tests change. */
#ifndef TESTS_BINARY_FILE_H
#define TESTS_BINARY_FILE_H

#include "trace_text.h"

/* A bit of everything; a list of owners, and the owner of its first block. */
#define SMALL_TRACE(owners, owner)                                             \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"settings\": \"\","  \
	" \"sites\": [\"main\", \"f\"], \"callers\": [-1, 0]," owners          \
	" \"devices\": [{\"device\": 0,"                                       \
	" \"start\": {\"segments\": [{\"address\": 4096, \"total_size\": "     \
	"1024,"                                                                \
	"   \"segment_type\": \"small\", \"blocks\": ["                        \
	"  {\"size\": 512, \"state\": \"active_allocated\", \"id\": 7" owner   \
	"},"                                                                   \
	"  {\"size\": 512, \"state\": \"inactive\"}]}]},"                      \
	" \"events\": ["                                                       \
	"{\"op\": \"alloc\", \"id\": 8, \"size\": 100, \"stream\": 16,"        \
	" \"pool\": [0, 1], \"site\": 1},"                                     \
	"{\"op\": \"mark\", \"name\": \"step\", \"stage\": \"start\"},"        \
	"{\"op\": \"set_memory_fraction\", \"fraction\": 0.5},"                \
	"{\"op\": \"record_stream\", \"id\": 8, \"stream\": 0},"               \
	"{\"op\": \"free\", \"id\": 7},"                                       \
	"{\"op\": \"free\", \"id\": 8},"                                       \
	"{\"op\": \"synchronize\"},"                                           \
	"{\"op\": \"capture_begin\", \"pool\": [0, 1], \"stream\": 16},"       \
	"{\"op\": \"synchronize\", \"stream\": 16, \"by\": 0},"                \
	"{\"op\": \"free_completed\", \"id\": 8}]}]}"

struct file {
	struct gp_trace *trace;
	char *bytes;
	size_t n;
};

static inline void release(struct file *file)
{
	gp_trace_destroy(file->trace);
	free(file->bytes);
}

/* The file must be refused with a message, or be a trace that can be walked. */
static inline bool is_survived(const char *bytes, size_t n)
{
	struct gp_trace *trace, *copy;
	struct gp_diag diag;
	enum gp_status status = try_bytes(bytes, n, &trace, &diag);

	if (status) {
		ck_assert_int_eq(status, GP_INPUT);
		ck_assert_str_ne(diag.what, "");
		return false;
	}
	copy = again(trace, GP_TRACE_JSON);
	gp_trace_destroy(copy);
	gp_trace_destroy(trace);
	return true;
}

#endif
