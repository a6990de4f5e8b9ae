/* SPDX-License-Identifier: MIT */
#include "simcuda/program/racers.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>

#include "simcuda/program/guesses.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/simcuda.h"

/* The thread that requested memory last. */
static const void *_Atomic last_of[SIMCUDA_MOST_DEVICES];
static atomic_bool have_raced;

/* They race if one comes back after another, and that one is not waiting. */
void racers_watch(int device)
{
	static _Thread_local uint32_t was_on; /* a bit per device */
	const void *self = have_raced ? NULL : interpreter_thread(), *last;
	uint32_t bit;

	if (!self || device < 0 || device >= SIMCUDA_MOST_DEVICES)
		return;
	bit = UINT32_C(1) << device;
	last = atomic_exchange(&last_of[device], self);
	if (last && last != self && (was_on & bit) &&
	    interpreter_is_busy(last) && !atomic_exchange(&have_raced, true))
		guesses_add_race();
	was_on |= bit;
}
