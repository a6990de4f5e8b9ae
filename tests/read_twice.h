/* SPDX-License-Identifier: MIT */
/*
 * JSON read by both readers, the one for plain forms and jansson: for every
 * text, both return the same trace, or refuse it for the same reason.
 */
#ifndef TESTS_READ_TWICE_H
#define TESTS_READ_TWICE_H

#include "base/map.h"
#include "trace_text.h"

static inline enum gp_status read_as(const char *path, bool by_jansson,
				     struct gp_trace **trace,
				     struct gp_diag *diag)
{
	const struct gp_input_config config = { .path = path,
						.by_jansson = by_jansson };

	*diag = (struct gp_diag){ 0 };
	*trace = NULL;
	return gp_input_read(&config, trace, diag);
}

static inline void same_traces(const struct gp_trace *a,
			       const struct gp_trace *b, const char *text)
{
	size_t an, bn;
	char *as = written(a, GP_TRACE_JSON, &an);
	char *bs = written(b, GP_TRACE_JSON, &bn);

	ck_assert_msg(gp_trace_equal(a, b) && an == bn && !memcmp(as, bs, an),
		      "two traces of %s", text);
	free(as);
	free(bs);
}

/* Returns whether the text was read. */
static inline bool read_twice(const char *text, size_t n)
{
	struct gp_trace *trace, *other;
	struct gp_diag diag, other_diag;
	FILE *file = tmpfile();
	enum gp_status status;
	char path[32];

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, n, file), n);
	ck_assert_int_eq(fflush(file), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
	status = read_as(path, false, &trace, &diag);
	ck_assert_msg(status == read_as(path, true, &other, &other_diag),
		      "only one of two takes %s", text);
	if (!status) {
		same_traces(trace, other, text);
	} else {
		ck_assert_str_eq(diag.what, other_diag.what);
		ck_assert_str_eq(diag.record, other_diag.record);
		ck_assert_str_eq(diag.hint, other_diag.hint);
	}
	gp_trace_destroy(trace);
	gp_trace_destroy(other);
	fclose(file);
	return !status;
}

/* Replaces, drops or doubles a byte, or moves a few. */
static inline size_t change(char *text, size_t n, uint64_t *state)
{
	static const char often[] = "\"\\{}[],: \n0123456789-.eE\x7f\x80tfn";
	uint64_t r = gp_hash64(*state += UINT64_C(0x9e3779b97f4a7c15));
	size_t at = (r >> 8) % n, length = (r >> 32) % 9, to = (r >> 40) % n;

	switch (r % 5) {
	case 0: text[at] = (char)(r >> 48); return n;
	case 1: text[at] = often[(r >> 48) % (sizeof(often) - 1)]; return n;
	case 2: memmove(text + at, text + at + 1, n - at - 1); return n - 1;
	case 3: memmove(text + at + 1, text + at, n - at); return n + 1;
	default:
		if (at + length < n && to + length < n)
			memmove(text + to, text + at, length);
		return n;
	}
}

/* Reads many texts that make writes to a buffer of 64 KiB, each changed in up
 * to most places. */
static inline void read_changed(size_t (*make)(char *text, size_t room,
					       uint64_t *state),
				unsigned most)
{
	const size_t room = 1 << 16;
	const unsigned cases = 1500;
	uint64_t state = 3;
	size_t read = 0;
	char *text = malloc(room);

	for (unsigned i = 0; i < cases; i++) {
		size_t n = make(text, room, &state);

		for (unsigned k = i % (most + 1); k; k--)
			n = change(text, n, &state);
		text[n] = '\0';
		read += read_twice(text, n);
	}
	/* Otherwise nothing was compared. */
	ck_assert_uint_gt(read, cases / 20);
	ck_assert_uint_lt(read, cases * 9 / 10);
	free(text);
}

#endif
