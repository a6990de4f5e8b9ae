/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a device takes a moment, in which other threads of the program
 * can run, as with a real device. Threads of the backward pass that release
 * Python objects must have finished when the interpreter ends. And a backward
 * pass ends only when no other thread holds any of its results.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/scripts.h"
#include "simcuda/program/torch.h"

static void pause_briefly(void)
{
	const struct timespec moment = { .tv_nsec = 200000 };

	nanosleep(&moment, NULL);
}

__attribute__((constructor)) static void start(void)
{
	process_hooks.pause = pause_briefly;
}

/* ---- before the interpreter ends ---- */

#define QUIET_LOOKS 5
#define MOST_LOOKS  1000

/* The state follows the name in parentheses, which may contain anything. */
static bool is_running(const char *task)
{
	char path[64], line[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", task);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	state = strrchr(line, ')');
	return state && state[1] == ' ' && (state[2] == 'R' || state[2] == 'D');
}

static bool others_are_running(void)
{
	DIR *list = opendir("/proc/self/task");
	struct dirent *entry;
	bool is_any = false;

	while (list && (entry = readdir(list)))
		if (atol(entry->d_name) > 0 && atol(entry->d_name) != gettid())
			is_any |= is_running(entry->d_name);
	if (list)
		closedir(list);
	return is_any;
}

void simcuda_settle(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	unsigned quiet = 0;

	for (unsigned i = 0; i < MOST_LOOKS && quiet < QUIET_LOOKS; i++) {
		quiet = others_are_running() ? 0 : quiet + 1;
		nanosleep(&moment, NULL);
	}
}

/* ---- the end of a backward pass ---- */

/*
 * torch::autograd::Engine::execute_with_graph_task(). A device's thread that
 * has finished its work wakes the calling thread, and then releases the
 * GraphTask. That holds the gradients that torch.autograd.grad() returns, so if
 * the program frees one of them at once, its memory would become free either at
 * once or some events later.
 */
#define EXECUTE                                                                \
	"_ZN5torch8autograd6Engine23execute_with_graph_task"                   \
	"ERKSt10shared_ptrINS0_9GraphTaskEE"
#define SHARED_NODE "S2_INS0_4NodeEEONS0_11InputBufferE"
#define INTRUSIVE_NODE                                                         \
	"N3c1013intrusive_ptrINS0_4NodeENS7_6detail34"                         \
	"intrusive_target_default_null_typeIS9_EEEEONS0_11InputBufferE"

/* After a few seconds this gives up: something else holds the task. */
#define MOST_MOMENTS 20000

/* std::shared_ptr of libstdc++: the object, and the number of its holders. */
struct holders {
	void *vtable;
	_Atomic int count;
};
struct shared_pointer {
	void *object;
	struct holders *holders;
};

static void wait_to_be_alone(const struct shared_pointer *task)
{
	const struct timespec moment = { .tv_nsec = 50000 };

	for (unsigned i = 0; i < MOST_MOMENTS; i++) {
		if (task->holders->count <= 1)
			return;
		nanosleep(&moment, NULL);
	}
}

static void *pass(const char *name, void *result, void *self,
		  const struct shared_pointer *task, void *root, void *inputs)
{
	void *(*original)(void *, void *, const struct shared_pointer *, void *,
			  void *);

	*(void **)&original = torch_symbol("torch_cpu", name);
	original(result, self, task, root, inputs);
	wait_to_be_alone(task);
	return result;
}

/* Up to 2.12, a std::shared_ptr points to a node. */
void *execute_old(void *result, void *self, const struct shared_pointer *task,
		  void *root, void *inputs) __asm__(EXECUTE SHARED_NODE);
void *execute_old(void *result, void *self, const struct shared_pointer *task,
		  void *root, void *inputs)
{
	return pass(EXECUTE SHARED_NODE, result, self, task, root, inputs);
}

void *execute(void *result, void *self, const struct shared_pointer *task,
	      void *root, void *inputs) __asm__(EXECUTE INTRUSIVE_NODE);
void *execute(void *result, void *self, const struct shared_pointer *task,
	      void *root, void *inputs)
{
	return pass(EXECUTE INTRUSIVE_NODE, result, self, task, root, inputs);
}
