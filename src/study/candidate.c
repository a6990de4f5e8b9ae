/* SPDX-License-Identifier: MIT */
/* The settings that people use: one table, the least unusual ones first. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/study.h"

#define EXPANDABLE                                                             \
	"segments grow in place; not with CUDA IPC, RDMA and some MemPools"
#define SPLIT                                                                  \
	"blocks of at least this size are not split; large ones are "          \
	"released, and allocated again"
#define COLLECT                                                                \
	"old free segments are released before memory runs out, which costs "  \
	"more calls; needs a memory fraction"
#define ROUND "requests are rounded up, so that more of them can share a block"
#define LARGE "requests of 1 to 10 MiB share segments of this size"
#define BOTH(first)                                                            \
	first "; and requests are rounded up, so that more of them can share " \
	      "a block"
#define WITHOUT_BOUND                                                          \
	"the split limit applies to the mapped range as a whole, and memory "  \
	"can grow without bound"

static const struct gp_candidate_conf table[] = {
	{ "", "PyTorch's defaults", NULL },
	{ "expandable_segments:True", EXPANDABLE, NULL },
	{ "max_split_size_mb:512", SPLIT, NULL },
	{ "max_split_size_mb:256", SPLIT, NULL },
	{ "max_split_size_mb:128", SPLIT, NULL },
	{ "max_split_size_mb:64", SPLIT, NULL },
	{ "max_split_size_mb:32", SPLIT, NULL },
	{ "garbage_collection_threshold:0.8", COLLECT, NULL },
	{ "garbage_collection_threshold:0.6", COLLECT, NULL },
	{ "roundup_power2_divisions:4", ROUND, NULL },
	{ "roundup_power2_divisions:8", ROUND, NULL },
	{ "roundup_power2_divisions:16", ROUND, NULL },
	{ "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", ROUND, NULL },
	{ "large_segment_size_mb:12", LARGE, NULL },
	{ "large_segment_size_mb:64", LARGE, NULL },
	{ "expandable_segments:True,roundup_power2_divisions:8",
	  BOTH(EXPANDABLE), NULL },
	{ "expandable_segments:True,large_segment_size_mb:12",
	  EXPANDABLE "; pages are smaller", NULL },
	{ "expandable_segments:True,garbage_collection_threshold:0.8",
	  EXPANDABLE "; " COLLECT, NULL },
	{ "max_split_size_mb:128,roundup_power2_divisions:4", BOTH(SPLIT),
	  NULL },
	{ "max_split_size_mb:128,garbage_collection_threshold:0.6",
	  SPLIT "; " COLLECT, NULL },
	{ "max_split_size_mb:128,garbage_collection_threshold:0.8",
	  SPLIT "; " COLLECT, NULL },
	{ "max_split_size_mb:128,max_non_split_rounding_mb:64",
	  SPLIT ", except for requests of nearly the same size", NULL },
	{ "expandable_segments:True,max_split_size_mb:128",
	  EXPANDABLE "; " SPLIT, WITHOUT_BOUND },
};

#define CANDIDATES (sizeof(table) / sizeof(*table))

const struct gp_candidate_conf *gp_candidate_table(size_t *count)
{
	*count = CANDIDATES;
	return table;
}

/* Limits that can be lifted if nothing else serves a trace; they were set for a
 * reason. A row applies if all of its settings are set. */
#define OTHERS "less memory is left to others on the device"
static const struct gp_candidate_conf lifted[] = {
	{ "throw_on_cudamalloc_oom:False",
	  "the cache is released before a request fails", NULL },
	{ "per_process_memory_fraction:1", "all of the device may be used",
	  OTHERS },
	{ "per_process_memory_fraction:1,throw_on_cudamalloc_oom:False",
	  "all of the device may be used, and the cache is released before a "
	  "request fails",
	  OTHERS },
};

static bool names(const char *conf, const char *item, size_t length)
{
	const char *colon = memchr(item, ':', length);
	char name[64];

	snprintf(name, sizeof(name), "%.*s",
		 (int)(colon ? colon - item : (long)length), item);
	return gp_conf_names(conf, name);
}

/* Whether any candidate sets this setting. */
static bool is_subject(const char *item, size_t length, const char *conf)
{
	(void)conf;
	for (size_t i = 0; i < CANDIDATES; i++)
		if (names(table[i].conf, item, length))
			return true;
	return false;
}

static bool is_in(const char *item, size_t length, const char *conf)
{
	return names(conf, item, length);
}

static char *replace(const char *base, const char *conf,
		     bool (*is_replaced)(const char *item, size_t length,
					 const char *conf))
{
	size_t n = 0, length, size = strlen(base) + strlen(conf) + 2;
	char *made = gp_mem_alloc(size, 1);
	const char *item;

	while ((item = gp_conf_next(&base, &length)))
		if (length && !is_replaced(item, length, conf))
			n += (size_t)snprintf(made + n, size - n, "%s%.*s",
					      n ? "," : "", (int)length, item);
	snprintf(made + n, size - n, "%s%s", n && *conf ? "," : "", conf);
	return made;
}

char *gp_candidate_apply(const char *base, const char *conf)
{
	return replace(base, conf, is_subject);
}

/* Whether base sets all that conf sets. */
static bool has_all(const char *base, const char *conf)
{
	const char *item;
	size_t length;

	while ((item = gp_conf_next(&conf, &length)))
		if (!names(base, item, length))
			return false;
	return true;
}

const struct gp_candidate_conf *gp_candidate_lifted(const char *base,
						    size_t *next, char **conf)
{
	const struct gp_candidate_conf *candidate;

	while (*next < sizeof(lifted) / sizeof(*lifted)) {
		candidate = &lifted[(*next)++];
		if (!has_all(base, candidate->conf))
			continue;
		*conf = replace(base, candidate->conf, is_in);
		return candidate;
	}
	return NULL;
}
