/* SPDX-License-Identifier: MIT */
/*
 * The line is not asked for at once: the thread may not run Python then, and
 * waiting for that right could stop the program.  The interpreter is asked to
 * call back, which it does when the call that read the value returns.
 */
#include "simcuda/program/guesses.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/interpreter.h"

#define MOST_PLACES 64

struct place {
	char text[128];
	uint64_t reads;
};

static struct {
	pthread_mutex_t lock;
	struct place places[MOST_PLACES];
	uint32_t count;
	uint64_t waiting; /* reads whose line is not known yet */
} guesses = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Under the lock. */
static void add(const char *text, uint64_t reads)
{
	uint32_t i = 0;

	while (i < guesses.count && strcmp(guesses.places[i].text, text) != 0)
		i++;
	if (i == MOST_PLACES)
		return;
	if (i == guesses.count) {
		guesses.count++;
		snprintf(guesses.places[i].text, sizeof(guesses.places[i].text),
			 "%s", text);
	}
	guesses.places[i].reads += reads;
}

static int find_line(void *unused)
{
	char text[sizeof(guesses.places->text)];

	(void)unused;
	interpreter_place(text, sizeof(text));
	pthread_mutex_lock(&guesses.lock);
	add(*text ? text : "PyTorch", guesses.waiting);
	guesses.waiting = 0;
	pthread_mutex_unlock(&guesses.lock);
	return 0;
}

static void on_guess(void)
{
	bool is_first;

	pthread_mutex_lock(&guesses.lock);
	if (gettid() != getpid()) {
		add("another thread", 1);
		pthread_mutex_unlock(&guesses.lock);
		return;
	}
	is_first = !guesses.waiting++;
	pthread_mutex_unlock(&guesses.lock);
	if (is_first && !interpreter_soon(find_line)) {
		pthread_mutex_lock(&guesses.lock);
		add("an unknown line", guesses.waiting);
		guesses.waiting = 0;
		pthread_mutex_unlock(&guesses.lock);
	}
}

void guesses_watch(void)
{
	process_observe_guesses(on_guess);
}

const char *guesses_at(uint32_t index, uint64_t *reads)
{
	if (index >= guesses.count)
		return NULL;
	*reads = guesses.places[index].reads;
	return guesses.places[index].text;
}
