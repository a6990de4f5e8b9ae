/* SPDX-License-Identifier: MIT */
/* One window of the file is mapped at a time; when it is full, the next one is.
 */
#include "simcuda/program/journal.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"

#define WINDOW ((size_t)1 << 20)

static struct {
	int file;
	char *window; /* NULL: closed */
	size_t used;  /* of the window */
	off_t before; /* bytes before the window */
} journal = { .file = -1 };

/* Without pages of its own on the disk, a window of a full disk would end the
 * program when it is written to. */
static bool map_window(void)
{
	int error =
		posix_fallocate(journal.file, journal.before, (off_t)WINDOW);

	journal.used = 0;
	if (!error)
		journal.window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE,
				      MAP_SHARED, journal.file, journal.before);
	if (journal.window == MAP_FAILED)
		journal.window = NULL;
	if (error)
		dprintf(STDERR_FILENO,
			"gpupool: what the program does from now on is not "
			"recorded: %s\n",
			strerror(error));
	return journal.window;
}

bool journal_open(const char *path)
{
	journal.file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (journal.file < 0 || map_window())
		return journal.file >= 0;
	close(journal.file);
	unlink(path);
	return false;
}

static void next_window(void)
{
	munmap(journal.window, WINDOW);
	journal.window = NULL;
	journal.before += (off_t)WINDOW;
	if (!map_window() && ftruncate(journal.file, journal.before))
		journal.used = 0; /* the zeros remain, as after a crash */
}

void journal_put(const char *text, size_t length)
{
	while (length && journal.window) {
		size_t room = WINDOW - journal.used;
		size_t n = length < room ? length : room;

		memcpy(journal.window + journal.used, text, n);
		journal.used += n;
		text += n;
		length -= n;
		if (journal.used == WINDOW)
			next_window();
	}
}

void journal_put_escaped(const char *text)
{
	size_t length = strlen(text), bytes;

	for (; length; text += bytes, length -= bytes) {
		bytes = gp_utf8_character(text, length);
		if (*text == '"' || *text == '\\')
			journal_put("\\", 1);
		if (!bytes)
			journal_put("?", 1);
		else if ((unsigned char)*text >= ' ')
			journal_put(text, bytes);
		bytes += !bytes;
	}
}

/* If truncating fails, the zeros remain. */
void journal_close(void)
{
	if (!journal.window)
		return;
	munmap(journal.window, WINDOW);
	journal.window = NULL;
	if (ftruncate(journal.file, journal.before + (off_t)journal.used))
		journal.used = 0;
	close(journal.file);
}

/* ---- formatting ---- */

/* With vsnprintf, a program that only allocates spent a tenth of its time
 * there. */

struct printer {
	char *at, *end;
};

static void put(struct printer *p, const char *text, size_t length)
{
	if (length > (size_t)(p->end - p->at)) {
		p->at = p->end;
		return;
	}
	memcpy(p->at, text, length);
	p->at += length;
}

static void put_number(struct printer *p, uint64_t number)
{
	char digits[20];
	size_t first = sizeof(digits);

	do
		digits[--first] = (char)('0' + number % 10);
	while (number /= 10);
	put(p, digits + first, sizeof(digits) - first);
}

static void put_signed(struct printer *p, int number)
{
	if (number < 0)
		put(p, "-", 1);
	put_number(p, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

size_t print_fast(char *to, size_t room, const char *format, va_list arguments)
{
	struct printer p = { to, to + room };

	for (;;) {
		size_t plain = strcspn(format, "%");
		const char *text;
		char letter;

		put(&p, format, plain);
		format += plain;
		if (!*format)
			break;
		format++;
		switch (*format++) {
		case 's':
			text = va_arg(arguments, const char *);
			put(&p, text, strlen(text));
			break;
		case 'c':
			letter = (char)va_arg(arguments, int);
			put(&p, &letter, 1);
			break;
		case 'd': put_signed(&p, va_arg(arguments, int)); break;
		case 'u': put_number(&p, va_arg(arguments, unsigned)); break;
		case 'l':
			if (*format++ != 'u')
				return 0;
			put_number(&p, va_arg(arguments, unsigned long));
			break;
		case '%': put(&p, "%", 1); break;
		default: return 0;
		}
	}
	return p.at == p.end ? 0 : (size_t)(p.at - to);
}
