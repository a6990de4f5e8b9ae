/* SPDX-License-Identifier: MIT */
/*
 * Presets: what people try when memory runs out.
 *
 * quick: each of the usual settings by itself, with the values that guides and
 * threads name, and the pairs that are used together.  full: their product.
 */
#include <string.h>

#include "gpupool/sweep.h"

static const char *const quick[] = {
	"",
	"expandable_segments:True",
	"max_split_size_mb:32",
	"max_split_size_mb:64",
	"max_split_size_mb:128",
	"max_split_size_mb:256",
	"max_split_size_mb:512",
	"garbage_collection_threshold:0.6",
	"garbage_collection_threshold:0.8",
	"garbage_collection_threshold:0.6,max_split_size_mb:128",
	"garbage_collection_threshold:0.8,max_split_size_mb:128",
	"roundup_power2_divisions:4",
	"roundup_power2_divisions:8",
	"roundup_power2_divisions:16",
	"roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
	"expandable_segments:True,max_split_size_mb:128",
	"expandable_segments:True,garbage_collection_threshold:0.8",
	"expandable_segments:True,roundup_power2_divisions:8",
	"large_segment_size_mb:12",
	"large_segment_size_mb:64",
	"expandable_segments:True,large_segment_size_mb:12",
	"max_split_size_mb:128,max_non_split_rounding_mb:64",
};

static const char *const full[] = {
	"expandable_segments=none,True",
	"max_split_size_mb=none,32..1024*2",
	"garbage_collection_threshold=none,0.6,0.8",
	"roundup_power2_divisions=none,4,8,16,[256:1,512:2,1024:4,>:8]",
	"large_segment_size_mb=none,12,64",
};

static const struct gp_preset table[] = {
	{ .name = "quick",
	  .sentence = "each usual setting by itself, and the usual pairs",
	  .confs = quick,
	  .conf_count = sizeof(quick) / sizeof(*quick) },
	{ .name = "full",
	  .sentence = "all combinations of the usual settings",
	  .axes = full,
	  .axis_count = sizeof(full) / sizeof(*full) },
};

const struct gp_preset *gp_preset_table(size_t *count)
{
	*count = sizeof(table) / sizeof(*table);
	return table;
}

const struct gp_preset *gp_preset_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}
