/* SPDX-License-Identifier: MIT */
/* The message of an OutOfMemoryError: what is read, and what is concluded. */
#include <stdio.h>
#include <string.h>

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

/* In a container this process is listed by the id that it has outside. */
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

/* 2^64 - 1 bytes, which NVML says under WSL. */
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

START_TEST(leaves_what_is_no_message)
{
	static const char *const lines[] = {
		"",
		"out of memory",
		BEGIN "more than 1EB memory.",
		BEGIN "2.00 GiB. GPU ", /* as 2.3 ends it */
		BEGIN "2.00 GiB. GPU 0 has a total capacity of 8.00 GiB",
		BEGIN "nan GiB. GPU 0",
		BEGIN "-2.00 GiB. GPU 0",
		BEGIN "2.00 TiB. GPU 0",
		BEGIN "1e300 GiB. GPU 0",
	};
	struct oom_message m;

	for (size_t i = 0; i < COUNT_OF(lines); i++)
		ck_assert_msg(!oom_log_parse(lines[i], &m), "%s", lines[i]);
}
END_TEST

/* ---- conclusions ---- */

/* Of 8 GiB, in GiB and as PyTorch 2.9 prints them. */
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
		/* By less than is rounded away, and by more than that. */
		{ 2, 0.5, "", 6, 1.5, OOM_BY_FULLNESS, 0 },
		{ 2, 0.5, "", 6, 1.49, OOM_BY_FULLNESS, 0 },
		{ 2, 0.5, "", 5.9, 1.6, OOM_BY_PLACEMENT, 0 },
		{ 1, 0, others, 3, 1, OOM_BY_OTHERS, 0 },
		{ 2, 0.5, "", 6.04, 1.46, OOM_BY_CAPACITY, 0.04 },
		{ 1, 2, "6.00 GiB allowed; ", 5.5, 0, OOM_BY_LIMIT, 0.5 },
		{ 4, 1, "6.00 GiB allowed; ", 5.5, 0, OOM_BY_CAPACITY, 3.5 },
		{ 2, 0.5, others, 4, 0, OOM_BY_OTHERS, 1.5 },
		{ 4, 0.5, others, 4, 0, OOM_BY_CAPACITY, 3.5 },
		/* 3.50 GiB are nobody's that is known, of which a context may
		 * have 1. */
		{ 2, 0.5, "", 4, 0, OOM_BY_UNSEEN, 1.5 },
		{ 4, 0.5, "", 4, 0, OOM_BY_CAPACITY, 3.5 },
		{ 2, 0.5, alone, 4, 0, OOM_BY_CAPACITY, 1.5 },
		/* More reserved than the device's 8.00 GiB: Windows. */
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

/* 2.00 MiB are asked of the device for as little as a byte. */
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

/* What a limit keeps from the process was not free for it. */
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

/* Where neither others nor a limit alone are the reason. */
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

/* PyTorch 2.2 and 2.3 print the device as a character of that number. */
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

	ck_assert_int_eq(oom_log_conclude(&m).cause, OOM_BY_PLACEMENT);
	ck_assert(oom_log_conclude(&m).was_free);
	m = made(1, 2, "6.00 GiB allowed; ", 5, 0.5);
	ck_assert(!oom_log_conclude(&m).was_free);
}
END_TEST

/* ---- logs ---- */

static enum gp_status read_log(const char *text, size_t length,
			       struct oom_message *m)
{
	const struct gp_input_config config = { .bytes = text,
						.length = length };
	struct gp_diag diag = { 0 };

	return oom_log_read(&config, m, &diag);
}

START_TEST(takes_the_last_message_of_a_log)
{
	static char text[3 << 20];
	struct oom_message m;
	size_t length = 0, lines = 0, messages = 0;

	ck_assert_int_eq(read_log("step 1\n", 7, &m), GP_INPUT);
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
	ck_assert_int_eq(read_log(text, length, &m), GP_OK);
	ck_assert_uint_eq(m.count, messages);
	ck_assert_uint_eq(m.line, messages * 501);
	ck_assert_uint_eq(m.device, 1);
	/* Cut off in its middle, or followed by zeros. */
	ck_assert_int_eq(read_log(OLD, 90, &m), GP_INPUT);
	memcpy(text, OLD, sizeof(OLD));
	memset(text + sizeof(OLD), 0, 64);
	ck_assert_int_eq(read_log(text, sizeof(OLD) + 64, &m), GP_OK);
	ck_assert_uint_eq(m.line, 1);
}
END_TEST

/* As consoles wrap it, at blanks; and one that is cut off before the next. */
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

	ck_assert_int_eq(read_log(whole, strlen(whole), &m), GP_OK);
	ck_assert_uint_eq(m.device, 3);
	check_bytes(m.total, 23.69 * GIB);
	check_bytes(m.unallocated, 6.70 * GIB);
	ck_assert(!m.limit.is_there);
	snprintf(both, sizeof(both), "%s%s", cut, whole);
	ck_assert_int_eq(read_log(both, strlen(both), &m), GP_OK);
	ck_assert_uint_eq(m.count, 1);
	ck_assert_uint_eq(m.line, 3);
	ck_assert_uint_eq(m.device, 3);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
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
