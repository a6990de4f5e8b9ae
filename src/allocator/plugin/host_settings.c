/* SPDX-License-Identifier: MIT */
/* The settings of host allocators, as environment variables of their
 * process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/engines.h"
#include "allocator/plugin/host.h"
#include "base/mem.h"

#define NOT_SET "0 is the allocator's own."

#define COUNT                                                                  \
	{                                                                      \
		"count", "told|smaps", 0, 0, "told",                           \
			"What counts as reserved: what the allocator "         \
			"reports; or "                                         \
			"what the system "                                     \
			"says is in memory (/proc/self/smaps_rollup) when "    \
			"all blocks are "                                      \
			"written to, which takes that memory."                 \
	}

const struct gp_engine_setting host_glibc_settings[] = {
	{ "arena_max", NULL, 0, 4096, "0",
	  "MALLOC_ARENA_MAX: arenas for all threads. " NOT_SET },
	{ "mmap_threshold", NULL, 0, 1 << 25, "0",
	  "MALLOC_MMAP_THRESHOLD_: bytes from which on a block is mapped by "
	  "itself. " NOT_SET },
	{ "trim_threshold", NULL, 0, 1e15, "0",
	  "MALLOC_TRIM_THRESHOLD_: free bytes at the top that are "
	  "released. " NOT_SET },
	{ "hugetlb", "0|1", 0, 0, "0",
	  "glibc.malloc.hugetlb: 1 asks for transparent huge pages." },
	COUNT,
	{ 0 },
};

const struct gp_engine_setting host_jemalloc_settings[] = {
	{ "decay", "never|now", 0, 0, "never",
	  "dirty_decay_ms and muzzy_decay_ms: when unused pages are released. "
	  "A replay has no times, so there is nothing between." },
	{ "narenas", NULL, 0, 4096, "0", "Arenas for all threads. " NOT_SET },
	{ "thp", "default|always|never", 0, 0, "default",
	  "Transparent huge pages." },
	COUNT,
	{ 0 },
};

const struct gp_engine_setting host_tcmalloc_settings[] = {
	{ "release_rate", NULL, 0, 10, "1",
	  "TCMALLOC_RELEASE_RATE: how soon unused pages are released; 0: "
	  "never." },
	{ "aggressive_decommit", "true|false", 0, 0, "false",
	  "TCMALLOC_AGGRESSIVE_DECOMMIT: unused pages are released at once." },
	COUNT,
	{ 0 },
};

const struct gp_engine_setting host_mimalloc_settings[] = {
	{ "decay", "never|now", 0, 0, "never",
	  "MIMALLOC_ALLOW_DECOMMIT and its delay: when unused pages are "
	  "released." },
	{ "large_pages", "0|1", 0, 0, "0",
	  "MIMALLOC_LARGE_OS_PAGES: pages of 2 MiB where the system has "
	  "some." },
	COUNT,
	{ 0 },
};

/* text contains a %s for the value. Several texts for one variable are joined
 * by commas. */
struct variable {
	const char *engine, *setting;
	const char *value; /* NULL: any except 0 */
	const char *name, *text;
};

static const struct variable variables[] = {
	{ "glibc", "arena_max", NULL, "MALLOC_ARENA_MAX", "%s" },
	{ "glibc", "mmap_threshold", NULL, "MALLOC_MMAP_THRESHOLD_", "%s" },
	{ "glibc", "trim_threshold", NULL, "MALLOC_TRIM_THRESHOLD_", "%s" },
	{ "glibc", "hugetlb", NULL, "GLIBC_TUNABLES",
	  "glibc.malloc.hugetlb=%s" },
	{ "jemalloc", "decay", "never", "MALLOC_CONF",
	  "dirty_decay_ms:-1,muzzy_decay_ms:-1" },
	{ "jemalloc", "decay", "now", "MALLOC_CONF",
	  "dirty_decay_ms:0,muzzy_decay_ms:0" },
	{ "jemalloc", "narenas", NULL, "MALLOC_CONF", "narenas:%s" },
	{ "jemalloc", "thp", NULL, "MALLOC_CONF", "thp:%s" },
	{ "tcmalloc", "release_rate", NULL, "TCMALLOC_RELEASE_RATE", "%s" },
	{ "tcmalloc", "release_rate", "0", "TCMALLOC_RELEASE_RATE", "0" },
	{ "tcmalloc", "aggressive_decommit", NULL,
	  "TCMALLOC_AGGRESSIVE_DECOMMIT", "%s" },
	{ "mimalloc", "decay", "never", "MIMALLOC_ALLOW_DECOMMIT", "0" },
	{ "mimalloc", "decay", "now", "MIMALLOC_DECOMMIT_DELAY", "0" },
	{ "mimalloc", "large_pages", NULL, "MIMALLOC_LARGE_OS_PAGES", "%s" },
};

#define VARIABLES (sizeof(variables) / sizeof(*variables))

static const char *const libraries[][2] = {
	{ "jemalloc", "libjemalloc.so.2" },
	{ "tcmalloc", "libtcmalloc_minimal.so.4" },
	{ "mimalloc", "libmimalloc.so.2" },
};

const char *host_library(const struct gp_engine *engine)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (engine_is_named(engine, libraries[i][0]))
			return libraries[i][1];
	return NULL;
}

char host_mark(const struct gp_engine *engine)
{
	return !strcmp(engine_setting(engine, "count"), "smaps") ? HOST_TOUCHED
								 : HOST_MARK;
}

static bool applies(const struct variable *v, const struct gp_engine *engine)
{
	const char *value;

	if (!engine_is_named(engine, v->engine))
		return false;
	value = engine_setting(engine, v->setting);
	return v->value ? !strcmp(v->value, value) : strcmp(value, "0") != 0;
}

/* Adds NAME=TEXT, or appends a comma and TEXT if the last variable has that
 * name. */
static void put(char **all, size_t *count, const char *name, const char *text)
{
	char *last = *count ? all[*count - 1] : NULL;
	size_t length = strlen(name), size = length + strlen(text) + 2;

	if (last && !strncmp(last, name, length) && last[length] == '=') {
		size += strlen(last);
		all[*count - 1] = gp_mem_alloc(size, 1);
		snprintf(all[*count - 1], size, "%s,%s", last, text);
		free(last);
		return;
	}
	all[*count] = gp_mem_alloc(size, 1);
	snprintf(all[(*count)++], size, "%s=%s", name, text);
}

char **host_environment(const struct gp_engine *engine)
{
	char **all = gp_mem_alloc(VARIABLES + 2, sizeof(*all));
	const char *library = host_library(engine);
	size_t count = 0;
	char text[300];

	for (size_t i = 0; i < VARIABLES; i++) {
		const struct variable *v = &variables[i];

		if (!applies(v, engine))
			continue;
		snprintf(text, sizeof(text), v->text,
			 engine_setting(engine, v->setting));
		put(all, &count, v->name, text);
	}
	if (library)
		put(all, &count, "LD_PRELOAD", library);
	return all;
}

void host_free_environment(char **environment)
{
	for (size_t i = 0; environment[i]; i++)
		free(environment[i]);
	free(environment);
}
