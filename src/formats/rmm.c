/* SPDX-License-Identifier: MIT */
/*
 * RMM's log, as written by rmm::mr::logging_resource_adaptor: a header and one
 * request per line (rmm/mr/logging_resource_adaptor.hpp). Pointers and streams
 * are hexadecimal; the time is the time of day, or seconds since the epoch.
 */
#include "formats/readers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/json_plain.h"
#include "formats/ledger.h"

#define HEADER	   "Thread,Time,Action,Pointer,Size,Stream"
#define FIELDS	   6
#define LINE_BYTES 1024 /* most bytes of a line; real ones have about 80 */
#define SECOND	   UINT64_C(1000000) /* microseconds */
#define DAY	   (UINT64_C(86400) * SECOND)

enum field { THREAD, TIME, ACTION, POINTER, SIZE, STREAM };

struct rmm {
	struct gp_source *source;
	struct gp_diag *diag;
	struct gp_ledger ledger;
	uint64_t line; /* number of the line, from 1 */
	char text[LINE_BYTES + sizeof(uint64_t)];
	char *fields[FIELDS];
	uint64_t days_us; /* the days passed, at each midnight */
	uint64_t time_us; /* of the previous line */
};

__attribute__((format(printf, 2, 3))) static enum gp_status fail(
	struct rmm *rmm, const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	gp_diag_record(rmm->diag, "line %" PRIu64, rmm->line);
	return gp_diag_set(rmm->diag, GP_INPUT, "%s", what);
}

/* ---- lines ---- */

/* Messages show parts of a line, so it must be printable. Checks eight
 * characters at a time, some of which may follow its NUL. */
static bool is_printable(const char *text)
{
	const unsigned char *at = gp_plain_run((const unsigned char *)text);

	while (*at == '"' || *at == '\\')
		at = gp_plain_run(at + 1);
	return !*at;
}

/* Reads the next line into text, without its line end; false after the last
 * one. */
static bool next_line(struct rmm *rmm, enum gp_status *status)
{
	struct gp_source *s = rmm->source;
	const unsigned char *end = NULL;
	size_t length;

	do {
		length = (size_t)(s->end - s->at);
		if (length)
			end = memchr(s->at, '\n', length);
	} while (!end && length < LINE_BYTES && gp_source_more(s));
	*status = s->status;
	if (*status != GP_OK || s->at == s->end)
		return false;
	rmm->line++;
	length = (size_t)((end ? end : s->end) - s->at);
	if (length >= LINE_BYTES || memchr(s->at, '\0', length)) {
		*status = fail(rmm, "it is not a line of an RMM log");
		return false;
	}
	memcpy(rmm->text, s->at, length);
	if (length && rmm->text[length - 1] == '\r')
		length--;
	rmm->text[length] = '\0';
	s->at = end ? end + 1 : s->end;
	if (!is_printable(rmm->text))
		*status = fail(rmm, "it is not a line of an RMM log");
	return *status == GP_OK;
}

static enum gp_status split(struct rmm *rmm)
{
	char *at = rmm->text;
	size_t n = 0;

	for (; at && n < FIELDS; n++) {
		rmm->fields[n] = at;
		at = strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	if (n == FIELDS && !at)
		return GP_OK;
	gp_diag_hint(rmm->diag, "is it cut off?");
	return fail(rmm, "it does not have the six fields of " HEADER);
}

/* ---- fields ---- */

/* The value of a digit, plus one; 0: not a digit. */
static const uint8_t digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* For other characters, more than any base. */
static unsigned digit_of(char c)
{
	return digits[(unsigned char)c] - 1u;
}

/* The common case: nothing but digits, and too few to overflow. */
static bool parse_plain(const char *text, unsigned base, uint64_t *number)
{
	const char *at = text;
	uint64_t sum = 0;

	if (base == 16 && text[0] == '0' && text[1] == 'x')
		at = text += 2;
	for (unsigned digit; (digit = digit_of(*at)) < base; at++)
		sum = sum * base + digit;
	*number = sum;
	return at > text && at - text < 16 && !*at;
}

static bool parse_number(const char *text, int base, uint64_t *number)
{
	unsigned long long value;
	char *end;

	if (parse_plain(text, (unsigned)base, number))
		return true;
	if (*text == '-' || *text == '+' || *text == ' ')
		return false;
	value = strtoull(text, &end, base);
	*number = value;
	return end != text && !*end && value != UINT64_MAX;
}

/* "0x7f8a40000000" or "7f8a40000000"; "(nil)" is 0 in some C libraries. */
static bool parse_hex(const char *text, uint64_t *number)
{
	*number = 0;
	return !strcmp(text, "(nil)") || parse_number(text, 16, number);
}

/* Converts the digits after the decimal point to microseconds. */
static uint64_t parse_fraction(const char *text)
{
	uint64_t unit = SECOND / 10, sum = 0;

	for (; *text >= '0' && *text <= '9'; text++, unit /= 10)
		sum += (uint64_t)(*text - '0') * unit;
	return sum;
}

/* One or two digits; moves to what follows them. */
static bool parse_part(const char **text, uint64_t *number)
{
	unsigned digit = digit_of(**text);

	if (digit > 9)
		return false;
	*number = digit;
	digit = digit_of(*++*text);
	if (digit <= 9) {
		*number = *number * 10 + digit;
		++*text;
	}
	return true;
}

/* "10:23:45.123456"; some releases write a colon instead of the point. */
static bool parse_clock(const char *text, uint64_t *time_us)
{
	uint64_t hours, minutes, seconds;

	if (!parse_part(&text, &hours) || *text++ != ':' ||
	    !parse_part(&text, &minutes) || *text++ != ':' ||
	    !parse_part(&text, &seconds))
		return false;
	*time_us = (hours * 3600 + minutes * 60 + seconds) * SECOND;
	if (*text == '.' || *text == ':')
		*time_us += parse_fraction(text + 1);
	return true;
}

/* 0 if it is not recognised: nothing depends on it. */
static uint64_t parse_time(struct rmm *rmm, const char *text)
{
	char *end;
	uint64_t time_us;

	if (!parse_clock(text, &time_us)) {
		unsigned long long seconds = strtoull(text, &end, 10);

		if (seconds > UINT64_MAX / SECOND - 1)
			return 0;
		time_us = seconds * SECOND;
		return *end == '.' ? time_us + parse_fraction(end + 1)
				   : time_us;
	}
	if (time_us + rmm->days_us + DAY / 2 < rmm->time_us)
		rmm->days_us += DAY;
	rmm->time_us = time_us + rmm->days_us;
	return rmm->time_us;
}

/* CUDA's names for the default stream: 0, and cudaStreamLegacy. */
static uint64_t plain_stream(uint64_t stream)
{
	return stream == 1 ? 0 : stream;
}

/* ---- rows ---- */

enum action { ALLOCATE, FREE, FAILURE, ACTIONS };

static const struct {
	const char *word;
	enum action action;
} action_words[] = {
	{ "allocate", ALLOCATE },
	{ "free", FREE },
	{ "deallocate", FREE },
	{ "allocate failure", FAILURE },
};

static enum action find_action(const char *text)
{
	for (size_t i = 0; i < sizeof(action_words) / sizeof(*action_words);
	     i++)
		if (!strcmp(text, action_words[i].word))
			return action_words[i].action;
	return ACTIONS;
}

static enum gp_status read_event(struct rmm *rmm, struct gp_event *event)
{
	uint64_t stream;

	*event = (struct gp_event){ .site = GP_NO_SITE };
	if (!parse_hex(rmm->fields[POINTER], &event->addr))
		return fail(rmm, "its pointer is %.40s, not an address",
			    rmm->fields[POINTER]);
	if (!parse_number(rmm->fields[SIZE], 10, &event->size))
		return fail(rmm, "its size is %.40s, not a number of bytes",
			    rmm->fields[SIZE]);
	if (!parse_hex(rmm->fields[STREAM], &stream))
		return fail(rmm, "its stream is %.40s, not an address",
			    rmm->fields[STREAM]);
	event->time_us = parse_time(rmm, rmm->fields[TIME]);
	return gp_build_stream(rmm->ledger.build, plain_stream(stream),
			       &event->stream, rmm->diag);
}

static enum gp_status read_row(struct rmm *rmm)
{
	enum gp_status status = split(rmm);
	struct gp_event event;
	enum action action;

	if (status == GP_OK)
		status = read_event(rmm, &event);
	if (status != GP_OK)
		return status;
	action = find_action(rmm->fields[ACTION]);
	if (action == ACTIONS) {
		gp_diag_hint(rmm->diag,
			     "RMM writes allocate, allocate failure, free and "
			     "deallocate");
		return fail(rmm, "its action is %.40s", rmm->fields[ACTION]);
	}
	if (action == FAILURE)
		gp_ledger_refuse(&rmm->ledger, &event);
	else if (!event.size)
		return GP_OK; /* allocations of 0 bytes may share an address */
	else if (action == ALLOCATE)
		gp_ledger_alloc(&rmm->ledger, &event);
	else
		gp_ledger_free(&rmm->ledger, &event);
	return GP_OK;
}

static enum gp_status read_rows(struct rmm *rmm)
{
	enum gp_status status;

	while (next_line(rmm, &status)) {
		if (*rmm->text && strcmp(rmm->text, HEADER) != 0)
			status = read_row(rmm);
		if (status != GP_OK)
			break;
	}
	return status;
}

bool gp_rmm_is(const unsigned char *at, size_t n)
{
	return n >= strlen(HEADER) && !memcmp(at, HEADER, strlen(HEADER));
}

enum gp_status gp_rmm_read(struct gp_source *source, struct gp_trace **trace,
			   struct gp_diag *diag)
{
	struct rmm *rmm = gp_mem_alloc(1, sizeof(*rmm));
	struct gp_guesses guesses = { 0 };
	enum gp_status status;

	rmm->source = source;
	rmm->diag = diag;
	rmm->ledger.build = gp_build_create(GP_BUILD_REQUESTS);
	status = gp_build_device(rmm->ledger.build, 0, &rmm->ledger.device,
				 diag);
	if (status == GP_OK)
		status = read_rows(rmm);
	if (status == GP_OK) {
		guesses.lost_entries = rmm->ledger.lost;
		gp_build_guesses(rmm->ledger.build, rmm->ledger.device,
				 &guesses);
		gp_build_source(rmm->ledger.build, "rmm-log");
		diag->record[0] = diag->hint[0] = 0;
		status = gp_build_finish(rmm->ledger.build, trace, diag);
	} else {
		gp_build_destroy(rmm->ledger.build);
	}
	gp_ledger_release(&rmm->ledger);
	free(rmm);
	return status;
}
