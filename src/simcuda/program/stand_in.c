/* What no function here answers: success, a handle where one is made. */
#include "simcuda/program/stand_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/process.h"

/* Bytes behind a handle: callers look into none of them. */
#define HANDLE_BYTES 256

struct called {
	const char *name;
	uint64_t calls;
	bool makes_handle, gives_text;
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
	       has(name, "cudaGraphInstantiate");
}

static bool gives_text(const char *name)
{
	return has(name, "ErrorString") || has(name, "StatusString") ||
	       has(name, "StatusName") || has(name, "GetLastError");
}

static uint32_t find(const char *name)
{
	uint32_t index = gp_map_get(&all.by_name, (uintptr_t)name);

	if (index != GP_MAP_NONE)
		return index;
	index = (uint32_t)all.count++;
	all.items = gp_mem_grow(all.items, &all.room, all.count,
				sizeof(*all.items));
	all.items[index] = (struct called){
		.name = name,
		.makes_handle = makes_handle(name),
		.gives_text = gives_text(name),
	};
	gp_map_put(&all.by_name, (uintptr_t)name, index);
	return index;
}

uint64_t simcuda_stand_in(void **first_argument, const char *name)
{
	static const char text[] = "no device";
	struct called called;
	uint32_t index;

	process_lock();
	index = find(name);
	all.items[index].calls++;
	called = all.items[index];
	process_unlock();
	if (called.gives_text)
		return (uintptr_t)text;
	if (called.makes_handle && first_argument)
		*first_argument = gp_mem_alloc(1, HANDLE_BYTES);
	return 0;
}

const char *stand_in_called(uint32_t index, uint64_t *calls)
{
	const char *name = NULL;

	process_lock();
	if (index < all.count) {
		name = all.items[index].name;
		*calls = all.items[index].calls;
	}
	process_unlock();
	return name;
}
