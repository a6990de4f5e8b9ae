/* SPDX-License-Identifier: MIT */
/* Values cut out of a JSON text, whether or not it has a mistake, equal those
 * that jansson reads from the whole text, wherever windows end. */
#include "formats/json_scan.h"

#include <stdlib.h>

#include "suite.h"

#define ROUNDS 6000
#define MOST   16384
#define WINDOW 131072 /* bytes of a source at a time */

/* A text, and the same with long numbers in jansson's form. */
struct texts {
	char text[MOST], plain[MOST];
	size_t length, plain_length;
	uint64_t seed;
	bool has_wide;
};

static uint64_t pick(struct texts *t, uint64_t below)
{
	return next_random(&t->seed) % below;
}

static void put(struct texts *t, const char *text, const char *plain)
{
	t->length += (size_t)snprintf(t->text + t->length, MOST - t->length,
				      "%s", text);
	t->plain_length +=
		(size_t)snprintf(t->plain + t->plain_length,
				 MOST - t->plain_length, "%s", plain);
	ck_assert_uint_lt(t->length + 1, MOST);
	ck_assert_uint_lt(t->plain_length + 1, MOST);
}

static void put_both(struct texts *t, const char *text)
{
	put(t, text, text);
}

static void put_space(struct texts *t)
{
	static const char *const spaces[] = { "",   "",	  " ",	"",
					      "\n", "  ", "\t", " \r\n" };

	put_both(t, spaces[pick(t, COUNT_OF(spaces))]);
}

static void put_string(struct texts *t, size_t length)
{
	static const char *const parts[] = { "a", "b", " ",	   "\\\"",
					     ",", "]", "\\\\",	   "\\u0041",
					     "{", ":", "\xc3\xa4", "\\n" };

	put_both(t, "\"");
	while (length--)
		put_both(t, pick(t, 4) ? "x" : parts[pick(t, COUNT_OF(parts))]);
	put_both(t, "\"");
}

static void put_wide(struct texts *t)
{
	static const char *const wide[] = { "9223372036854775808",
					    "9999999999999999999",
					    "10000000000000000000",
					    "18446744073709551615" };
	const char *digits = wide[pick(t, COUNT_OF(wide))];
	char plain[64];

	snprintf(plain, sizeof(plain), "\"\\u007f%s\"", digits);
	put(t, digits, plain);
	t->has_wide = true;
}

static void put_value(struct texts *t, unsigned depth);

static void put_items(struct texts *t, unsigned depth, bool is_object)
{
	static const size_t lengths[] = { 0, 1, 2, 3, 61, 62, 63, 64, 65 };
	uint64_t n = pick(t, 5);
	char key[12];

	put_both(t, is_object ? "{" : "[");
	put_space(t);
	for (uint64_t i = 0; i < n; i++) {
		if (i)
			put_both(t, ",");
		put_space(t);
		if (is_object) {
			snprintf(key, sizeof(key),
				 pick(t, 9) ? "\"%c" : "\"\\u%04x",
				 (int)('p' + i));
			put_both(t, key);
			for (size_t k = lengths[pick(t, COUNT_OF(lengths))]; k;
			     k--)
				put_both(t, pick(t, 30) ? "k" : "\\u006b");
			put_both(t, "\"");
			put_space(t);
			put_both(t, ":");
			put_space(t);
		}
		put_value(t, depth + 1);
		put_space(t);
	}
	put_both(t, is_object ? "}" : "]");
}

static void put_value(struct texts *t, unsigned depth)
{
	static const char *const words[] = { "0",
					     "7",
					     "-1",
					     "12.5e2",
					     "true",
					     "false",
					     "null",
					     "9223372036854775807",
					     "[0, 1]",
					     "123456789012345678",
					     "-9223372036854775808",
					     "[3,9]" };

	switch (pick(t, depth > 3 ? 4 : 6)) {
	case 0: put_string(t, pick(t, 30)); break;
	case 1:
		if (!pick(t, 3)) {
			put_wide(t);
			break;
		}
		/* fall through */
	case 2:
	case 3: put_both(t, words[pick(t, COUNT_OF(words))]); break;
	case 4: put_items(t, depth, false); break;
	default: put_items(t, depth, true); break;
	}
}

/* Removes, adds or changes a byte. */
static void spoil(struct texts *t)
{
	static const char marks[] = "{}[],:\"\\ 1a-.\n\x01\xff";
	size_t at = pick(t, t->length);
	char mark = marks[pick(t, sizeof(marks) - 1)];

	switch (pick(t, 3)) {
	case 0: t->text[at] = mark; break;
	case 1:
		memmove(t->text + at, t->text + at + 1, t->length - at);
		t->length--;
		break;
	default:
		memmove(t->text + at + 1, t->text + at, t->length - at + 1);
		t->text[at] = mark;
		t->length++;
	}
	memcpy(t->plain, t->text, t->length + 1);
	t->plain_length = t->length;
}

/* ---- the same, as scanned ---- */

struct scanned {
	struct gp_source source;
	struct gp_input_config config;
	struct gp_json_scan scan;
	struct gp_diag diag;
	char *bytes;
};

/* After that much white space. */
static void begin(struct scanned *s, const struct texts *t, size_t spaces,
		  bool by_jansson)
{
	*s = (struct scanned){ .bytes = malloc(spaces + t->length + 1) };
	memset(s->bytes, '\n', spaces);
	memcpy(s->bytes + spaces, t->text, t->length);
	s->config = (struct gp_input_config){ .bytes = s->bytes,
					      .length = spaces + t->length,
					      .by_jansson = by_jansson };
	ck_assert(!gp_source_open(&s->source, &s->config, &s->diag));
	gp_json_scan_init(&s->scan, &s->source, &s->diag);
}

static bool end(struct scanned *s)
{
	gp_json_expect_end(&s->scan);
	gp_json_scan_release(&s->scan);
	gp_source_close(&s->source);
	free(s->bytes);
	return s->scan.status == GP_OK;
}

static void compare_scalar(struct gp_json_scalar *scalar, json_t *is)
{
	uint64_t number;
	struct gp_pool_id pair;

	if (gp_json_number(is, &number)) {
		ck_assert_int_eq(scalar->kind, GP_JSON_NUMBER);
		ck_assert_uint_eq(scalar->number, number);
	} else if (gp_json_pool(is, &pair)) {
		ck_assert_int_eq(scalar->kind, GP_JSON_PAIR);
		ck_assert_uint_eq(scalar->pair.first, pair.first);
		ck_assert_uint_eq(scalar->pair.second, pair.second);
	} else if (json_is_boolean(is)) {
		ck_assert_int_eq(scalar->kind, json_is_true(is)
						       ? GP_JSON_TRUE
						       : GP_JSON_FALSE);
	} else if (json_is_string(is)) {
		ck_assert_int_eq(scalar->kind, GP_JSON_TEXT);
		ck_assert_uint_eq(scalar->text.length, json_string_length(is));
		ck_assert(!memcmp(scalar->text.bytes, json_string_value(is),
				  scalar->text.length));
	} else {
		ck_assert_int_eq(scalar->kind, GP_JSON_OTHER);
	}
}

/* Reads each item of an object or list, in one way or another. */
static void walk_items(struct scanned *s, json_t *is, uint64_t how)
{
	struct gp_json_walk walk;
	struct gp_json_scalar scalar;
	char key[GP_JSON_KEY_ROOM];
	void *item = json_object_iter(is);
	json_t *expected, *value;
	bool is_object = json_is_object(is);
	size_t n = 0;

	ck_assert(gp_json_enter(&s->scan, is_object ? '{' : '[', &walk));
	while (is_object ? gp_json_next_key(&s->scan, &walk, key)
			 : gp_json_next(&s->scan, &walk)) {
		expected = json_array_get(is, n);
		if (is_object) {
			const char *name = json_object_iter_key(item);

			expected = json_object_iter_value(item);
			ck_assert_str_eq(key, strlen(name) < GP_JSON_KEY_ROOM
						      ? name
						      : "");
			item = json_object_iter_next(is, item);
		}
		n++;
		if ((n + how) % 3 == 0) {
			gp_json_skip(&s->scan);
		} else if ((n + how) % 3 == 1) {
			gp_json_scalar(&s->scan, &scalar);
			compare_scalar(&scalar, expected);
			json_decref(scalar.json);
		} else {
			value = gp_json_value(&s->scan);
			ck_assert(json_equal(value, expected));
			json_decref(value);
		}
	}
	ck_assert_uint_eq(n, is_object ? json_object_size(is)
				       : json_array_size(is));
}

static void compare(const struct texts *t, size_t spaces, bool by_jansson)
{
	json_error_t error;
	json_t *is = json_loadb(t->plain, t->plain_length,
				JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	struct scanned s;
	json_t *value;

	/* one whose sign was removed */
	if (!is && json_error_code(&error) == json_error_numeric_overflow)
		return;
	begin(&s, t, spaces, by_jansson);
	value = gp_json_value(&s.scan);
	ck_assert_msg(end(&s) == (is != NULL), "%s", t->text);
	ck_assert_msg(!is || json_equal(value, is), "%s", t->text);
	json_decref(value);
	for (uint64_t how = 0;
	     how < 3 && (json_is_object(is) || json_is_array(is)); how++) {
		begin(&s, t, spaces, by_jansson);
		walk_items(&s, is, how);
		ck_assert_msg(end(&s), "%s", t->text);
	}
	json_decref(is);
}

START_TEST(any_text_is_what_jansson_makes_of_it)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		static struct texts t;
		size_t spaces = 0;

		t = (struct texts){ .seed = seed };
		put_value(&t, 0);
		put_space(&t);
		if (seed % 2 && !t.has_wide)
			spoil(&t);
		/* so that a window ends in it */
		if (seed % 16 < 2)
			spaces = WINDOW - pick(&t, t.length + 1);
		compare(&t, spaces, seed % 3 == 0);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ any_text_is_what_jansson_makes_of_it, 0 },
	};

	return suite_run("json scan", tests, COUNT_OF(tests));
}
