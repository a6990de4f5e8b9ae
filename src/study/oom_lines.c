/* SPDX-License-Identifier: MIT */
/*
 * Finding the message of an OutOfMemoryError among the lines of a log.
 *
 * A console may have wrapped it. Programs that collect logs begin each line
 * with a time, a rank, a process: what precedes the message on its own line is
 * what may precede the others. Lines of another rank are between them where
 * several write to one log.
 */
#include "study/oom_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/text.h"
#include "formats/readers.h"
#include "formats/source.h"

/* A message with a hundred processes is shorter. */
#define LINE_ROOM 8192
/* Where it is looked for, with lines of other ranks between its own. */
#define WINDOW	  (64 << 10)
/* Of a line before its message. */
#define HEAD_ROOM 512
#define NAME_ROOM 8 /* "CUDA " */

struct log {
	struct gp_source *source;
	struct oom_message last;
	uint64_t line;
	/* What is known of the line up to source->at: how it begins, and how it
	 * ends. */
	char head[HEAD_ROOM], tail[NAME_ROOM];
	size_t head_length, tail_length;
};

/* ---- what precedes a line ---- */

/* A word, or less: up to a blank, or behind "[rank3]:" and the like. */
struct token {
	const char *text;
	size_t length, blanks; /* blanks follow */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct token token_at(const char *text, const char *end)
{
	struct token token = { .text = text };
	const char *at = text;

	while (at < end && !is_blank(*at)) {
		at++;
		if (at - text >= 2 && at[-1] == ':' && at[-2] == ']')
			break;
	}
	token.length = (size_t)(at - text);
	while (at < end && is_blank(*at))
		at++;
	token.blanks = (size_t)(at - text) - token.length;
	return token;
}

/* "2024-08-21T22:56:04.123Z", "22:56:04,123]", "1724280964.5": not a size as a
 * message has them, nor a rank. */
static bool is_time(const struct token *token)
{
	static const char others[] = "-:./,+[]()TZ";
	size_t digits = 0, between = 0;

	for (size_t i = 0; i < token->length; i++) {
		char c = token->text[i];

		if (!gp_is_digit(c) && !memchr(others, c, sizeof(others) - 1))
			return false;
		digits += gp_is_digit(c);
		between += c == '-' || c == ':' || c == '/';
	}
	return digits >= 9 || (digits >= 3 && between >= 2);
}

static bool is_same(const struct token *a, const struct token *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* Whether they differ only in numbers: "[rank3]:" and "[rank12]:". */
static bool is_other_number(const struct token *a, const struct token *b)
{
	size_t i = 0, k = 0, numbers = 0;

	while (i < a->length && k < b->length) {
		if (!gp_is_digit(a->text[i]) || !gp_is_digit(b->text[k])) {
			if (a->text[i++] != b->text[k++])
				return false;
			continue;
		}
		numbers++;
		while (i < a->length && gp_is_digit(a->text[i]))
			i++;
		while (k < b->length && gp_is_digit(b->text[k]))
			k++;
	}
	return numbers && i == a->length && k == b->length &&
	       a->length > numbers;
}

/* What of the message's line may precede its other lines. */
enum prefix {
	BEFORE_ERROR, /* all before "torch.OutOfMemoryError: CUDA " */
	IN_PART,      /* the words that are the same */
	NOTHING,
};

/* Where the name of the error begins, or the API's. */
static const char *error_in(const char *head, const char *end)
{
	static const char error[] = "Error:";
	const char *last = end;

	for (const char *at = head; at < end;) {
		struct token token = token_at(at, end);
		size_t n = sizeof(error) - 1;
		bool is_error =
			token.length > n &&
			!memcmp(token.text + token.length - n, error, n);

		if (is_error || at + token.length + token.blanks == end)
			last = at;
		if (is_error)
			break;
		at += token.length + token.blanks;
	}
	return last;
}

/* The length of what precedes the line [text, end) as it precedes the message.
 * *is_of_other: the line is of another rank or process. */
static size_t prefix_of(const struct log *log, enum prefix prefix,
			const char *text, const char *end, bool *is_of_other)
{
	const char *head = log->head, *head_end = head + log->head_length;
	const char *at = text;

	*is_of_other = false;
	if (prefix == NOTHING)
		return 0;
	if (prefix == BEFORE_ERROR)
		head_end = error_in(head, head_end);
	while (head < head_end && at < end) {
		struct token a = token_at(head, head_end);
		struct token b = token_at(at, end);

		if (!is_same(&a, &b) && !(is_time(&a) && is_time(&b))) {
			*is_of_other = is_other_number(&a, &b) ||
				       (prefix == BEFORE_ERROR && at > text);
			break;
		}
		head += a.length + a.blanks;
		at += b.length + b.blanks;
	}
	return (size_t)(at - text);
}

/* ---- a message ---- */

/* Whether the numbers of a message are complete. */
static bool is_whole(const char *text)
{
	return strstr(text, " is reserved by PyTorch but unallocated") ||
	       strstr(text, " reserved in total") || strstr(text, " cached)");
}

/* Adds text, with one blank for several; what there is no room for is left
 * out. */
static size_t append(char text[LINE_ROOM], size_t length, const char *from,
		     size_t n)
{
	for (size_t i = 0; i < n && length + 1 < LINE_ROOM; i++) {
		bool is_space = is_blank(from[i]) || from[i] == '\r';

		if (!is_space)
			text[length++] = from[i];
		else if (length && text[length - 1] != ' ')
			text[length++] = ' ';
	}
	text[length] = '\0';
	return length;
}

/* The end of the line, or where the next message on it begins. */
static const char *line_end(const char *at, const char *end, bool *is_last)
{
	const char *found = memchr(at, '\n', (size_t)(end - at));
	const char *zero, *next;

	end = found ? found : end;
	zero = memchr(at, '\0', (size_t)(end - at));
	end = zero ? zero : end;
	next = memmem(at, (size_t)(end - at), GP_OOM_MARK, strlen(GP_OOM_MARK));
	*is_last = !found || zero || next;
	return next ? next : end;
}

/* Copies a message with the word before it, and its hints on the last line. A
 * line's end is as good as a blank, until the numbers are complete. False:
 * lines of others were left out. */
static bool copy_message(const struct log *log, enum prefix prefix,
			 char text[LINE_ROOM])
{
	const size_t mark = strlen(GP_OOM_MARK);
	const char *at = (const char *)log->source->at;
	const char *end =
		at + gp_smaller((size_t)((const char *)log->source->end - at),
				WINDOW);
	bool is_last, is_alone = true;
	const char *stop = line_end(at + mark, end, &is_last);
	size_t length = append(text, 0, log->tail, log->tail_length);

	length = append(text, length, at, (size_t)(stop - at));
	while (!is_last && !is_whole(text)) {
		bool is_of_other;

		at = stop + 1;
		stop = line_end(at, end, &is_last);
		at += prefix_of(log, prefix, at, stop, &is_of_other);
		if (is_of_other) {
			is_alone = false;
			stop = memchr(stop, '\n', (size_t)(end - stop));
			is_last = !stop;
			continue;
		}
		length = append(text, length, " ", 1);
		length = append(text, length, at, (size_t)(stop - at));
	}
	return is_alone;
}

/* "[rank3]", as torchrun and PyTorch's own logs have it. */
static void note_rank(const struct log *log, struct oom_message *m)
{
	static const char mark[] = "[rank";
	const char *found =
		memmem(log->head, log->head_length, mark, sizeof(mark) - 1);
	char *end;
	unsigned long rank;

	if (!found || !gp_is_digit(found[sizeof(mark) - 1]))
		return;
	rank = strtoul(found + sizeof(mark) - 1, &end, 10);
	m->has_rank = *end == ']' && rank < UINT32_MAX;
	m->rank = m->has_rank ? (uint32_t)rank : 0;
}

/* Tries the longest prefix first. Where lines of others were left out, they do
 * not come back for want of a better reading. */
static bool read_message(const struct log *log, struct oom_message *m)
{
	bool is_alone = true;
	char text[LINE_ROOM];

	for (int prefix = BEFORE_ERROR; prefix <= NOTHING; prefix++) {
		if (prefix == NOTHING && !is_alone)
			return false;
		is_alone = copy_message(log, (enum prefix)prefix, text);
		if (oom_log_parse(text, m))
			return true;
	}
	return false;
}

static void take_message(struct log *log)
{
	struct oom_message m;

	gp_source_need(log->source, WINDOW);
	if (!read_message(log, &m))
		return;
	m.count = log->last.count + 1;
	m.devices = log->last.devices |
		    (m.device < 64 ? UINT64_C(1) << m.device : 0);
	m.line = log->line;
	note_rank(log, &m);
	log->last = m;
}

/* ---- a log ---- */

/* Keeps how the line begins, with room for a zero, and how it ends. */
static void note_text(struct log *log, const unsigned char *at, size_t n)
{
	size_t room = HEAD_ROOM - 1 - log->head_length;
	size_t last = gp_smaller(n, NAME_ROOM);
	size_t kept = gp_smaller(log->tail_length, NAME_ROOM - last);

	room = gp_smaller(room, n);
	memcpy(log->head + log->head_length, at, room);
	log->head_length += room;
	log->head[log->head_length] = '\0';
	memmove(log->tail, log->tail + log->tail_length - kept, kept);
	memcpy(log->tail + kept, at + n - last, last);
	log->tail_length = kept + last;
}

/* Moves to that place in the window. */
static void move_to(struct log *log, const unsigned char *to)
{
	const unsigned char *at = log->source->at, *next;

	while ((next = memchr(at, '\n', (size_t)(to - at)))) {
		log->line++;
		log->head_length = log->tail_length = 0;
		at = next + 1;
	}
	note_text(log, at, (size_t)(to - at));
	log->source->at = to;
}

bool oom_log_scan(struct gp_source *source, struct oom_message *message)
{
	struct log log = { .source = source, .line = 1 };
	const size_t mark = strlen(GP_OOM_MARK);

	do {
		const unsigned char *found;

		while ((found = memmem(source->at,
				       (size_t)(source->end - source->at),
				       GP_OOM_MARK, mark))) {
			move_to(&log, found);
			take_message(&log);
			move_to(&log, source->at + mark);
		}
		/* The mark may begin at the end of the window. */
		if ((size_t)(source->end - source->at) >= mark)
			move_to(&log, source->end - mark + 1);
	} while (gp_source_more(source));
	if (!log.last.count)
		return false;
	*message = log.last;
	return true;
}

enum gp_status oom_log_read(const struct gp_input_config *config,
			    struct oom_message *message, struct gp_diag *diag)
{
	struct gp_source source;
	enum gp_status status = gp_source_open(&source, config, diag);
	bool has_message;

	if (status != GP_OK)
		return status;
	has_message = oom_log_scan(&source, message);
	status = source.status;
	gp_source_close(&source);
	if (status != GP_OK || has_message)
		return status;
	return gp_diag_foreign(diag, "no message of an OutOfMemoryError is in "
				     "it");
}
