/* SPDX-License-Identifier: MIT */
/* Devices of a gpupool-trace. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "formats/json_trace.h"
#include "formats/json_value.h"

bool gp_json_trace_device(struct gp_json_trace *t, uint64_t ordinal,
			  uint32_t *device)
{
	t->scan->status = gp_build_device(t->build, ordinal, device, t->diag);
	if (t->scan->status)
		return false;
	if (*device == t->device_count) {
		t->devices =
			gp_mem_grow(t->devices, &t->device_room,
				    t->device_count + 1, sizeof(*t->devices));
		t->devices[t->device_count++] =
			(struct gp_json_device){ .ordinal = ordinal };
	}
	return true;
}

static void read_events(struct gp_json_trace *t, uint32_t device)
{
	struct gp_json_walk walk;
	json_t *value;

	if (!gp_json_enter(t->scan, '[', &walk))
		return;
	while (gp_json_next(t->scan, &walk)) {
		if (gp_json_trace_plain_event(t, device))
			continue;
		value = gp_json_value(t->scan);
		if (!value)
			return;
		gp_json_trace_event(t, device, value);
		json_decref(value);
	}
}

static void read_guesses(struct gp_json_trace *t, uint32_t device,
			 const json_t *object)
{
	struct gp_guesses guesses = { 0 };
	const struct gp_guess_row *rows;
	size_t count, i;

	rows = gp_guess_table(&count);
	for (i = 0; i < count; i++)
		gp_json_trace_number(
			t, "guesses", rows[i].name,
			json_object_get(object, rows[i].name),
			(uint64_t *)((char *)&guesses + rows[i].offset));
	gp_build_guesses(t->build, device, &guesses);
}

void gp_json_trace_counters(struct gp_json_trace *t, uint32_t device,
			    const json_t *object)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		gp_json_trace_wrong(t, "the device", "memory_stats", object,
				    "an object of numbers");
	json_object_foreach((json_t *)object, name, value)
	{
		if (json_is_integer(value))
			gp_build_counter(t->build, device, name,
					 json_integer_value(value));
		else
			gp_json_trace_wrong(t, "memory_stats", name, value,
					    "a whole number");
	}
}

/* Keys whose values are small and about a device that is known. */
static void read_device_value(struct gp_json_trace *t, uint32_t device,
			      const char *key)
{
	json_t *value = gp_json_value(t->scan);
	uint64_t bytes = 0;

	if (!value)
		return;
	if (!strcmp(key, "guesses"))
		read_guesses(t, device, value);
	else if (json_is_null(value))
		; /* not known */
	else if (!strcmp(key, "memory_stats"))
		gp_json_trace_counters(t, device, value);
	else if (gp_json_trace_number(t, "the device", key, value, &bytes))
		gp_build_total_memory(t->build, device, bytes);
	json_decref(value);
}

static bool read_ordinal(struct gp_json_trace *t, uint32_t *device)
{
	json_t *value = gp_json_value(t->scan);
	size_t before = t->device_count;
	uint64_t ordinal = 0;
	bool is_ok = value && gp_json_trace_number(t, "the device", "device",
						   value, &ordinal);

	json_decref(value);
	if (!is_ok || !gp_json_trace_device(t, ordinal, device))
		return false;
	if (*device == before)
		return true;
	gp_diag_hint(t->diag, "all that is known of a device is one element");
	t->scan->status = gp_diag_set(
		t->diag, GP_INPUT,
		"device %" PRIu64 " is there twice in \"devices\"", ordinal);
	return false;
}

static const char *const device_keys[] = { "device",	  "events",
					   "start",	  "end",
					   "guesses",	  "memory_stats",
					   "total_memory" };
#define DEVICE_KEYS (sizeof(device_keys) / sizeof(*device_keys))

/* DEVICE_KEYS: it is none of them. */
static size_t find_device_key(const char *key)
{
	size_t i = 0;

	while (i < DEVICE_KEYS && strcmp(key, device_keys[i]) != 0)
		i++;
	return i;
}

static void read_device_key(struct gp_json_trace *t, uint32_t device,
			    const char *key)
{
	if (!strcmp(key, "events"))
		read_events(t, device);
	else if (!strcmp(key, "start") || !strcmp(key, "end"))
		gp_json_trace_state(t, device, *key == 'e');
	else
		read_device_value(t, device, key);
}

/* So that what follows can be told whose it is. */
static void require_device(struct gp_json_trace *t, size_t number,
			   const char *key)
{
	gp_diag_record(t->diag, "devices, element %zu", number);
	gp_diag_hint(t->diag, "write {\"device\": 0, ...");
	t->scan->status = gp_diag_set(
		t->diag, GP_INPUT, "\"device\" must stand before \"%s\"", key);
}

void gp_json_trace_read_device(struct gp_json_trace *t, size_t number)
{
	char key[GP_JSON_KEY_ROOM];
	struct gp_json_walk walk;
	bool has[DEVICE_KEYS] = { false };
	uint32_t device = 0;

	if (!gp_json_enter(t->scan, '{', &walk))
		return;
	while (gp_json_next_key(t->scan, &walk, key)) {
		size_t known = find_device_key(key);

		if (known == DEVICE_KEYS) {
			gp_json_skip(t->scan);
		} else if (has[known]) {
			gp_json_trace_twice(t, "the device", key);
		} else if (!known) {
			has[known] = read_ordinal(t, &device);
		} else if (!*has) {
			require_device(t, number, key);
		} else {
			has[known] = true;
			read_device_key(t, device, key);
		}
	}
}
