/* SPDX-License-Identifier: MIT */
/* A settings string from the values it led to. */
#include "formats/snapshot_conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define MIB 1048576

/* More than all knobs with the longest values take. */
#define CONF_BYTES 1024

struct conf {
	char text[CONF_BYTES];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct conf *conf,
						      const char *format, ...)
{
	size_t room = sizeof(conf->text) - conf->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(conf->text + conf->length, room, format, args);
	va_end(args);
	if (n > 0)
		conf->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_knob(struct conf *conf, const char *name)
{
	add(conf, "%s%s:", conf->length ? "," : "", name);
}

static void add_true(struct conf *conf, const char *name, bool is_set)
{
	if (!is_set)
		return;
	add_knob(conf, name);
	add(conf, "True");
}

/*
 * One number when all intervals have it; else the list form.  Its first pair
 * would also fill the intervals below, so the lowest one is always named.
 */
static void add_divisions(struct conf *conf, const uint32_t *divisions)
{
	bool is_uniform = true, is_default = true;

	for (int i = 0; i < GP_DIVISIONS; i++) {
		is_uniform &= divisions[i] == divisions[0];
		is_default &= !divisions[i];
	}
	if (is_default)
		return;
	add_knob(conf, "roundup_power2_divisions");
	if (is_uniform) {
		add(conf, "%u", divisions[0]);
		return;
	}
	add(conf, "[1:%u", divisions[0]);
	for (int i = 1; i < GP_DIVISIONS; i++)
		if (divisions[i])
			add(conf, ",%d:%u", 1 << i, divisions[i]);
	add(conf, "]");
}

char *gp_snapshot_conf(const struct gp_snapshot_settings *settings)
{
	struct conf conf = { .length = 0 };

	if (settings->max_split_size) {
		add_knob(&conf, "max_split_size_mb");
		add(&conf, "%llu",
		    (unsigned long long)settings->max_split_size / MIB);
	}
	if (settings->gc_threshold > 0) {
		add_knob(&conf, "garbage_collection_threshold");
		add(&conf, "%g", settings->gc_threshold);
	}
	if (settings->divisions)
		add_divisions(&conf, settings->divisions);
	add_true(&conf, "expandable_segments", settings->is_expandable);
	add_true(&conf, "release_lock_on_cudamalloc", settings->releases_lock);
	add_true(&conf, "graph_capture_record_stream_reuse",
		 settings->reuses_in_capture);
	return gp_mem_copy_text(conf.text, conf.length);
}
