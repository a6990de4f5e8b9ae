/* SPDX-License-Identifier: MIT */
/* Makes PyTorch's NCCL watchdogs take a second before they set their names, as
 * on a busy machine, where they start late. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int pthread_setname_np(pthread_t thread, const char *name)
{
	double end = now() + !strcmp(name, "pt_nccl_watchdg");
	int (*real)(pthread_t, const char *);
	void *found = dlsym(RTLD_NEXT, "pthread_setname_np");

	while (now() < end)
		continue;
	memcpy(&real, &found, sizeof(real));
	return real(thread, name);
}
