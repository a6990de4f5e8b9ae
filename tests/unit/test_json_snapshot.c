/* SPDX-License-Identifier: MIT */
/*
 * A snapshot in JSON is read without jansson where it is plain, which must not
 * show.
 */
#include "read_twice.h"
#include "suite.h"

/* Values that are almost plain. */
static const char *const numbers[] = {
	"0",
	"512",
	"-1",
	"01",
	"1.0",
	"1e3",
	"9223372036854775808",
	"null",
	"true",
	"\"7\"",
	"[0]",
	"{}",
	"18446744073709551615",
	"5 ",
	" 5",
	"\n5",
	"\t5 \n",
	"18446744073709551616",
	"1234567890123456789",
	"",
	"\"\\u0037\"",
};

static const char *const words[] = {
	"\"alloc\"",
	"\"free_requested\"",
	"\"allo\\u0063\"",
	"\"free_completed\"",
	"\"other\"",
	"7",
	"null",
	"\"alloc\\u0000\"",
	"\"\"",
	"\"segment_alloc\"",
	"\"snapshot\"",
	"\"\xc3\xa4\"",
};

static const char *const frames[] = {
	"[]",
	"[{\"name\": \"f\", \"filename\": \"a.py\", \"line\": 3}]",
	"[{\"name\":  \"f\",\n \"filename\": \"a.py\", \"line\": 3}]",
	("[{\"name\": \"\\\"\\\\\", \"filename\": \"]\", \"line\": "
	 "9223372036854775808}]"),
	"[1, 2]",
	"{}",
	"[{\"name\": \"f]\"}",
};

static const char *const pools[] = {
	"[0, 0]",    "[0,1]",	"[ 1 , 2 ]", "[0]",
	"[0, 1, 2]", "[-1, 0]", "7",	     "[0, 9223372036854775808]",
};

#define PICK(list, r) (list)[(r) % COUNT_OF(list)]

/* Mostly as PyTorch writes them. */
static const char *number(uint64_t *state, char text[24])
{
	uint64_t r = next_random(state);

	if (r % 40 == 0)
		return PICK(numbers, r >> 8);
	snprintf(text, 24, "%llu", (unsigned long long)(r >> 20 & ~511ull));
	return text;
}

static size_t make_entry(char *to, size_t room, uint64_t *state)
{
	char addr[24], size[24], time[24];
	uint64_t r = next_random(state);

	return (size_t)snprintf(
		to, room,
		"{\"action\": %s, \"addr\": %s, \"size\": %s, \"stream\": "
		"%s, \"time_us\": %s, \"more\": %s, \"pool_id\": %s, "
		"\"frames\": %s}",
		r % 30 ? words[r >> 8 & 1] : PICK(words, r >> 8),
		number(state, addr), number(state, size),
		r % 20 == 1 ? PICK(numbers, r >> 16) : "0", number(state, time),
		r % 20 == 2 ? PICK(frames, r >> 24) : "\"\"",
		r % 20 == 3 ? PICK(pools, r >> 24) : "[0, 0]",
		PICK(frames, r % 20 == 4 ? r >> 32 : (r >> 32) % 2));
}

static size_t make_block(char *to, size_t room, uint64_t *state)
{
	uint64_t r = next_random(state);

	return (size_t)snprintf(
		to, room,
		"{\"address\": %s, \"size\": %s, \"requested_size\": %s, "
		"\"state\": \"%s\", \"frames\": %s}",
		r % 20 == 1 ? PICK(numbers, r >> 8) : "2097152",
		r % 20 == 2 ? PICK(numbers, r >> 8) : "2097152",
		r % 20 == 3 ? PICK(numbers, r >> 8) : "1000",
		r % 9 ? "active_allocated" : "inactive",
		PICK(frames, r % 20 == 4 ? r >> 32 : (r >> 32) % 2));
}

static size_t make(char *text, size_t room, uint64_t *state)
{
	uint64_t count = next_random(state) % 12, r = next_random(state);
	size_t n;

	n = (size_t)snprintf(text, room, "{\"device_traces\": [[");
	for (uint64_t i = 0; i < count; i++) {
		if (i)
			text[n++] = ',';
		n += make_entry(text + n, room - n, state);
	}
	n += (size_t)snprintf(
		text + n, room - n,
		"]], \"segments\": [{\"device\": 0, \"address\": 2097152, "
		"\"total_size\": %s, \"stream\": %s, \"segment_type\": "
		"\"large\", \"segment_pool_id\": %s, \"is_expandable\": %s, "
		"\"blocks\": [",
		r % 20 == 1 ? PICK(numbers, r >> 8) : "2097152",
		r % 20 == 2 ? PICK(numbers, r >> 8) : "0",
		r % 20 == 3 ? PICK(pools, r >> 8) : "[0, 0]",
		r % 20 == 4 ? PICK(numbers, r >> 8) : "false");
	n += make_block(text + n, room - n, state);
	n += (size_t)snprintf(text + n, room - n,
			      "]}], \"external_annotations\": [{\"device\": 0, "
			      "\"time_us\": %s, \"name\": %s, \"stage\": "
			      "\"START\"}]}\n",
			      r % 20 == 5 ? PICK(numbers, r >> 8) : "4",
			      r % 20 == 6 ? PICK(words, r >> 8) : "\"step\"");
	return n;
}

START_TEST(test_changed_snapshots)
{
	read_changed(make, 3);
}
END_TEST

/* Windows may end anywhere. */
START_TEST(test_many_windows)
{
	size_t room = 2 << 20, n;
	uint64_t state = 5;
	char *text = malloc(room + 1024);

	n = (size_t)snprintf(text, room, "[[");
	while (n < room) {
		n += (size_t)snprintf(
			text + n, 1024,
			"{\"action\": \"alloc\", \"addr\": %llu, \"size\": "
			"512, \"stream\": 0, \"frames\": [{\"name\": \"f\", "
			"\"filename\": \"a.py\", \"line\": %u}]},",
			(unsigned long long)(n * 512),
			(unsigned)(next_random(&state) >> 50));
	}
	text[n - 1] = ']';
	text[n++] = ']';
	ck_assert(read_twice(text, n));
	free(text);
}
END_TEST

/* One value may begin like the other one, and is also the last in the list. */
START_TEST(test_frames_that_are_no_lists)
{
	static const char *const values[] = {
		"1", "12", "12345", "[]", "\"a\"", "\"ab\"", "null", "{}"
	};

	for (size_t i = 0; i < COUNT_OF(values) * COUNT_OF(values); i++) {
		char text[1024];
		const char *one = values[i / COUNT_OF(values)];
		const char *other = values[i % COUNT_OF(values)];
		int n = snprintf(
			text, sizeof(text),
			"{\"segments\": [], \"device_traces\": [["
			"{\"action\": \"alloc\", \"addr\": 512, \"size\": 512, "
			"\"stream\": 0, \"frames\": %s}], ["
			"{\"action\": \"alloc\", \"addr\": 512, \"size\": 512, "
			"\"stream\": 0, \"frames\": %s}, "
			"{\"action\": \"alloc\", \"addr\": 1024, \"size\": "
			"512, "
			"\"stream\": 0, \"frames\": %s}]]}%200s",
			one, other, one, "");

		ck_assert_msg(read_twice(text, (size_t)n), "%s, %s", one,
			      other);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_changed_snapshots, 0 },
		{ test_many_windows, 0 },
		{ test_frames_that_are_no_lists, 0 },
	};

	return suite_run("snapshots in JSON", tests, COUNT_OF(tests));
}
