/* SPDX-License-Identifier: MIT */
/* Settings of PyTorch's allocator that change while the program runs. */
#include <dlfcn.h>
#include <string.h>

#include "simcuda/process.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/recorder.h"

/* A std::string, of either kind, begins with the address of its text. */
static void note_settings(const char *const *string)
{
	for (int i = 0; i < process.device_count; i++) {
		if (!recorder_begin("set_allocator_settings", i))
			return;
		entries_put(",\"conf\":");
		recorder_put_text(*string);
		recorder_end();
	}
}

/* Not virtual: the names are taken, as this library is searched first. */
#define SET_SETTINGS "_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettings"
#define STRING	     "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define PARSE                                                                  \
	"_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig"                \
	"9parseArgsERK" STRING

static void pass_settings(const char *name, const char *const *string)
{
	void *lib = dlopen("libc10_cuda.so", RTLD_NOLOAD | RTLD_LAZY);
	void (*set)(const char *const *) =
		(void (*)(const char *const *))dlsym(lib, name);

	note_settings(string);
	if (set)
		set(string);
}

void set_settings_old(const char *const *string) __asm__(SET_SETTINGS "ERKSs");
void set_settings_old(const char *const *string)
{
	pass_settings(SET_SETTINGS "ERKSs", string);
}

void set_settings(const char *const *string) __asm__(SET_SETTINGS "ERK" STRING);
void set_settings(const char *const *string)
{
	pass_settings(SET_SETTINGS "ERK" STRING, string);
}

/* From 2.9 on it is a member, and libc10.so's; PyTorch's libraries call it too
 * when they read the environment, which the header tells already. */
void parse_settings(void *self, const char *const *string) __asm__(PARSE);
void parse_settings(void *self, const char *const *string)
{
	void *lib = dlopen("libc10.so", RTLD_NOLOAD | RTLD_LAZY);
	void (*parse)(void *, const char *const *) =
		(void (*)(void *, const char *const *))dlsym(lib, PARSE);

	if (strcmp(*string, recorder_settings()) != 0)
		note_settings(string);
	if (parse)
		parse(self, string);
}
