/*
 * Waiting for a device takes a moment, in which other threads of the program
 * get on, as they do where there is a device: threads of the backward pass that
 * let go of Python objects must not still be at it when the interpreter ends.
 */
#include <time.h>

#include "simcuda/process.h"

static void pause_briefly(void)
{
	const struct timespec moment = { .tv_nsec = 200000 };

	nanosleep(&moment, NULL);
}

__attribute__((constructor)) static void start(void)
{
	process_on_wait(pause_briefly);
}
