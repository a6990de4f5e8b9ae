/* SPDX-License-Identifier: MIT */
/* Fields of gpupool-trace's objects: checked, or refused by name. */
#include <string.h>

#include "formats/json_trace.h"
#include "formats/json_value.h"

#define WHOLE "a whole number from 0 to 2^64 - 1"

void gp_json_trace_wrong(struct gp_json_trace *t, const char *owner,
			 const char *key, const json_t *value,
			 const char *must_be)
{
	char shown[GP_JSON_SHOWN];

	if (t->scan->status)
		return;
	if (value)
		t->scan->status = gp_diag_set(
			t->diag, GP_INPUT, "\"%s\" of %s is %s; it must be %s",
			key, owner, gp_json_show(value, shown), must_be);
	else
		t->scan->status = gp_diag_set(t->diag, GP_INPUT,
					      "%s has no \"%s\"", owner, key);
	gp_diag_hint(t->diag, "man 5 gpupool-trace tells what each has");
}

void gp_json_trace_twice(struct gp_json_trace *t, const char *owner,
			 const char *key)
{
	if (!t->scan->status)
		t->scan->status = gp_diag_set(
			t->diag, GP_INPUT, "%s has \"%s\" twice", owner, key);
}

bool gp_json_trace_number(struct gp_json_trace *t, const char *owner,
			  const char *key, const json_t *value, uint64_t *to)
{
	if (!value || gp_json_number(value, to))
		return true;
	gp_json_trace_wrong(t, owner, key, value, WHOLE);
	return false;
}

bool gp_json_trace_pool(struct gp_json_trace *t, const char *owner,
			const char *key, const json_t *value, uint16_t *to)
{
	struct gp_pool_id pool;

	if (!value)
		return true;
	if (!gp_json_pool(value, &pool)) {
		gp_json_trace_wrong(t, owner, key, value,
				    "two whole numbers, as [0, 1]");
		return false;
	}
	t->scan->status = gp_build_pool(t->build, pool, to, t->diag);
	return t->scan->status == GP_OK;
}

bool gp_json_trace_stream(struct gp_json_trace *t, const char *owner,
			  const char *key, const json_t *value, uint16_t *to)
{
	uint64_t handle;

	if (!value)
		return true;
	if (!gp_json_number(value, &handle)) {
		gp_json_trace_wrong(t, owner, key, value, WHOLE);
		return false;
	}
	t->scan->status = gp_build_stream(t->build, handle, to, t->diag);
	return t->scan->status == GP_OK;
}

static bool read_index(struct gp_json_trace *t, const char *owner,
		       const char *key, const char *wanted, const json_t *value,
		       uint32_t *to)
{
	uint64_t index;

	*to = UINT32_MAX;
	if (!value)
		return true;
	if (!gp_json_number(value, &index) || index >= UINT32_MAX) {
		gp_json_trace_wrong(t, owner, key, value, wanted);
		return false;
	}
	*to = (uint32_t)index;
	return true;
}

bool gp_json_trace_site(struct gp_json_trace *t, const char *owner,
			const json_t *value, uint32_t *to)
{
	return read_index(t, owner, "site", "an index into \"sites\"", value,
			  to);
}

bool gp_json_trace_owner(struct gp_json_trace *t, const char *owner,
			 const json_t *value, uint32_t *to)
{
	return read_index(t, owner, "owner", "an index into \"owners\"", value,
			  to);
}

bool gp_json_trace_text(struct gp_json_trace *t, const char *owner,
			const char *key, const json_t *value)
{
	if (json_is_string(value))
		return true;
	gp_json_trace_wrong(t, owner, key, value, "a text");
	return false;
}
