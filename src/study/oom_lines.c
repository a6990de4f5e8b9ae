/* SPDX-License-Identifier: MIT */
/*
 * Finding the message of an OutOfMemoryError among the lines of a log.
 *
 * A console may have wrapped the message over several lines. Programs that
 * collect logs begin each line with a time, a rank or a process, so the prefix
 * of the message's first line is expected on the others, too. If several ranks
 * write to one log, lines of other ranks may lie in between.
 */
#include "study/oom_log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/readers.h"
#include "formats/source.h"

/* Bytes of a message; one that lists a hundred processes is shorter. */
#define LINE_ROOM 8192
/* Bytes in which a message's lines are searched for, as lines of other ranks
 * may lie between them. */
#define WINDOW	  (64 << 10)
/* Bytes that are kept of what precedes a message on its line. */
#define HEAD_ROOM 512
#define NAME_ROOM 8 /* "CUDA " */
/* The longest of gp_oom_marks is shorter. */
#define MARK_ROOM 64

/* The kind of terminal escape sequence that is being skipped. */
enum escape { NO_ESCAPE, ESCAPE, CONTROL, COMMAND };

/* A line that is a JSON object, {"log":"...","stream":"stderr"}: which of its
 * strings contains the message. */
struct record {
	size_t key, key_length; /* "log":" within the line's head; 0: no JSON */
	size_t head;		/* where the string itself begins */
};

struct log {
	struct gp_source *source;
	/* The log's text without escape sequences; [at, end) is not read
	 * yet. */
	char *text, *at, *end;
	size_t room;
	enum escape escape;
	/* The next occurrence of each mark at or after `at`; NULL: none. */
	const char *next[GP_OOM_MARKS];
	struct oom_message last;
	uint64_t line;
	/* The line up to `at`: its beginning, and its last bytes. */
	char head[HEAD_ROOM], tail[NAME_ROOM];
	size_t head_length, tail_length;
	struct record record;
};

/* ---- the text, without escape sequences ---- */

/* Whether the character belongs to a sequence (ECMA-48) that has begun:
 * "ESC [ 1 ; 31 m", and "ESC ] 8 ; ; link BEL". */
static bool is_escaped(enum escape *escape, char c)
{
	switch (*escape) {
	case ESCAPE:
		*escape = c == '[' ? CONTROL : c == ']' ? COMMAND : NO_ESCAPE;
		return true;
	case CONTROL:
		if (c >= 0x40 && c <= 0x7e)
			*escape = NO_ESCAPE;
		break;
	case COMMAND:
		if (c == '\a' || c == '\\')
			*escape = NO_ESCAPE;
		break;
	case NO_ESCAPE: return false;
	}
	/* No sequence continues past the end of a line. */
	if (c != '\n')
		return true;
	*escape = NO_ESCAPE;
	return false;
}

static void add_clean(struct log *log, const char *from, const char *end)
{
	while (from < end) {
		const char *stop;

		if (log->escape != NO_ESCAPE) {
			if (!is_escaped(&log->escape, *from))
				*log->end++ = *from;
			from++;
			continue;
		}
		stop = memchr(from, '\033', (size_t)(end - from));
		log->escape = stop ? ESCAPE : NO_ESCAPE;
		stop = stop ? stop : end;
		memcpy(log->end, from, (size_t)(stop - from));
		log->end += stop - from;
		from = stop + (log->escape == ESCAPE);
	}
}

static void find_marks(struct log *log)
{
	for (size_t i = 0; i < GP_OOM_MARKS; i++) {
		const char *text = gp_oom_marks[i].text;

		log->next[i] = memmem(log->at, (size_t)(log->end - log->at),
				      text, strlen(text));
	}
}

/* Adds at least a byte of the source; this moves the text. */
static bool read_more(struct log *log)
{
	struct gp_source *source = log->source;
	size_t unread = (size_t)(log->end - log->at), more;

	if (source->at == source->end && !gp_source_more(source))
		return false;
	more = (size_t)(source->end - source->at);
	if (log->text)
		memmove(log->text, log->at, unread);
	GP_GROW(log->text, unread + more, log->room);
	log->at = log->text;
	log->end = log->at + unread;
	add_clean(log, (const char *)source->at, (const char *)source->end);
	source->at = source->end;
	find_marks(log);
	return true;
}

/* The first mark in the unread text. */
static char *next_mark(struct log *log, const struct gp_oom_mark **mark)
{
	const char *first = NULL;

	for (size_t i = 0; i < GP_OOM_MARKS; i++) {
		const char *text = gp_oom_marks[i].text;

		if (log->next[i] && log->next[i] < log->at)
			log->next[i] =
				memmem(log->at, (size_t)(log->end - log->at),
				       text, strlen(text));
		if (log->next[i] && (!first || log->next[i] < first)) {
			first = log->next[i];
			*mark = &gp_oom_marks[i];
		}
	}
	return first ? log->at + (first - log->at) : NULL;
}

/* ---- what precedes a line ---- */

/* A word or a part of one: it ends at a blank, or after "[rank3]:" and the
 * like. */
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

/* Whether the token is a time: "2024-08-21T22:56:04.123Z", "22:56:04,123]",
 * "1724280964.5"; not a size as in a message, nor a rank. */
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

/* Whether two tokens differ only in numbers: "[rank3]:" and "[rank12]:". */
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

/* Which part of the text before the message is expected before its other
 * lines. */
enum prefix {
	BEFORE_ERROR, /* all before "torch.OutOfMemoryError: CUDA " */
	IN_PART,      /* the words that are the same */
	NOTHING,
};

/* Where the name of the error begins, or else the last word, the API. */
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

/* The length of the prefix that the line [text, end) shares with the message's
 * line. *is_of_other: the line is of another rank or process. */
static size_t prefix_of(const struct log *log, enum prefix prefix,
			const char *text, const char *end, bool *is_of_other)
{
	const char *head = log->head + log->record.head;
	const char *head_end = log->head + log->head_length;
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

/* ---- records of JSON ---- */

/* The end of a JSON string that began before `at`: its closing quote. */
static const char *text_end(const char *at, const char *end)
{
	for (; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at;
}

/* The string of a JSON record in which the line's head ends. */
static struct record record_of(const char *head, const char *end)
{
	const char *at = head + strspn(head, " \t");
	const char *key = NULL, *opening = NULL;

	if (*at != '{')
		return (struct record){ 0 };
	while (at < end) {
		const char *quote = memchr(at, '"', (size_t)(end - at));

		if (!quote)
			return (struct record){ 0 };
		key = opening;
		opening = quote;
		at = text_end(quote + 1, end);
		if (at == end)
			break;
		at++;
	}
	if (!key || !opening)
		return (struct record){ 0 };
	return (struct record){ .key = (size_t)(key - head),
				.key_length = (size_t)(opening + 1 - key),
				.head = (size_t)(opening + 1 - head) };
}

/* A line, or the message in it. */
struct piece {
	const char *at, *end;
};

/* The string under the same key in this line; empty if the line lacks the
 * key. */
static struct piece text_in(const struct log *log, struct piece line)
{
	const struct record *r = &log->record;
	const char *found;

	if (line.end > line.at && line.end[-1] == '\r')
		line.end--;
	if (!r->key_length)
		return line;
	found = memmem(line.at, (size_t)(line.end - line.at),
		       log->head + r->key, r->key_length);
	if (!found)
		return (struct piece){ line.end, line.end };
	line.at = found + r->key_length;
	line.end = text_end(line.at, line.end);
	return line;
}

/* ---- a message ---- */

/* Appends text, with one blank for several; drops what does not fit. */
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

/* The same for a JSON string: escaped line ends become blanks, and escape
 * sequences of colours are left out. */
static size_t append_text(const struct log *log, char text[LINE_ROOM],
			  size_t length, struct piece message)
{
	static const char escape[] = "u001b[";
	const char *at = message.at;

	if (!log->record.key_length)
		return append(text, length, at, (size_t)(message.end - at));
	while (at < message.end) {
		size_t n = (size_t)(message.end - at);
		const char *stop = memchr(at, '\\', n);

		length = append(text, length, at,
				stop ? (size_t)(stop - at) : n);
		if (!stop || stop + 1 >= message.end)
			break;
		at = stop + 2;
		if (strchr("ntr", stop[1])) {
			length = append(text, length, " ", 1);
		} else if ((size_t)(message.end - stop) > sizeof(escape) &&
			   !strncmp(stop + 1, escape, sizeof(escape) - 1)) {
			at = stop + sizeof(escape);
			while (at < message.end &&
			       !isalpha((unsigned char)*at++))
				;
		}
	}
	return length;
}

/* The end of the line, or where the next message on it begins. */
static const char *line_end(const char *at, const char *end, bool *is_last)
{
	const char *found = memchr(at, '\n', (size_t)(end - at));
	const struct gp_oom_mark *mark;
	const char *zero, *next;

	end = found ? found : end;
	zero = memchr(at, '\0', (size_t)(end - at));
	end = zero ? zero : end;
	next = gp_oom_mark_in(at, (size_t)(end - at), &mark);
	*is_last = !found || zero || next;
	return next ? next : end;
}

/* How the lines that a message is wrapped over are read. */
struct reading {
	enum prefix prefix;
	const char *between; /* lines; "" if words were cut */
};

/* The message's first line, with the word before the message. */
static size_t append_first(const struct log *log, char text[LINE_ROOM],
			   struct piece line)
{
	size_t length = append(text, 0, log->tail, log->tail_length);

	if (line.end > line.at && line.end[-1] == '\r')
		line.end--;
	if (log->record.key_length)
		line.end = text_end(line.at, line.end);
	return append_text(log, text, length, line);
}

/* Copies a message, including the hints on its last line. Until its numbers are
 * complete, the end of a line counts as a blank. False: lines of other ranks
 * were left out. */
static bool copy_message(const struct log *log, const struct reading *reading,
			 char text[LINE_ROOM])
{
	const char *end =
		log->at + gp_smaller((size_t)(log->end - log->at), WINDOW);
	bool is_last, is_alone = true;
	struct piece line = { log->at, line_end(log->at + 1, end, &is_last) };
	size_t length = append_first(log, text, line);

	while (!is_last && length + 1 < LINE_ROOM && !oom_log_is_whole(text)) {
		bool is_of_other;
		struct piece message;

		line.at = line.end + 1;
		line.end = line_end(line.at, end, &is_last);
		message = text_in(log, line);
		message.at += prefix_of(log, reading->prefix, message.at,
					message.end, &is_of_other);
		if (is_of_other) {
			is_alone = false;
			line.end = memchr(line.end, '\n',
					  (size_t)(end - line.end));
			is_last = !line.end;
			continue;
		}
		length = append(text, length, reading->between,
				strlen(reading->between));
		length = append_text(log, text, length, message);
	}
	return is_alone;
}

/* Tries the longest prefix first. If lines of other ranks were left out, the
 * readings without a prefix, which would include them, are not tried. The last
 * reading is for terminals that wrap lines in the middle of a word. */
static bool read_message(const struct log *log, struct oom_message *m)
{
	static const struct reading readings[] = {
		{ BEFORE_ERROR, " " },
		{ IN_PART, " " },
		{ NOTHING, " " },
		{ NOTHING, "" },
	};
	bool is_alone = true;
	char text[LINE_ROOM];

	for (size_t i = 0; i < sizeof(readings) / sizeof(*readings); i++) {
		if (readings[i].prefix == NOTHING && !is_alone)
			return false;
		is_alone = copy_message(log, &readings[i], text);
		if (oom_log_parse(text, m))
			return true;
	}
	return false;
}

/* The same from the message's first line alone. */
static bool read_brief(const struct log *log, struct oom_message *m)
{
	const char *end = log->at + gp_smaller((size_t)(log->end - log->at),
					       LINE_ROOM / 2);
	bool is_last;
	struct piece line = { log->at, line_end(log->at + 1, end, &is_last) };
	char text[LINE_ROOM];

	append_first(log, text, line);
	return oom_log_parse_brief(text, m);
}

/* Notes the rank: "[rank3]", as torchrun and PyTorch's own logs have it, and
 * how loggers write it: "rank=3", "Rank 3", "\"rank\": 3". Not that of an
 * adapter: "lora_rank=16". */
static void note_rank(const struct log *log, struct oom_message *m)
{
	for (const char *at = log->head; *at; at++) {
		char *end;
		unsigned long rank;
		const char *digits = at + 4;

		if (strncasecmp(at, "rank", 4) != 0 ||
		    (at > log->head &&
		     (isalpha((unsigned char)at[-1]) || at[-1] == '_')))
			continue;
		digits += gp_smaller(strspn(digits, "\"'=: "), 4);
		if (!gp_is_digit(*digits))
			continue;
		rank = strtoul(digits, &end, 10);
		if (*end == '.' || isalpha((unsigned char)*end) ||
		    rank >= UINT32_MAX)
			continue;
		m->has_rank = true;
		m->rank = (uint32_t)rank;
		return;
	}
}

/* Notes the words before the message that are a date or a time. */
static void note_time(const struct log *log, struct oom_message *m)
{
	const char *at = log->head, *end = at + log->head_length;
	size_t length = 0;

	while (at < end) {
		struct token token = token_at(at, end);
		bool is_part = is_time(&token);

		at += token.length + token.blanks;
		if (!is_part && length)
			break;
		if (!is_part || length + token.length + 2 > OOM_TIME_ROOM)
			continue;
		if (length)
			m->time[length++] = ' ';
		memcpy(m->time + length, token.text, token.length);
		length += token.length;
	}
	m->time[length] = '\0';
}

/* Whether a message with this mark may contain all numbers. */
static bool may_be_whole(const struct gp_oom_mark *mark)
{
	return mark->teller <= GP_OOM_OF_ASYNC;
}

static void take_message(struct log *log, const struct gp_oom_mark *mark)
{
	struct oom_message m, *last = &log->last;

	while ((size_t)(log->end - log->at) < WINDOW && read_more(log))
		;
	log->record = record_of(log->head, log->head + log->head_length);
	if (!(may_be_whole(mark) && read_message(log, &m)) &&
	    !read_brief(log, &m))
		return;
	if (last->count && oom_log_silence(&m) > oom_log_silence(last))
		return;
	if (oom_log_silence(&m) < oom_log_silence(last))
		last->count = last->devices = 0;
	m.count = last->count + 1;
	m.devices =
		last->devices |
		(m.has_device && m.device < 64 ? UINT64_C(1) << m.device : 0);
	m.line = log->line;
	note_rank(log, &m);
	note_time(log, &m);
	*last = m;
}

/* ---- a log ---- */

static void begin_line(struct log *log)
{
	log->head_length = log->tail_length = 0;
	*log->head = '\0';
}

/* Keeps the beginning of the line, with room for a terminating zero, and its
 * last bytes. After a carriage return, as of a progress bar, the line begins
 * again. */
static void note_text(struct log *log, const char *at, size_t n)
{
	const char *back = n ? memrchr(at, '\r', n - 1) : NULL;
	size_t room, last, kept;

	if (back || (n && log->tail_length && *at != '\n' &&
		     log->tail[log->tail_length - 1] == '\r')) {
		begin_line(log);
		n -= back ? (size_t)(back + 1 - at) : 0;
		at = back ? back + 1 : at;
	}
	room = gp_smaller(HEAD_ROOM - 1 - log->head_length, n);
	last = gp_smaller(n, NAME_ROOM);
	kept = gp_smaller(log->tail_length, NAME_ROOM - last);
	memcpy(log->head + log->head_length, at, room);
	log->head_length += room;
	log->head[log->head_length] = '\0';
	memmove(log->tail, log->tail + log->tail_length - kept, kept);
	memcpy(log->tail + kept, at + n - last, last);
	log->tail_length = kept + last;
}

/* Moves to that place in the text. */
static void move_to(struct log *log, char *to)
{
	char *at = log->at, *next;

	while ((next = memchr(at, '\n', (size_t)(to - at)))) {
		log->line++;
		begin_line(log);
		at = next + 1;
	}
	note_text(log, at, (size_t)(to - at));
	log->at = to;
}

bool oom_log_scan(struct gp_source *source, struct oom_message *message)
{
	struct log log = { .source = source, .line = 1 };

	while (read_more(&log)) {
		const struct gp_oom_mark *mark;
		char *found;

		while ((found = next_mark(&log, &mark))) {
			move_to(&log, found);
			take_message(&log, mark);
			move_to(&log, log.at + 1);
		}
		/* A mark may begin at the end of the text. */
		if (log.end - log.at >= MARK_ROOM)
			move_to(&log, log.end - MARK_ROOM);
	}
	free(log.text);
	if (!log.last.count)
		return false;
	*message = log.last;
	return true;
}
