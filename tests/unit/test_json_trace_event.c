/* SPDX-License-Identifier: MIT */
/*
 * Plain events of gpupool-trace are read without jansson. This must not show:
 * for every text, the same trace is returned, or it is refused for the same
 * reason.
 */
#include "read_twice.h"
#include "suite.h"

#define CASES 1500
#define ROOM  (1 << 16)
#define PIECE 256 /* bytes of an event at the most */

/* ---- forms that are almost plain ---- */

#define ALLOC "{\"op\":\"alloc\",\"id\":1,\"size\":512}"

static const char *const events[] = {
	ALLOC,
	" { \"op\" : \"alloc\" ,\n\t\"id\" : 1 , \"size\" :\r\n 512 } ",
	"{\"size\":512,\"id\":1,\"op\":\"alloc\"}",
	"{\"op\":\"alloc\",\"op\":\"free\",\"id\":1,\"size\":512}",
	"{\"op\":\"alloc\",\"id\":7,\"id\":1,\"size\":512}",
	"{\"op\":\"al\\u006coc\",\"id\":1,\"size\":512}",
	"{\"o\\u0070\":\"alloc\",\"id\":1,\"size\":512}",
	"{\"op\":\"alloc\\u0000\",\"id\":1,\"size\":512}",
	"{\"op\":\"\",\"id\":1,\"size\":512}",
	"{\"op\":\"allocs\",\"id\":1,\"size\":512}",
	"{\"op\":\"allo\",\"id\":1,\"size\":512}",
	"{\"op\":null,\"id\":1,\"size\":512}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"more\":[{}]}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"pool\":[0,1]}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"pool\":[ 0 , 1 ]}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"pool\":[0,1,2]}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"pool\":[-1,0]}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"pool\":null}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"pool\":3}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"stream\":"
	"18446744073709551615}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"stream\":"
	"18446744073709551616}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"stream\":"
	"9999999999999999999}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"stream\":"
	"9223372036854775807}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"stream\":"
	"9223372036854775808}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"time\":1795248042564008}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"time\":12345678}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"time\":1234567/}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"time\":1234567:}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":0512}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":00}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":0}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":-0}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512.0}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":5e2}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":+5}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":5 6}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":\"512\"}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":true}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512 \"site\":0}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"site\":0}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"site\":2}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"site\":4294967295}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"device\":1}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"device\":1024}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"inferred\":true}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"inferred\":truely}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"refused\":1}",
	"{\"op\":\"alloc\",\"id\":1,\"size\":512,\"restored\":false}",
	"{\"op\":\"free\",\"id\":1}",
	ALLOC "," ALLOC,
	ALLOC ",{\"op\":\"free\",\"id\":1,\"at_once\":true}",
	ALLOC ",{\"op\":\"free\",\"id\":1,\"at_once\":false}",
	ALLOC ",{\"op\":\"free\",\"id\":1,\"at_once\":0}",
	ALLOC ",{\"op\":\"record_stream\",\"id\":1}",
	ALLOC ",{\"op\":\"synchronize\",\"id\":1}",
	"{\"op\":\"synchronize\",\"stream\":1,\"by\":2}",
	"{\"op\":\"synchronize\",\"by\":2}",
	"{\"op\":\"set_memory_fraction\",\"fraction\":0.5}",
	"{\"op\":\"set_memory_fraction\",\"fraction\":1}",
	"{\"op\":\"set_memory_fraction\"}",
	"{\"op\":\"other_memory\",\"bytes\":9}",
	"{\"op\":\"capture_begin\",\"pool\":[1,0],\"stream\":0}",
	"{\"op\":\"set_allocator_settings\",\"conf\":\"a:1\"}",
	"{\"op\":\"mark\",\"name\":\"step\",\"stage\":\"start\"}",
	"{\"op\":\"mark\",\"name\":\"step\",\"stage\":\"star\"}",
	"{\"op\":\"mark\",\"name\":\"step\",\"stage\":\"\"}",
	"{\"op\":\"mark\",\"name\":\"step\",\"stage\":1}",
	"{\"op\":\"mark\",\"name\":\"\"}",
	"{\"op\":\"mark\",\"name\":\"a\\\"b\\\\\"}",
	"{\"op\":\"mark\",\"name\":\"\xc3\xa4\"}",
	"{\"op\":\"mark\",\"name\":\"\xc3\"}",
	"{\"op\":\"mark\",\"name\":\"\x7f"
	"12\"}",
	"{\"op\":\"mark\",\"name\":\"a\tb\"}",
	"{\"op\":\"mark\",\"name\":\"a",
	"{\"op\":\"mark\"}",
	"{\"op\":\"oom\",\"size\":1,\"device_free\":7}",
	"{\"op\":\"segment_alloc\",\"addr\":4096,\"size\":512}",
	"{}",
	"{\"op\":\"empty_cache\"",
	"[]",
	"7",
	"\"op\"",
};

static const char *const heads[] = {
	"{\"format\":\"gpupool-trace\",\"version\":1,\"devices\":[{\"device\":"
	"0,\"events\":[",
	"{\"format\":\"gpupool-trace\",\"version\":1,\"sites\":[\"a\"],"
	"\"devices\":[{\"device\":0}]}\n",
};

START_TEST(test_forms)
{
	for (size_t i = 0; i < COUNT_OF(events); i++)
		for (size_t k = 0; k < COUNT_OF(heads); k++) {
			char text[1024];
			int n = snprintf(text, sizeof(text), "%s%s%s", heads[k],
					 events[i], k ? "\n" : "]}]}");

			read_twice(text, (size_t)n);
		}
}
END_TEST

/* A NUL does not end a word, wherever the value is. */
START_TEST(test_nul_in_a_word)
{
	static const char text[] =
		"{\"format\":\"gpupool-trace\",\"version\":1,\"args\": a\0b,"
		"\n [1],\"devices\":[{\"device\":0,\"events\":[]}]}";

	read_twice(text, sizeof(text) - 1);
}
END_TEST

/* ---- generated documents, and changes to them ---- */

static size_t make_event(char *text, uint64_t *state, uint64_t number)
{
	uint64_t r = next_random(state), id = number / 2;

	if (number % 2 && r % 16 == 0)
		return (size_t)snprintf(
			text, PIECE,
			"{\"op\":\"mark\",\"name\":\"s\",\"time\":%u}",
			(unsigned)(r >> 40));
	if (number % 2 && r % 16 == 1)
		return (size_t)snprintf(text, PIECE,
					"{\"op\":\"synchronize\"}");
	if (number % 2)
		return (size_t)snprintf(text, PIECE,
					"{\"op\":\"free\",\"id\":%llu%s}",
					(unsigned long long)id,
					r % 3 ? "" : ",\"at_once\":true");
	return (size_t)snprintf(text, PIECE,
				"{\"op\":\"alloc\",\"id\":%llu,\"size\":%u,"
				"\"addr\":%llu,\"stream\":%u%s}",
				(unsigned long long)id, (unsigned)(r >> 45) + 1,
				(unsigned long long)(r >> 20),
				(unsigned)(r % 3),
				r % 5 ? "" : ",\"pool\":[0,3]");
}

static size_t make(char *text, uint64_t *state)
{
	bool is_lines = next_random(state) % 2;
	size_t n = (size_t)snprintf(text, PIECE, "%s", heads[is_lines]);
	uint64_t count = next_random(state) % 30;

	for (uint64_t i = 0; i < count; i++) {
		if (i && !is_lines)
			text[n++] = ',';
		n += make_event(text + n, state, i);
		if (is_lines || i % 7 == 0)
			text[n++] = '\n';
	}
	return n +
	       (size_t)snprintf(text + n, PIECE, "%s", is_lines ? "" : "]}]}");
}

START_TEST(test_changed_documents)
{
	uint64_t state = 1;
	size_t read = 0;
	char *text = malloc(ROOM);

	for (unsigned i = 0; i < CASES; i++) {
		size_t n = make(text, &state);

		for (unsigned k = i % 4; k; k--)
			n = change(text, n, &state);
		text[n] = '\0';
		read += read_twice(text, n);
	}
	/* Otherwise nothing was compared. */
	ck_assert_uint_gt(read, CASES / 4);
	ck_assert_uint_lt(read, CASES * 3 / 4);
	free(text);
}
END_TEST

/* Windows may end anywhere in an event. */
START_TEST(test_many_windows)
{
	size_t room = 4 << 20, n = 0;
	uint64_t state = 7;
	char *text = malloc(room + 512);

	n = (size_t)snprintf(text, PIECE, "%s", heads[1]);
	for (uint64_t i = 0; n < room; i++) {
		n += (size_t)snprintf(text + n, PIECE,
				      "{\"op\":\"alloc\",\"id\":%llu,",
				      (unsigned long long)i);
		n += (size_t)snprintf(text + n, PIECE, "\"size\":%u}\n",
				      (unsigned)(next_random(&state) >> 44));
	}
	ck_assert(read_twice(text, n));
	free(text);
}
END_TEST

/* More streams, or pools, than a trace may have. */
START_TEST(test_numbers_beyond_the_tables)
{
	static const char *const forms[] = {
		"{\"op\":\"synchronize\",\"stream\":%u}\n",
		"{\"op\":\"alloc\",\"id\":%u,\"size\":1,\"pool\":[0,%u]}\n",
	};
	char *text = malloc(4 << 20);

	for (size_t form = 0; form < COUNT_OF(forms); form++) {
		size_t n = (size_t)snprintf(text, PIECE, "%s", heads[1]);

		for (unsigned i = 0; i <= UINT16_MAX + 1U; i++)
			n += (size_t)snprintf(text + n, PIECE, forms[form], i,
					      i);
		ck_assert(!read_twice(text, n));
	}
	free(text);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_forms, 0 },
		{ test_nul_in_a_word, 0 },
		{ test_changed_documents, 0 },
		{ test_many_windows, 0 },
		{ test_numbers_beyond_the_tables, 0 },
	};

	return suite_run("events in JSON", tests, COUNT_OF(tests));
}
