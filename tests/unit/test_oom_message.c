/* SPDX-License-Identifier: MIT */
/*
 * The OutOfMemoryError in the words of PyTorch's own allocator:
 * tests/conform/oom.tsv, every row in every release that it names.
 */
#include "report/trouble.h"

#include <stdlib.h>
#include <string.h>

#include "gpupool/knob.h"
#include "suite.h"

#define TABLE  "tests/conform/oom.tsv"
#define FIELDS 12

static void split(char *line, const char **fields)
{
	line[strcspn(line, "\n")] = 0;
	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = line;
		line += strcspn(line, "\t");
		if (*line)
			*line++ = 0;
	}
}

static uint64_t number(const char *text)
{
	return *text == '-' ? GP_UNLIMITED : strtoull(text, NULL, 10);
}

static struct gp_oom oom_of(const char *const *fields)
{
	return (struct gp_oom){
		.is_there = true,
		.segment_size = number(fields[2]),
		.device_total = number(fields[3]),
		.device_free = number(fields[4]),
		.limit = number(fields[5]),
		.allocated = number(fields[6]),
		.pool_free = number(fields[7]),
		.reserved = number(fields[8]),
		.is_expandable = *fields[9] == '1',
		.reserve = number(fields[10]),
	};
}

START_TEST(test_as_pytorch_words_it)
{
	const char *fields[FIELDS];
	char line[2048], message[GP_OOM_MESSAGE];
	FILE *file = fopen(TABLE, "r");
	size_t rows = 0;

	if (!file)
		skip_test("as_pytorch_words_it", TABLE " is not here");
	for (; fgets(line, sizeof(line), file); rows += *line != '#') {
		struct gp_oom oom;
		uint64_t last;

		if (*line == '#')
			continue;
		split(line, fields);
		oom = oom_of(fields);
		last = number(fields[1] + 2);
		for (uint64_t r = number(fields[0] + 2); r <= last; r++) {
			oom.release = (uint8_t)r;
			ck_assert_str_eq(gp_oom_message(&oom, message),
					 fields[11]);
		}
	}
	fclose(file);
	ck_assert_uint_gt(rows, 40);
}
END_TEST

/* Release 2.3 wrote a device's number as a character, so number 0 ends the
 * text. */
START_TEST(test_second_device)
{
	const struct {
		uint8_t release;
		const char *start;
	} rows[] = {
		{ 0, "CUDA out of memory. Tried to allocate 0 bytes (GPU 1; " },
		{ 2, "CUDA out of memory. Tried to allocate 0 bytes. GPU 1 h" },
		{ 3,
		  "CUDA out of memory. Tried to allocate 0 bytes. GPU \1 h" },
		{ 4, "CUDA out of memory. Tried to allocate 0 bytes. GPU 1 h" },
	};
	char message[GP_OOM_MESSAGE];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_oom oom = { .device = 1, .release = rows[i].release };

		ck_assert_int_eq(strncmp(gp_oom_message(&oom, message),
					 rows[i].start, strlen(rows[i].start)),
				 0);
	}
}
END_TEST

/* Release 2.12.1 and 2.15.0: 300000000 bytes on a device of 256 MiB. */
START_TEST(test_rejection)
{
	struct gp_oom oom = { .size = 300000000,
			      .segment_size = 301989888,
			      .release = GP_RELEASE_LAST,
			      .is_rejected = true };
	char message[GP_OOM_MESSAGE];

	ck_assert_str_eq(gp_oom_message(&oom, message),
			 "CUDA out of memory. Allocation was preemptively "
			 "rejected because it would exceed "
			 "per_process_memory_fraction limit. Requested size: "
			 "286.10 MiB");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_as_pytorch_words_it, 0 },
		{ test_second_device, 0 },
		{ test_rejection, 0 },
	};

	return suite_run("oom_message", tests, COUNT_OF(tests));
}
