/* SPDX-License-Identifier: MIT */
/* The message of an OutOfMemoryError: what is read from it, and what is
 * concluded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/source.h"
#include "gpupool/input.h"
#include "study/oom_log.h"
#include "suite.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define OLD                                                                    \
	"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU "  \
	"1; 23.70 GiB total capacity; 22.31 GiB already allocated; 8.56 MiB "  \
	"free; 22.38 GiB reserved in total by PyTorch) If reserved memory is " \
	">> allocated memory try setting max_split_size_mb"
#define BEGIN "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
#define HINT                                                                   \
	" If reserved but unallocated memory is large try setting "            \
	"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"

static struct oom_message message_of(const char *line)
{
	struct oom_message m = { 0 };

	ck_assert_msg(oom_log_parse(line, &m), "%s", line);
	return m;
}

static bool has_message(const char *text, size_t length, struct oom_message *m)
{
	const struct gp_input_config config = { .bytes = text,
						.length = length };
	struct gp_source source;
	struct gp_diag diag = { 0 };
	bool is_there;

	ck_assert_int_eq(gp_source_open(&source, &config, &diag), GP_OK);
	is_there = oom_log_scan(&source, m);
	ck_assert_int_eq(source.status, GP_OK);
	gp_source_close(&source);
	return is_there;
}

static void check_bytes(struct printed_bytes printed, double bytes)
{
	ck_assert(printed.is_there);
	ck_assert_uint_eq(printed.bytes, (uint64_t)bytes);
}

START_TEST(reads_the_sentence_of_2_0)
{
	struct oom_message m = message_of(OLD);

	ck_assert(m.is_old);
	ck_assert_uint_eq(m.device, 1);
	check_bytes(m.asked, 20 * MIB);
	check_bytes(m.total, 23.70 * GIB);
	check_bytes(m.free, 8.56 * MIB);
	check_bytes(m.reserved, 22.38 * GIB);
	ck_assert_uint_eq(m.unallocated.bytes,
			  (uint64_t)(22.38 * GIB) - (uint64_t)(22.31 * GIB));
	ck_assert(!m.limit.is_there && !m.others.is_there);
	m = message_of("CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; "
		       "8.00 GiB total capacity; 3.00 GiB already allocated; "
		       "4.00 GiB free; 4.00 GiB allowed; 3.50 GiB reserved in "
		       "total by PyTorch)");
	check_bytes(m.limit, 4 * GIB);
	check_bytes(m.reserved, 3.5 * GIB);
	m = message_of("CUDA out of memory. Tried to allocate 1024.00 KiB "
		       "(GPU 0; 11.00 GiB total capacity; 10.00 GiB already "
		       "allocated; 576.00 KiB free; 32.00 MiB cached)");
	check_bytes(m.reserved, 10 * GIB + 32 * MIB);
	ck_assert_uint_eq(m.unallocated.bytes, 32 * MIB);
}
END_TEST

START_TEST(reads_the_sentences_since_2_1)
{
	struct oom_message m = message_of(
		BEGIN
		"2.00 GiB. GPU 3 has a total capacty of 79.15 GiB of which "
		"512.00 KiB is free. Process 71 has 3.00 GiB memory in use. "
		"Including non-PyTorch memory, this process has 70.00 GiB "
		"memory in use. Process 72 has 1.50 GiB memory in use. "
		"75.00 GiB allowed; Of the allocated memory 60.00 GiB is "
		"allocated by PyTorch, with 2.00 GiB allocated in private "
		"pools (e.g., CUDA Graphs), and 9.00 GiB is reserved by "
		"PyTorch but unallocated." HINT);

	ck_assert(!m.is_old);
	ck_assert_uint_eq(m.device, 3);
	check_bytes(m.asked, 2 * GIB);
	check_bytes(m.total, 79.15 * GIB);
	check_bytes(m.free, 512 * KIB);
	check_bytes(m.others, 4.5 * GIB);
	check_bytes(m.process, 70 * GIB);
	check_bytes(m.limit, 75 * GIB);
	check_bytes(m.in_pools, 2 * GIB);
	check_bytes(m.unallocated, 9 * GIB);
	check_bytes(m.reserved, 69 * GIB);
	ck_assert_uint_eq(oom_log_conclude(&m).allocated, 58 * GIB);
}
END_TEST

/* In a container, the message lists this process by its id outside. */
START_TEST(takes_the_process_of_a_container_for_its_own)
{
	struct oom_message m = message_of(
		BEGIN
		"128.00 MiB. GPU 0 has a total capacity of 79.33 GiB of which "
		"16.00 MiB is free. Process 36891 has 79.29 GiB memory in use. "
		"Of the allocated memory 69.59 GiB is allocated by PyTorch, "
		"and 118.89 MiB is reserved by PyTorch but unallocated." HINT);

	ck_assert(!m.others.is_there);
	check_bytes(m.process, 79.29 * GIB);
	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_FULLNESS);
	m = message_of(
		BEGIN
		"2.00 GiB. GPU 0 has a total capacity of 40.00 GiB of which "
		"1.00 GiB is free. Process 1 has 12.00 GiB memory in use. "
		"Process 2 has 27.00 GiB memory in use. Of the allocated "
		"memory 26.00 GiB is allocated by PyTorch, and 0 bytes is "
		"reserved by PyTorch but unallocated." HINT);
	check_bytes(m.others, 12 * GIB);
	check_bytes(m.process, 27 * GIB);
	ck_assert_uint_lt(oom_log_conclude(&m).own, 2 * GIB);
	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_OTHERS);
}
END_TEST

/* 2^64 - 1 bytes, as NVML reports under WSL. */
START_TEST(leaves_processes_whose_memory_is_not_known)
{
	static const char *const lists[] = {
		"Process 1 has 17179869184.00 GiB memory in use. Process 2 "
		"has 1.50 GiB memory in use. ",
		"Process 2 has 1.50 GiB memory in use. Process 1 has "
		"17179869184.00 GiB memory in use. ",
	};
	struct oom_message m;

	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		char line[512];

		snprintf(line, sizeof(line),
			 BEGIN "2.00 GiB. GPU 0 has a total capacity of 8.00 "
			       "GiB of which 0 bytes is free. %sIncluding "
			       "non-PyTorch memory, this process has "
			       "17179869184.00 GiB memory in use. Of the "
			       "allocated memory 1.00 GiB is allocated by "
			       "PyTorch, and 0 bytes is reserved by PyTorch "
			       "but unallocated." HINT,
			 lists[i]);
		m = message_of(line);
		check_bytes(m.others, 1.5 * GIB);
		ck_assert(!m.process.is_there);
	}
}
END_TEST

/* ---- messages of PyTorch's own allocator, release by release ---- */

#define TABLE  "tests/conform/oom.tsv"
#define FIELDS 12

static bool is_near(struct printed_bytes printed, const char *bytes)
{
	uint64_t n = strtoull(bytes, NULL, 10);
	uint64_t d = printed.bytes > n ? printed.bytes - n : n - printed.bytes;

	return d <= printed.error;
}

/* In release 2.3, the message ends at the number of GPU 0. */
static void check_cut(const char *text, const char *segment)
{
	struct oom_message m = { 0 };

	ck_assert_msg(oom_log_parse_brief(text, &m), "%s", text);
	ck_assert_int_eq(m.form, OOM_CUT);
	ck_assert(m.has_device && !m.device && is_near(m.asked, segment));
}

static void check_row(const char *const *fields)
{
	const char *text = fields[11];
	struct oom_message m = { 0 };

	if (!strcmp(text + strlen(text) - 5, " GPU ")) {
		check_cut(text, fields[2]);
		return;
	}
	ck_assert_msg(oom_log_parse(text, &m), "%s", text);
	ck_assert_int_eq(m.form, OOM_TOLD);
	ck_assert_msg(m.has_device && !m.device &&
			      is_near(m.asked, fields[2]) &&
			      is_near(m.total, fields[3]) &&
			      is_near(m.free, fields[4]) &&
			      is_near(m.reserved, fields[8]),
		      "%s", text);
	ck_assert(*fields[5] == '-' ? !m.limit.is_there
				    : is_near(m.limit, fields[5]) ||
					      !strstr(text, "allowed"));
	ck_assert(oom_log_is_whole(text));
}

START_TEST(reads_what_every_release_says)
{
	char line[2048];
	FILE *file = fopen(TABLE, "r");
	size_t rows = 0;

	if (!file)
		skip_test("reads_what_every_release_says",
			  TABLE " is not here");
	while (fgets(line, sizeof(line), file)) {
		const char *fields[FIELDS];
		char *at = line;

		if (*line == '#')
			continue;
		line[strcspn(line, "\n")] = 0;
		for (size_t i = 0; i < FIELDS; i++) {
			fields[i] = at;
			at += strcspn(at, "\t");
			if (*at)
				*at++ = 0;
		}
		check_row(fields);
		rows++;
	}
	fclose(file);
	ck_assert_uint_gt(rows, 40);
}
END_TEST

/* ---- messages of other kinds ---- */

#define ASYNC                                                                  \
	"torch.OutOfMemoryError: Allocation on device 1 would exceed allowed " \
	"memory. (out of memory)\nCurrently allocated     : 9.43 GiB\n"        \
	"Requested               : 640.00 MiB\nDevice limit            : "     \
	"11.59 GiB\nFree (according to CUDA): 7.12 MiB\nPyTorch limit (set "   \
	"by user-supplied memory fraction)\n                        : "

START_TEST(tells_forms_apart)
{
	static const struct {
		const char *text;
		enum oom_form form;
		enum oom_cause cause;
		enum oom_api api;
		double asked; /* 0: not in the message */
	} cases[] = {
		/* PyTorch 2.12 and later */
		{ "CUDA out of memory. Allocation was preemptively rejected "
		  "because it would exceed per_process_memory_fraction limit. "
		  "Requested size: 286.50 MiB",
		  OOM_REJECTED, OOM_BY_REJECTION, OOM_OF_CUDA, 286.5 * MIB },
		{ "HIP out of memory. Allocation was preemptively rejected "
		  "because it would exceed per_process_memory_fraction limit. "
		  "Requested size: 512 bytes",
		  OOM_REJECTED, OOM_BY_REJECTION, OOM_OF_HIP, 512 },
		{ BEGIN "more than 1EB memory.", OOM_ABSURD, OOM_BY_SIZE,
		  OOM_OF_CUDA, 0 },
		{ ASYNC "17179869184.00 GiB", OOM_ASYNC, OOM_BY_UNSEEN,
		  OOM_OF_CUDA, 640 * MIB },
		{ ASYNC "10.00 GiB", OOM_ASYNC, OOM_BY_LIMIT, OOM_OF_CUDA,
		  640 * MIB },
		{ "torch.OutOfMemoryError: Allocation on device ", OOM_CUT,
		  OOM_BY_UNKNOWN, OOM_OF_CUDA, 0 },
		{ BEGIN "2.00 GiB. GPU ", OOM_CUT, OOM_BY_UNKNOWN, OOM_OF_CUDA,
		  2 * GIB },
		{ BEGIN "20.00 MiB. GPU 3 has a total capac", OOM_CUT,
		  OOM_BY_UNKNOWN, OOM_OF_CUDA, 20 * MIB },
		{ "XPU out of memory. Tried to allocate 512 bytes", OOM_CUT,
		  OOM_BY_UNKNOWN, OOM_OF_XPU, 512 },
		{ "RuntimeError: MPS backend out of memory (MPS allocated: "
		  "17.20 GB, other allocations: 640.00 MB, max allowed: 18.13 "
		  "GB). Tried to allocate 768.00 MB on private pool. Use "
		  "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit "
		  "for memory allocations (may cause system failure).",
		  OOM_MPS, OOM_BY_LIMIT, OOM_OF_MPS, 768 * MIB },
		{ "RuntimeError: CUDA error: out of memory\nCUDA kernel errors",
		  OOM_DRIVER, OOM_BY_DRIVER, OOM_OF_CUDA, 0 },
		{ "torch.AcceleratorError: HIP error: out of memory",
		  OOM_DRIVER, OOM_BY_DRIVER, OOM_OF_HIP, 0 },
		{ "RuntimeError: cuda runtime error (2) : out of memory at "
		  "/pytorch/aten/src/THC/THCGeneral.cpp:50",
		  OOM_DRIVER, OOM_BY_DRIVER, OOM_OF_CUDA, 0 },
		{ "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when "
		  "calling `cublasCreate(handle)`",
		  OOM_DRIVER, OOM_BY_DRIVER, OOM_OF_CUDA, 0 },
		{ "NCCL WARN Cuda failure 2 'out of memory'", OOM_DRIVER,
		  OOM_BY_DRIVER, OOM_OF_CUDA, 0 },
		{ "level_zero backend failed with error: 39 "
		  "(UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
		  OOM_DRIVER, OOM_BY_DRIVER, OOM_OF_XPU, 0 },
		{ "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. "
		  "DefaultCPUAllocator: can't allocate memory: you tried to "
		  "allocate 8589934592 bytes.",
		  OOM_HOST, OOM_BY_HOST, OOM_OF_CUDA, 0 },
		{ "slurmstepd: error: Detected 1 oom_kill event in "
		  "StepId=1.0.",
		  OOM_HOST, OOM_BY_HOST, OOM_OF_CUDA, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct oom_message m = { 0 };

		ck_assert_msg(
			has_message(cases[i].text, strlen(cases[i].text), &m),
			"%s", cases[i].text);
		ck_assert_msg(m.form == cases[i].form, "%d: %s", m.form,
			      cases[i].text);
		ck_assert_msg(oom_log_conclude(&m).cause == cases[i].cause,
			      "%d: %s", oom_log_conclude(&m).cause,
			      cases[i].text);
		ck_assert_msg(m.api == cases[i].api, "%s", cases[i].text);
		if (cases[i].asked > 0)
			check_bytes(m.asked, cases[i].asked);
		else
			ck_assert(!m.asked.is_there);
	}
}
END_TEST

/* Releases 2.4 to 2.6 did not print the free memory. */
START_TEST(reads_xpu_without_what_is_free)
{
	struct oom_message m = message_of(
		"XPU out of memory. Tried to allocate 2.00 GiB. GPU 1 has a "
		"total capacity of 16.00 GiB. Of the allocated memory 8.00 GiB "
		"is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch "
		"but unallocated. Please use `empty_cache` to release all "
		"unoccupied cached memory.");

	ck_assert(!m.free.is_there);
	ck_assert_uint_eq(m.device, 1);
	check_bytes(m.reserved, 14 * GIB);
	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_PLACEMENT);
}
END_TEST

/* ---- texts that are not messages ---- */

START_TEST(leaves_what_is_no_message)
{
	static const char *const lines[] = {
		"",
		"out of memory",
		BEGIN "2.00 GiB. GPU ", /* as 2.3 ends it */
		BEGIN "2.00 GiB. GPU 0 has a total capacity of 8.00 GiB",
		BEGIN "nan GiB. GPU 0",
		BEGIN "-2.00 GiB. GPU 0",
		BEGIN "2.00 TiB. GPU 0",
		BEGIN "1e300 GiB. GPU 0",
	};
	static const char *const others[] = {
		"",
		"out of memory",
		"Allocation on device 0 took 3 us",
		BEGIN "nan GiB. GPU 0",
		"torch.cuda.OutOfMemoryError",
	};
	struct oom_message m;

	for (size_t i = 0; i < COUNT_OF(lines); i++)
		ck_assert_msg(!oom_log_parse(lines[i], &m), "%s", lines[i]);
	for (size_t i = 0; i < COUNT_OF(others); i++)
		ck_assert_msg(!oom_log_parse_brief(others[i], &m), "%s",
			      others[i]);
}
END_TEST

/* ---- conclusions ---- */

/* A message on a device of 8 GiB, with sizes in GiB, in the form of PyTorch
 * 2.9. */
static struct oom_message made(double asked, double free, const char *between,
			       double allocated, double unallocated)
{
	char line[512];

	snprintf(line, sizeof(line),
		 BEGIN "%.2f GiB. GPU 0 has a total capacity of 8.00 GiB of "
		       "which %.2f GiB is free. %sOf the allocated memory %.2f "
		       "GiB is allocated by PyTorch, and %.2f GiB is reserved "
		       "by PyTorch but unallocated." HINT,
		 asked, free, between, allocated, unallocated);
	return message_of(line);
}

START_TEST(tells_what_stood_in_the_way)
{
	static const char others[] =
		"Process 7 has 3.00 GiB memory in use. Including non-PyTorch "
		"memory, this process has 4.50 GiB memory in use. ";
	static const char alone[] = "Including non-PyTorch memory, this "
				    "process has 4.50 GiB memory in use. ";
	static const struct {
		double asked, free;
		const char *between;
		double allocated, unallocated;
		enum oom_cause cause;
		double missing;
	} cases[] = {
		{ 2, 1, "", 4, 3, OOM_BY_PLACEMENT, 0 },
		{ 2, 0.5, "", 7, 0.5, OOM_BY_CAPACITY, 1 },
		/* By less than rounding may hide, and by more. */
		{ 2, 0.5, "", 6, 1.5, OOM_BY_FULLNESS, 0 },
		{ 2, 0.5, "", 6, 1.49, OOM_BY_FULLNESS, 0 },
		{ 2, 0.5, "", 5.9, 1.6, OOM_BY_PLACEMENT, 0 },
		{ 1, 0, others, 3, 1, OOM_BY_OTHERS, 0 },
		{ 2, 0.5, "", 6.04, 1.46, OOM_BY_CAPACITY, 0.04 },
		{ 1, 2, "6.00 GiB allowed; ", 5.5, 0, OOM_BY_LIMIT, 0.5 },
		{ 4, 1, "6.00 GiB allowed; ", 5.5, 0, OOM_BY_CAPACITY, 3.5 },
		{ 2, 0.5, others, 4, 0, OOM_BY_OTHERS, 1.5 },
		{ 4, 0.5, others, 4, 0, OOM_BY_CAPACITY, 3.5 },
		/* 3.50 GiB belong to no known process; a context may have 1 GiB
		 * of these. */
		{ 2, 0.5, "", 4, 0, OOM_BY_UNSEEN, 1.5 },
		{ 4, 0.5, "", 4, 0, OOM_BY_CAPACITY, 3.5 },
		{ 2, 0.5, alone, 4, 0, OOM_BY_CAPACITY, 1.5 },
		/* On Windows, more than the device's 8.00 GiB can be
		 * reserved. */
		{ 1, 0, "", 10, 1, OOM_BY_CAPACITY, 3 },
		{ 1, 0, "", 4, 8, OOM_BY_PLACEMENT, 0 },
		{ 2, 0, "", 7, 3, OOM_BY_CAPACITY, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct oom_message m =
			made(cases[i].asked, cases[i].free, cases[i].between,
			     cases[i].allocated, cases[i].unallocated);
		struct oom_conclusion c = oom_log_conclude(&m);

		ck_assert_msg(c.cause == cases[i].cause, "%zu: %d", i, c.cause);
		ck_assert_msg((double)c.missing >
					      cases[i].missing * GIB - 1e3 &&
				      (double)c.missing <
					      cases[i].missing * GIB + 1e3,
			      "%zu: %f", i, (double)c.missing / (double)GIB);
	}
}
END_TEST

START_TEST(tells_what_only_pools_may_use)
{
	struct oom_message m = message_of(
		BEGIN
		"2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which "
		"0.50 GiB is free. Of the allocated memory 7.00 GiB is "
		"allocated by PyTorch, with 3.00 GiB allocated in private "
		"pools (e.g., CUDA Graphs), and 0.50 GiB is reserved by "
		"PyTorch but unallocated." HINT);

	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_POOLS);
}
END_TEST

/* For even a single byte, 2.00 MiB are requested from the device. */
START_TEST(takes_a_segment_for_the_least_request)
{
	struct oom_message m = message_of(
		BEGIN
		"2.00 MiB. GPU 0 has a total capacity of 512.00 MiB of which 0 "
		"bytes is free. Of the allocated memory 511.00 MiB is "
		"allocated by PyTorch, and 1.00 MiB is reserved by PyTorch but "
		"unallocated." HINT);

	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_FULLNESS);
	m.asked = (struct printed_bytes){ 20 * MIB, 5243, true };
	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_FULLNESS);
	m.asked = (struct printed_bytes){ 22 * MIB, 5243, true };
	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_CAPACITY);
}
END_TEST

/* Memory that a limit withholds from the process was not free for it. */
START_TEST(counts_as_free_what_a_limit_leaves)
{
	struct oom_message m = made(1, 2, "6.00 GiB allowed; ", 3, 2.5);
	struct oom_conclusion c = oom_log_conclude(&m);

	ck_assert_int_eq(c.cause, OOM_BY_PLACEMENT);
	ck_assert_uint_eq(c.idle, 3 * GIB);
	m = made(1, 1, "", 3, 2.5);
	ck_assert_uint_eq(oom_log_conclude(&m).idle, 3.5 * GIB);
}
END_TEST

/* Neither others nor a limit alone are the reason. */
START_TEST(tells_what_was_withheld)
{
	struct oom_message m = made(
		4, 0.5,
		"Process 7 has 3.00 GiB memory in use. Including non-PyTorch "
		"memory, this process has 4.50 GiB memory in use. ",
		4, 0);

	ck_assert_uint_eq(oom_log_conclude(&m).withheld, 3 * GIB);
	m = made(4, 1, "6.00 GiB allowed; ", 5.5, 0);
	ck_assert_uint_eq(oom_log_conclude(&m).withheld, 0.5 * GIB);
	m = made(4, 0.5, "", 4, 0);
	ck_assert_uint_eq(oom_log_conclude(&m).withheld, 2.5 * GIB);
	m = made(4, 0.5, "", 7, 0);
	ck_assert_uint_eq(oom_log_conclude(&m).withheld, 0);
}
END_TEST

/* PyTorch 2.2 and 2.3 print the device's number as a character with that
 * code. */
START_TEST(reads_a_device_that_is_a_character)
{
	ck_assert_uint_eq(
		message_of(BEGIN
			   "2.00 GiB. GPU \3 has a total capacity of 8.00 GiB "
			   "of which 0 bytes is free. Of the allocated memory "
			   "7.00 GiB is allocated by PyTorch, and 0 bytes is "
			   "reserved by PyTorch but unallocated." HINT)
			.device,
		3);
}
END_TEST

START_TEST(knows_that_the_device_had_room)
{
	struct oom_message m = made(1, 2, "", 5, 0.5);

	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_MOMENT);
	m = made(2, 2.02, "", 5.9, 0);
	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_MOMENT);
	m = made(1, 2, "6.00 GiB allowed; ", 5, 0.5);
	ck_assert_int_ne(oom_log_conclude(&m).cause, OOM_BY_MOMENT);
}
END_TEST

/* ---- logs ---- */

START_TEST(takes_the_last_message_of_a_log)
{
	static char text[3 << 20];
	struct oom_message m;
	size_t length = 0, lines = 0, messages = 0;

	ck_assert(!has_message("step 1\n", 7, &m));
	while (length < sizeof(text) - 4096) {
		memset(text + length, 'x', 997);
		text[length + 997] = '\n';
		length += 998;
		if (++lines % 500)
			continue;
		length += (size_t)snprintf(text + length, 2048, "[rank1]: %s\n",
					   OLD);
		messages++;
	}
	ck_assert(has_message(text, length, &m));
	ck_assert_uint_eq(m.count, messages);
	ck_assert_uint_eq(m.line, messages * 501);
	ck_assert_uint_eq(m.device, 1);
	/* Cut off in the middle, or followed by zeros. */
	ck_assert(has_message(OLD, 90, &m));
	ck_assert_int_eq(m.form, OOM_CUT);
	memcpy(text, OLD, sizeof(OLD));
	memset(text + sizeof(OLD), 0, 64);
	ck_assert(has_message(text, sizeof(OLD) + 64, &m));
	ck_assert_uint_eq(m.line, 1);
}
END_TEST

/* As consoles wrap it, at blanks; and a message that is cut off, followed by
 * another. */
START_TEST(reads_a_message_that_was_wrapped)
{
	static const char whole[] =
		BEGIN "2.00 GiB. GPU 3 has a total \r\ncapacity of 23.69 GiB "
		      "of \nwhich 1.02 GiB is free. Of the allocated memory "
		      "15.50\n  GiB is allocated by PyTorch, and 6.70 GiB is "
		      "reserved by\nPyTorch but unallocated.\n"
		      "Of 9.00 GiB allowed; step 2\n";
	static const char cut[] =
		"step 1\n" BEGIN "1.00 GiB. GPU 1 has a total capacity of 8.00 "
		"GiB of which 0 bytes is free. Of the\n";
	char both[1024];
	struct oom_message m;

	ck_assert(has_message(whole, strlen(whole), &m));
	ck_assert_uint_eq(m.device, 3);
	check_bytes(m.total, 23.69 * GIB);
	check_bytes(m.unallocated, 6.70 * GIB);
	ck_assert(!m.limit.is_there);
	snprintf(both, sizeof(both), "%s%s", cut, whole);
	ck_assert(has_message(both, strlen(both), &m));
	ck_assert_uint_eq(m.count, 1);
	ck_assert_uint_eq(m.line, 3);
	ck_assert_uint_eq(m.device, 3);
}
END_TEST

/* 2.00 GiB were requested on GPU 3 with 23.69 GiB; 6.70 GiB are unallocated. */
#define PARTS(a, b, c)                                                         \
	"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total" a  \
	"capacity of 23.69 GiB of which 1.02 GiB is free. Of the allo" b       \
	"cated memory 15.50 GiB is allocated by PyTorch, and 6.70 GiB is" c    \
	"reserved by PyTorch but unallocated."

static struct oom_message read_whole(const char *text)
{
	struct oom_message m = { 0 };

	ck_assert_msg(has_message(text, strlen(text), &m), "%s", text);
	ck_assert_msg(m.form == OOM_TOLD, "%s", text);
	ck_assert_uint_eq(m.device, 3);
	check_bytes(m.total, 23.69 * GIB);
	check_bytes(m.unallocated, 6.70 * GIB);
	check_bytes(m.reserved,
		    (double)((uint64_t)(15.5 * GIB) + (uint64_t)(6.7 * GIB)));
	return m;
}

START_TEST(reads_lines_as_tools_write_them)
{
	static const struct {
		const char *text;
		int rank; /* -1: not in the message */
		uint64_t line;
	} cases[] = {
		{ PARTS(" ", "", " "), -1, 1 },
		/* Cut in the middle of a word, as PowerShell does. */
		{ "x\r\n" PARTS(" ", "\r\n", " \r\n"), -1, 2 },
		/* Colours: of a prefix, within the words, of a link. */
		{ "\033[1;36m(Worker_TP3 rank=3 pid=17)\033[0;0m ERROR "
		  "\033[31m" PARTS(" \033[1m", "", " ") "\033[0m",
		  3, 1 },
		{ "CUDA \033[01;31m\033[Kout of memory\033[m\033[K. Tried to "
		  "allocate \033[1;36m2.00\033[0m GiB. GPU "
		  "\033[1;36m3\033[0m has a total capacity of 23.69 GiB of "
		  "which 1.02 GiB is free. Of the allocated memory 15.50 GiB "
		  "is allocated by PyTorch, and 6.70 GiB is reserved by "
		  "PyTorch but unallocated.",
		  -1, 1 },
		{ "\033]8;;file:///a.py\a[Rank 2]\033]8;;\033\\: " PARTS(
			  " ", "", " "),
		  2, 1 },
		{ "\033]0;no end\n" PARTS(" ", "", " "), -1, 2 },
		/* A progress bar precedes it on its line, or one of another
		 * rank. */
		{ "\r  0%|    | rank 1\r 12%|#   | 3/25 [rank7]: " PARTS(
			  " ", "", " "),
		  7, 1 },
		{ " 12%|#   | 3/25 lora_rank=16 " PARTS(" ", "", " "), -1, 1 },
		/* vLLM; DeepSpeed, with lines of another host in between; Ray;
		 * syslog; Kubernetes; and forms in which str(error) is printed.
		 */
		{ "ERROR 08-21 22:56:04 [core.py:395] "
		  "torch.OutOfMemoryError: " PARTS(
			  "\nERROR 08-21 22:56:04 [core.py:395] ", "", " "),
		  -1, 1 },
		{ "worker1: [rank9]: torch.OutOfMemoryError: " PARTS(
			  "\nworker2: [rank17]: x\nworker1: [rank9]: ", "",
			  " "),
		  9, 1 },
		{ "(WorkerDict pid=17, ip=10.0.0.1) Error: " PARTS(
			  "\n(WorkerDict pid=17, ip=10.0.0.1) ", "", " "),
		  -1, 1 },
		{ "Nov 27 10:00:00 node1 train[123]: Error: " PARTS(
			  "\nNov 27 10:00:01 node1 train[123]: ", "", " "),
		  -1, 1 },
		{ "2024-08-21T22:56:04.1Z stderr F Error: " PARTS(
			  "\n2024-08-21T22:56:04.2Z stderr F ", "", " "),
		  -1, 1 },
		{ "failed: OutOfMemoryError('" PARTS(" ", "", " ") "')", -1,
		  1 },
		/* JSON as Docker and loggers write it. */
		{ "{\"log\":\"x\\n\",\"stream\":\"stderr\"}\n"
		  "{\"log\":\"[rank5]: Error: " PARTS(
			  "\\n\",\"stream\":\"stderr\",\"time\":\"2026\"}\n"
			  "{\"log\":\"[rank5]: ",
			  "", " ") "\\n\",\"stream\":\"stderr\"}\n",
		  5, 2 },
		{ "{\"time\": \"2026\", \"rank\": 4, \"message\": \"a: "
		  "\\u001b[31m" PARTS("\\n", "", "\\u001b[0m ") "\"}",
		  4, 1 },
		{ "{\"log\":\"Error: " PARTS(
			  "\"}\n{\"other\":\"capacity of 9\"}\n{\"log\":\" ",
			  "", " ") "\"}\n",
		  -1, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct oom_message m = read_whole(cases[i].text);

		ck_assert_msg(m.has_rank == (cases[i].rank >= 0), "%s",
			      cases[i].text);
		if (m.has_rank)
			ck_assert_int_eq((int)m.rank, cases[i].rank);
		ck_assert_msg(m.line == cases[i].line, "%s", cases[i].text);
	}
}
END_TEST

/* A line of 8 MiB, including its end. */
START_TEST(reads_very_long_lines)
{
	const char message[] = PARTS(" ", "", " ");
	size_t before = 8 << 20, length = before + strlen(message);
	char *text = malloc(length + 1);
	struct oom_message m;

	memset(text, 'x', before);
	memcpy(text + before, message, sizeof(message));
	ck_assert(has_message(text, length, &m));
	ck_assert_int_eq(m.form, OOM_TOLD);
	ck_assert_uint_eq(m.line, 1);
	free(text);
}
END_TEST

/* What PowerShell writes for ">", and the same on a big-endian machine. */
START_TEST(reads_utf16)
{
	const char message[] =
		"\303\251 \360\237\222\245\n" PARTS(" ", "", " ");
	static const unsigned char first[] = { 0xe9, 0,	   ' ',	 0,
					       0x3d, 0xd8, 0xa5, 0xdc };
	const char *rest = strchr(message, '\n');
	unsigned char text[1024];

	for (size_t big = 0; big < 2; big++) {
		struct oom_message m;
		size_t n = 2;

		text[0] = big ? 0xfe : 0xff;
		text[1] = big ? 0xff : 0xfe;
		for (size_t i = 0; i < sizeof(first); i++)
			text[n++] = first[i ^ big];
		for (const char *at = rest; *at; at++) {
			text[n + big] = (unsigned char)*at;
			text[n + !big] = 0;
			n += 2;
		}
		ck_assert(has_message((const char *)text, n, &m));
		ck_assert_int_eq(m.form, OOM_TOLD);
		ck_assert_uint_eq(m.line, 2);
	}
}
END_TEST

/* Of several messages, the last of the most detailed ones is taken. */
START_TEST(prefers_what_says_most)
{
	static const char brief[] =
		"CUDA error: out of memory\nCUDA out of memory. Tried to "
		"allocate 9.00 GiB. GPU \nCUDA error: out of memory\n";
	struct oom_message m =
		read_whole("RuntimeError: CUDA error: out of memory\n" PARTS(
			" ", "", " ") "\n"
				      "CUDA out of memory. Tried to allocate "
				      "9.00 GiB. GPU \n"
				      "oom_kill event\n");

	ck_assert_uint_eq(m.count, 1);
	ck_assert_uint_eq(m.devices, 1 << 3);
	ck_assert_uint_eq(m.line, 2);
	has_message(brief, strlen(brief), &m);
	ck_assert_int_eq(m.form, OOM_CUT);
	ck_assert_uint_eq(m.line, 2);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ reads_what_every_release_says, 0 },
		{ tells_forms_apart, 0 },
		{ reads_xpu_without_what_is_free, 0 },
		{ reads_lines_as_tools_write_them, 0 },
		{ reads_very_long_lines, 0 },
		{ reads_utf16, 0 },
		{ prefers_what_says_most, 0 },
		{ reads_the_sentence_of_2_0, 0 },
		{ reads_the_sentences_since_2_1, 0 },
		{ takes_the_process_of_a_container_for_its_own, 0 },
		{ leaves_processes_whose_memory_is_not_known, 0 },
		{ leaves_what_is_no_message, 0 },
		{ tells_what_stood_in_the_way, 0 },
		{ tells_what_only_pools_may_use, 0 },
		{ takes_a_segment_for_the_least_request, 0 },
		{ counts_as_free_what_a_limit_leaves, 0 },
		{ tells_what_was_withheld, 0 },
		{ reads_a_device_that_is_a_character, 0 },
		{ knows_that_the_device_had_room, 0 },
		{ takes_the_last_message_of_a_log, 0 },
		{ reads_a_message_that_was_wrapped, 0 },
	};

	return suite_run("oom_log", tests, sizeof(tests) / sizeof(*tests));
}
