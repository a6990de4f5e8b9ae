/* SPDX-License-Identifier: MIT */
/* What no function here answers: success, a handle where one is made, 0 where a
 * number is known to be told. */
#include "simcuda/program/stand_in.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/api/nvml.h"
#include "simcuda/process.h"
#include "simcuda/program/outputs.h"

/* Bytes behind a handle: callers look into none of them. */
#define HANDLE_BYTES	256
/* The most parameters of a call whose outputs are known. */
#define MOST_PARAMETERS 20

struct called {
	const char *name;
	const struct outputs *outputs;
	uint64_t calls;
	enum stand_in_kind kind;
	bool makes_handle, gives_text, is_told, computes;
};

static struct {
	struct called *items;
	size_t count, room;
	struct gp_map by_name; /* the pointer -> index */
} all;

static bool has(const char *name, const char *part)
{
	return strstr(name, part) != NULL;
}

/* Libraries of CUDA write the handle through the first argument. */
static bool makes_handle(const char *name)
{
	return has(name, "Create") || has(name, "_init") ||
	       (strlen(name) > 4 && !strcmp(name + strlen(name) - 4, "Init")) ||
	       has(name, "ModuleLoad") || has(name, "ModuleGetFunction") ||
	       has(name, "LibraryLoad") || has(name, "LibraryGetKernel");
}

static bool gives_text(const char *name)
{
	return has(name, "ErrorString") || has(name, "StatusString") ||
	       has(name, "StatusName") || has(name, "GetLastError");
}

/* Calls of CUDA's libraries that launch kernels. */
static bool computes(const char *name)
{
	static const char *const families[] = {
		"cublas",     "cudnn",	    "cufft",	"curand",
		"cusolver",   "cusparse",   "cudaMemc", "cudaMemset",
		"cudaLaunch", "cudaGraphL", "cuMemc",	"cuMemset",
		"cuLaunch",   "cuGraphL",
	};
	static const char *const others[] = { "Create", "Destroy", "Set",
					      "Get",	"Query",   "Init",
					      "Size",	"Finalize" };
	bool is_of_a_family = false;

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		is_of_a_family |=
			!strncmp(name, families[i], strlen(families[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (has(name, others[i]))
			return false;
	return is_of_a_family;
}

static struct called *find(const char *name)
{
	uint32_t index = gp_map_get(&all.by_name, (uintptr_t)name);
	const struct outputs *outputs;

	if (index != GP_MAP_NONE)
		return &all.items[index];
	outputs = outputs_of(name);
	index = (uint32_t)all.count++;
	all.items = gp_mem_grow(all.items, &all.room, all.count,
				sizeof(*all.items));
	all.items[index] = (struct called){
		.name = name,
		.outputs = outputs,
		.kind = outputs ? STAND_IN_SIZE : STAND_IN_ANSWER,
		.makes_handle = !outputs && makes_handle(name),
		.gives_text = gives_text(name),
		.computes = computes(name),
		.is_told = outputs || !outputs_does_nothing(name),
	};
	gp_map_put(&all.by_name, (uintptr_t)name, index);
	return &all.items[index];
}

static struct called count(const char *name)
{
	struct called *called, copy;

	process_lock();
	called = find(name);
	called->calls++;
	copy = *called;
	process_unlock();
	return copy;
}

static void write_zeros(const struct outputs *outputs,
			void *const parameters[MOST_PARAMETERS])
{
	for (size_t i = 0; i < outputs->count; i++)
		if (parameters[outputs->first - 1 + i])
			memset(parameters[outputs->first - 1 + i], 0,
			       outputs->bytes);
}

uint64_t simcuda_stand_in(void **first, const char *name, void *third,
			  void *fourth, void *fifth, void *sixth, ...)
{
	static const char text[] = "no device";
	struct called called = count(name);
	void *parameters[MOST_PARAMETERS] = { first,  NULL,  third,
					      fourth, fifth, sixth };
	va_list others;

	if (called.outputs) {
		va_start(others, sixth);
		for (size_t i = 6; i < (size_t)called.outputs->first +
					       called.outputs->count - 1;
		     i++)
			parameters[i] = va_arg(others, void *);
		va_end(others);
		write_zeros(called.outputs, parameters);
	}
	if (called.computes)
		process_tell_work();
	/* A copy that is not done: whoever reads what it was to bring does not
	 * read what a GPU would have there. */
	if (has(name, "Memcpy"))
		process_tell_guess();
	if (called.gives_text)
		return (uintptr_t)text;
	/* Its callers take an answer that is none for one. */
	if (!strncmp(name, "nvml", 4))
		return NVML_ERROR_NOT_SUPPORTED;
	if (called.makes_handle && first)
		*first = gp_mem_alloc(1, HANDLE_BYTES);
	return 0;
}

void stand_in_size(const char *name)
{
	struct called *called;

	process_lock();
	called = find(name);
	called->calls++;
	called->kind = STAND_IN_SIZE;
	called->is_told = true;
	process_unlock();
}

const char *stand_in_called(uint32_t index, enum stand_in_kind *kind,
			    uint64_t *calls)
{
	const char *name = NULL;

	process_lock();
	for (size_t i = 0; i < all.count && !name; i++) {
		if (!all.items[i].is_told || index--)
			continue;
		name = all.items[i].name;
		*kind = all.items[i].kind;
		*calls = all.items[i].calls;
	}
	process_unlock();
	return name;
}
