/* SPDX-License-Identifier: MIT */
/*
 * A tracker is a std::function, made by hand as libstdc++ lays it out; a trace
 * entry is read where layout.h says.
 */
#include <string.h>

#include "simcuda/simcuda.h"
#include "simcuda/process.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/pools.h"
#include "simcuda/program/recorder.h"
#include "simcuda/program/tracker.h"

static const struct layout *layout;
static _Thread_local size_t asked_bytes;
static _Thread_local uint32_t asking_site = NO_SITE;
static _Thread_local const uint64_t *restored_pool;

void tracker_ask(size_t bytes)
{
	asked_bytes = bytes;
	asking_site = interpreter_site();
}

void tracker_restore(const uint64_t *pool)
{
	restored_pool = pool;
}

static uint64_t word_at(const char *from, size_t offset)
{
	uint64_t word;

	memcpy(&word, from + offset, sizeof(word));
	return word;
}

static void read_entry(const char *from, struct entry *e)
{
	*e = (struct entry){
		.action = (uint32_t)word_at(from, 0),
		.device = (signed char)from[ENTRY_DEVICE],
		.addr = word_at(from, ENTRY_ADDR),
		.size = word_at(from, ENTRY_SIZE),
		.stream = word_at(from, ENTRY_STREAM),
		.asked = asked_bytes,
		.site = asking_site,
	};
	if (layout->pool) {
		e->pool[0] = word_at(from, layout->pool);
		e->pool[1] = word_at(from, layout->pool + 8u);
	}
}

static void write(struct entry *e)
{
	if (e->device < 0 || e->device >= SIMCUDA_MOST_DEVICES)
		return;
	if (!layout || !layout->pool)
		pools_guess(e);
	e->is_restored = restored_pool && e->action == ALLOC;
	if (e->is_restored)
		memcpy(e->pool, restored_pool, sizeof(e->pool));
	else
		pools_turn_for_entry(e);
	e->is_routed = !e->is_restored && pools_are_underway(e);
	if (!recorder_enter())
		return;
	entries_write(e);
	recorder_leave();
}

void tracker_tell(const struct entry *entry)
{
	struct entry e = *entry;

	e.site = asking_site;
	write(&e);
}

static void track(const void *functor, const void *from)
{
	struct entry e;

	(void)functor;
	read_entry(from, &e);
	if (e.action == OOM) /* an exception leaves it */
		process_set_in_allocator(false);
	write(&e);
}

/* It holds nothing, so there is nothing to copy or destroy. */
static bool manage(void *to, const void *from, int operation)
{
	(void)to;
	(void)from;
	(void)operation;
	return false;
}

void tracker_attach(const struct layout *new_layout, void *allocator,
		    void (*attach)(void))
{
	struct callable tracker = { .manage = manage,
				    .invoke = (void (*)(void))track };

	layout = new_layout;
	((void (*)(void *, struct callable *))attach)(allocator, &tracker);
}
