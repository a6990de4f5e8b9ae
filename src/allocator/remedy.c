/* SPDX-License-Identifier: MIT */
/* The settings that people try. */
#include "gpupool/remedy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define EXPANDABLE                                                             \
	"segments grow in place; not with CUDA IPC, RDMA and some MemPools"
#define SPLIT                                                                  \
	"blocks of this size and more stay whole: large ones are given back, " \
	"and asked for again"
#define COLLECT                                                                \
	"old free segments are given back before memory runs out, at the "     \
	"price of more calls; needs a memory fraction"
#define ROUND "requests are rounded up, so that more of them can share a block"
#define LARGE "requests of 1 to 10 MiB share larger segments"
#define BOTH(first)                                                            \
	first "; and requests are rounded up, so that more of them can share " \
	      "a block"

static const struct gp_remedy table[] = {
	{ "", "PyTorch's defaults" },
	{ "expandable_segments:True", EXPANDABLE },
	{ "max_split_size_mb:512", SPLIT },
	{ "max_split_size_mb:256", SPLIT },
	{ "max_split_size_mb:128", SPLIT },
	{ "max_split_size_mb:64", SPLIT },
	{ "max_split_size_mb:32", SPLIT },
	{ "garbage_collection_threshold:0.8", COLLECT },
	{ "garbage_collection_threshold:0.6", COLLECT },
	{ "roundup_power2_divisions:4", ROUND },
	{ "roundup_power2_divisions:8", ROUND },
	{ "roundup_power2_divisions:16", ROUND },
	{ "large_segment_size_mb:64", LARGE },
	{ "expandable_segments:True,roundup_power2_divisions:8",
	  BOTH(EXPANDABLE) },
	{ "max_split_size_mb:128,roundup_power2_divisions:4", BOTH(SPLIT) },
	{ "max_split_size_mb:128,garbage_collection_threshold:0.6",
	  SPLIT "; " COLLECT },
	{ "max_split_size_mb:128,max_non_split_rounding_mb:64",
	  SPLIT ", or serve what is nearly as large" },
};

#define REMEDIES (sizeof(table) / sizeof(*table))

const struct gp_remedy *gp_remedy_table(size_t *count)
{
	*count = REMEDIES;
	return table;
}

/* Length of the first setting: up to a comma outside of brackets. */
static size_t item_length(const char *conf)
{
	int depth = 0;
	size_t i;

	for (i = 0; conf[i] && (conf[i] != ',' || depth > 0); i++)
		depth += (conf[i] == '[') - (conf[i] == ']');
	return i;
}

static const char *next_item(const char *item)
{
	item += item_length(item);
	return *item ? item + 1 : item;
}

/* "name:" and blanks around it. */
static bool has_name(const char *item, const char *knob, size_t length)
{
	item += strspn(item, " ");
	return !strncmp(item, knob, length) &&
	       item[length + strspn(item + length, " ")] == ':';
}

bool gp_remedy_names(const char *conf, const char *knob)
{
	for (; *conf; conf = next_item(conf))
		if (has_name(conf, knob, strlen(knob)))
			return true;
	return false;
}

/* Whether a setting is one that some remedy sets. */
static bool is_subject(const char *item)
{
	for (size_t i = 0; i < REMEDIES; i++)
		for (const char *other = table[i].conf; *other;
		     other = next_item(other))
			if (has_name(item, other, strcspn(other, ":")))
				return true;
	return false;
}

char *gp_remedy_conf(const char *recorded, const struct gp_remedy *remedy)
{
	size_t n = 0, length = strlen(remedy->conf);
	char *conf = gp_mem_alloc(strlen(recorded) + length + 2, 1);

	for (; *recorded; recorded = next_item(recorded)) {
		size_t item = item_length(recorded);

		if (is_subject(recorded))
			continue;
		if (n)
			conf[n++] = ',';
		memcpy(conf + n, recorded, item);
		n += item;
	}
	if (n && length)
		conf[n++] = ',';
	memcpy(conf + n, remedy->conf, length);
	return conf;
}
