/* SPDX-License-Identifier: MIT */
#include "simcuda/program/guesses.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/draws.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/peers.h"
#include "simcuda/program/recorder.h"
#include "simcuda/program/scripts.h"
#include "simcuda/program/watchdog.h"

/* As in gpupool/trace.h. */
#define ALL_KNOWN "all values known"

#define MOST_PLACES 64
/* At most this many places are named; the rest are counted. */
#define MOST_NAMED  8
/* This many reads at one line are reported immediately. */
#define MANY	    1000
/* The journal is updated at each of the first reads at a line, up to this many,
 * and then once per this many: reads in between are lost if the program is
 * killed. */
#define NOTED	    100

struct place {
	char text[200];
	uint64_t reads;
};

static struct {
	pthread_mutex_t lock;
	struct place places[MOST_PLACES];
	uint32_t count;
	uint64_t reads;
	bool are_followed, is_quiet, are_saved;
	/* Where the first failing assertion is, and the operator that it is of;
	 * empty: there is none. */
	char failed[200], failed_of[64];
	/* Where threads first raced, and where the program first asked how long
	 * work took; empty: nowhere. */
	char raced[200], timed[200];
} guesses = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the summary ---- */

struct sentence {
	char text[2400];
	size_t length;
};

static void add_text(struct sentence *s, const char *text)
{
	size_t room = sizeof(s->text) - s->length;
	int n = snprintf(s->text + s->length, room, "%s", text);

	if (n > 0)
		s->length += (size_t)n < room ? (size_t)n : room - 1;
}

/* "train.py:41 (via modeling_x.py:78), 12 times" */
static void add_place(struct sentence *s, const struct place *place,
		      bool is_first)
{
	char times[32] = "";

	if (place->reads > 1)
		snprintf(times, sizeof(times), ", %" PRIu64 " times",
			 place->reads);
	add_text(s, is_first ? ": " : "; ");
	add_text(s, place->text);
	add_text(s, times);
}

static void add_places(struct sentence *s)
{
	char text[120];

	snprintf(text, sizeof(text), "%" PRIu64 " %s%s %s", guesses.reads,
		 draws_policy()->draws ? "decision" : "read",
		 guesses.reads == 1 ? "" : "s",
		 draws_policy()->draws ? "on drawn values"
				       : "of unknown values");
	add_text(s, text);
	for (uint32_t i = 0; i < guesses.count && i < MOST_NAMED; i++)
		add_place(s, &guesses.places[i], !i);
	if (guesses.count <= MOST_NAMED)
		return;
	snprintf(text, sizeof(text), "; and %u other%s",
		 guesses.count - MOST_NAMED,
		 guesses.count - MOST_NAMED == 1 ? "" : "s");
	add_text(s, text);
}

/* Not about values, but the recorded path depends on it as well. */
static void add_missed(struct sentence *s)
{
	char text[120];

	snprintf(text, sizeof(text),
		 "; when %" PRIu64
		 " collectives released memory depended on timing",
		 watchdog_missed());
	if (watchdog_missed())
		add_text(s, text);
}

/* On a device the program ends there, or when it next waits. */
static void add_failed(struct sentence *s)
{
	if (!guesses.failed[0])
		return;
	add_text(s, "; a device-side assertion of ");
	add_text(s, guesses.failed_of);
	add_text(s, " fails: ");
	add_text(s, guesses.failed);
}

static void add_noted(struct sentence *s, const char *what, const char *noted)
{
	if (!noted[0])
		return;
	add_text(s, what);
	add_text(s, noted);
}

static void add_values(struct sentence *s)
{
	if (guesses.reads) {
		add_places(s);
		if (guesses.are_followed)
			return;
		add_text(s, "; ");
	} else if (guesses.are_followed) {
		add_text(s, ALL_KNOWN);
		return;
	}
	add_text(s, "what this PyTorch's kernels write is not tracked");
}

/* Called with the lock held. */
static void describe(struct sentence *s)
{
	s->length = 0;
	s->text[0] = '\0';
	add_values(s);
	add_failed(s);
	add_missed(s);
	add_noted(s,
		  "; threads take memory at the same time, in an order that "
		  "depends on timing: ",
		  guesses.raced);
	add_noted(s, "; how long work takes is asked, which is not known: ",
		  guesses.timed);
}

/* The last such line in the journal is the valid one. */
static void put(const struct sentence *s)
{
	if (!recorder_enter())
		return;
	entries_put("{\"values\":");
	recorder_put_text(s->text);
	entries_put("}\n");
	recorder_leave();
}

/* ---- callbacks ---- */

/* An unknown value always reads as 0: a loop that waits for another value never
 * ends. */
static void warn_of_many(const struct place *place)
{
	dprintf(STDERR_FILENO,
		"gpupool: %s has read unknown values %d times so far; what "
		"follows from them may differ from a run on a GPU%s\n",
		place->text, MANY,
		draws_policy()->draws
			? ""
			: ", and a loop that waits for one may never end: "
			  "--values drawn:1 puts noise in their place, "
			  "--values all computes them");
}

/* Called with the lock held. true: the journal is to be updated at once. */
static bool add(const char *text)
{
	uint32_t i = 0;
	struct place *place;

	while (i < guesses.count && strcmp(guesses.places[i].text, text) != 0)
		i++;
	guesses.reads++;
	if (i == MOST_PLACES)
		return false;
	place = &guesses.places[i];
	if (i == guesses.count) {
		guesses.count++;
		snprintf(place->text, sizeof(place->text), "%s", text);
	}
	place->reads++;
	if (place->reads == MANY && !guesses.is_quiet)
		warn_of_many(place);
	return place->reads <= NOTED || place->reads % NOTED == 0;
}

static _Thread_local int loads; /* that are under way */

/* Saving to a file decides nothing, but the file differs from a GPU's. */
static void on_save(const char *place)
{
	bool is_first;

	pthread_mutex_lock(&guesses.lock);
	is_first = !guesses.are_saved;
	guesses.are_saved = true;
	pthread_mutex_unlock(&guesses.lock);
	if (!is_first)
		return;
	peers_note_saved();
	if (!guesses.is_quiet)
		dprintf(STDERR_FILENO,
			"gpupool: %s saves unknown values: the file differs "
			"there from one saved on a GPU\n",
			place);
}

/* Returns whether it writes to a file. */
static bool find_place(char *text, size_t size)
{
	bool writes = false;

	if (!interpreter_place(text, size, &writes))
		snprintf(text, size, "a thread without Python");
	return writes;
}

static void on_guess(void)
{
	struct sentence sentence;
	char text[sizeof(guesses.places->text)];
	bool is_new, writes;

	writes = find_place(text, sizeof(text));
	if (writes && !loads) {
		on_save(text);
		return;
	}
	pthread_mutex_lock(&guesses.lock);
	is_new = add(text);
	if (is_new)
		describe(&sentence);
	pthread_mutex_unlock(&guesses.lock);
	if (is_new)
		put(&sentence);
}

/* For the Python side: what is loaded may have been saved with unknown values,
 * by this process or another. */
void simcuda_load_begin(void)
{
	loads++;
	if (peers_have_saved())
		process_notify_guess();
}

void simcuda_load_end(void)
{
	loads--;
}

void simcuda_notify_guess(void)
{
	process_notify_guess();
}

static void print_all(void)
{
	struct sentence sentence;

	pthread_mutex_lock(&guesses.lock);
	describe(&sentence);
	pthread_mutex_unlock(&guesses.lock);
	put(&sentence);
}

/* Notes this line, if none is noted there yet. */
static void note(char noted[200])
{
	char text[200];
	bool is_first;

	find_place(text, sizeof(text));
	pthread_mutex_lock(&guesses.lock);
	is_first = !noted[0];
	if (is_first)
		memcpy(noted, text, sizeof(text));
	pthread_mutex_unlock(&guesses.lock);
	if (is_first)
		print_all();
}

void guesses_add_race(void)
{
	note(guesses.raced);
}

/* Whether the program queries an event: PyTorch itself does that, too, whenever
 * it takes memory. */
static bool is_programs_query(void)
{
	return interpreter_is_held() &&
	       interpreter_is_in("/torch/cuda/streams.py");
}

/* Whether the program asks how long work took. Two other callers are left out,
 * as no request depends on them: a kernel that is tuned, and
 * DistributedDataParallel's logger. The program asks through a line of
 * PyTorch's streams.py. */
static bool is_programs_timing(void)
{
	static const char *const tuners[] = { "/triton/runtime/autotuner.py",
					      "/triton_heuristics.py", NULL };

	return !interpreter_is_under(tuners) &&
	       !interpreter_is_in("/torch/nn/parallel/distributed.py");
}

static void on_timed(bool is_query)
{
	if (is_query ? is_programs_query() : is_programs_timing())
		note(guesses.timed);
}

void guesses_add_assertion(const char *operator)
{
	char text[sizeof(guesses.failed)];
	bool is_first;

	find_place(text, sizeof(text));
	pthread_mutex_lock(&guesses.lock);
	is_first = !guesses.failed[0];
	if (is_first) {
		memcpy(guesses.failed, text, sizeof(text));
		snprintf(guesses.failed_of, sizeof(guesses.failed_of),
			 "%s", operator);
	}
	pthread_mutex_unlock(&guesses.lock);
	if (!is_first)
		return;
	print_all();
	if (!guesses.is_quiet)
		dprintf(STDERR_FILENO,
			"gpupool: %s: a device-side assertion of %s fails; "
			"the program gets a CUDA error when it next waits for "
			"its device\n",
			text, operator);
}

void guesses_begin(bool are_followed)
{
	pthread_mutex_lock(&guesses.lock);
	guesses.are_followed = are_followed;
	pthread_mutex_unlock(&guesses.lock);
	print_all();
}

void guesses_end(void)
{
	print_all();
}

void guesses_watch(bool is_quiet)
{
	guesses.is_quiet = is_quiet;
	process_hooks.guess = on_guess;
	process_hooks.timed = on_timed;
}
