/* SPDX-License-Identifier: MIT */
/* A window of the file is mapped; when it is full the next one is. */
#include "simcuda/program/journal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW ((size_t)1 << 20)

static struct {
	int file;
	char *window; /* NULL: closed */
	size_t used;  /* of the window */
	off_t before; /* bytes before the window */
} journal = { .file = -1 };

static bool map_window(void)
{
	if (ftruncate(journal.file, journal.before + (off_t)WINDOW))
		return false;
	journal.window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED,
			      journal.file, journal.before);
	if (journal.window == MAP_FAILED)
		journal.window = NULL;
	journal.used = 0;
	return journal.window;
}

bool journal_open(const char *path)
{
	journal.file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return journal.file >= 0 && map_window();
}

static void next_window(void)
{
	munmap(journal.window, WINDOW);
	journal.window = NULL;
	journal.before += (off_t)WINDOW;
	map_window();
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

/* When the length cannot be set the zeros stay, as after a crash. */
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
