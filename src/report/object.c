/* SPDX-License-Identifier: MIT */
/* Writes and reads objects of reports by the table of their keys. */
#include "report/object.h"

#include <stdint.h>
#include <string.h>

#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "report/emit.h"
#include "report/keys.h"

#define WORD_TEXT 64

static const char *name_of(const struct gp_key *key)
{
	return key->type == GP_KEY_MEASURE
		       ? gp_measure_name((enum gp_measure_id)key->id)
		       : key->name;
}

static bool can_be_none(const struct gp_key *key)
{
	return key->flags & (GP_KEY_NULL | GP_KEY_MAYBE);
}

static bool is_in_struct(const struct gp_key *key)
{
	return key->held > GP_HELD_NOWHERE && key->held < GP_HELD_MADE;
}

/* ---- whole numbers ---- */

static uint64_t number_at(const struct gp_key *key, const void *at)
{
	switch (key->held) {
	case GP_HELD_U64: return *(const uint64_t *)at;
	case GP_HELD_U32: return *(const uint32_t *)at;
	case GP_HELD_U8: return *(const uint8_t *)at;
	case GP_HELD_REAL: return (uint64_t) * (const double *)at;
	default: return 0;
	}
}

/* GP_INPUT: the number does not fit the member. */
static enum gp_status put_number(const struct gp_key *key, void *at,
				 uint64_t number)
{
	switch (key->held) {
	case GP_HELD_U64: *(uint64_t *)at = number; break;
	case GP_HELD_U32: *(uint32_t *)at = (uint32_t)number; break;
	case GP_HELD_U8: *(uint8_t *)at = (uint8_t)number; break;
	default: break;
	}
	return number_at(key, at) == number ? GP_OK : GP_INPUT;
}

static bool is_none(const struct gp_key *key, uint64_t number)
{
	bool is_endless = key->flags & GP_KEY_ENDLESS;

	if (!can_be_none(key))
		return false;
	if (is_endless && number == GP_UNLIMITED)
		return true;
	return (!is_endless || key->flags & GP_KEY_ZERO) && !number;
}

static uint64_t none_of(const struct gp_key *key)
{
	return (key->flags & (GP_KEY_ENDLESS | GP_KEY_ZERO)) == GP_KEY_ENDLESS
		       ? GP_UNLIMITED
		       : 0;
}

/* ---- words: those of a key that may be null start with 1 ---- */

static const char *word_at(const struct gp_key *key, uint64_t number,
			   char word[WORD_TEXT])
{
	const char *words = key->of;

	for (number -= can_be_none(key); number; number--)
		words += strcspn(words, " ") + 1;
	snprintf(word, WORD_TEXT, "%.*s", (int)strcspn(words, " "), words);
	return word;
}

static bool find_word(const struct gp_key *key, const char *text,
		      uint64_t *number)
{
	const char *words = key->of;
	size_t length = strlen(text);

	*number = can_be_none(key);
	for (; *words; words += strcspn(words, " "), words += *words != 0) {
		if (strcspn(words, " ") == length &&
		    !strncmp(words, text, length))
			return true;
		++*number;
	}
	return false;
}

/* ---- writing ---- */

static void emit_none(struct gp_emit *json, const struct gp_key *key)
{
	if (!(key->flags & GP_KEY_MAYBE))
		gp_emit_null(json, name_of(key));
}

static void emit_number(struct gp_emit *json, const struct gp_key *key,
			uint64_t number)
{
	const char *name = name_of(key);
	char word[WORD_TEXT];

	if (is_none(key, number))
		emit_none(json, key);
	else if (key->type == GP_KEY_WORD)
		gp_emit_text(json, name, word_at(key, number, word));
	else if (key->type == GP_KEY_RELEASE)
		gp_emit_release(json, name, (uint8_t)number);
	else if (key->type == GP_KEY_CAPACITY && number == GP_UNLIMITED)
		gp_emit_text(json, name, "unlimited");
	else if (key->type == GP_KEY_MORE_BYTES)
		gp_emit_int(json, name, (int64_t)number);
	else
		gp_emit_uint(json, name, number);
}

static void emit_real(struct gp_emit *json, const struct gp_key *key,
		      double real)
{
	if (can_be_none(key) && real == 0)
		emit_none(json, key);
	else if (key->type == GP_KEY_RATIO || key->type == GP_KEY_NS)
		gp_emit_ratio(json, name_of(key), real);
	else if (key->type == GP_KEY_US || key->type == GP_KEY_SECONDS)
		gp_emit_real(json, name_of(key), real);
	else
		gp_emit_uint(json, name_of(key), (uint64_t)real);
}

static void emit_text(struct gp_emit *json, const struct gp_key *key,
		      const char *text)
{
	if (can_be_none(key) &&
	    (!text || (key->held == GP_HELD_CHARS && !*text)))
		emit_none(json, key);
	else
		gp_emit_text(json, name_of(key), text);
}

static void emit_bool(struct gp_emit *json, const struct gp_key *key,
		      bool value)
{
	if (value || !(key->flags & GP_KEY_MAYBE))
		gp_emit_bool(json, name_of(key), value);
}

static void emit_key(struct gp_emit *json, const struct gp_key *key,
		     const void *value)
{
	const void *at = (const char *)value + key->at;

	switch (key->held) {
	case GP_HELD_NOWHERE: break;
	case GP_HELD_U64:
	case GP_HELD_U32:
	case GP_HELD_U8:
	case GP_HELD_MADE:
		emit_number(json, key,
			    key->number ? key->number(value)
					: number_at(key, at));
		break;
	case GP_HELD_I64:
		gp_emit_int(json, name_of(key), *(const int64_t *)at);
		break;
	case GP_HELD_REAL: emit_real(json, key, *(const double *)at); break;
	case GP_HELD_BOOL: emit_bool(json, key, *(const bool *)at); break;
	case GP_HELD_TEXT:
		emit_text(json, key, *(const char *const *)at);
		break;
	case GP_HELD_CHARS: emit_text(json, key, at); break;
	case GP_HELD_CODE: key->write(json, key, value); break;
	}
}

void gp_emit_keys(struct gp_emit *json, const char *object, const void *value)
{
	const struct gp_key *key = gp_key_object(object);

	while ((++key)->type != GP_KEY_NEW)
		emit_key(json, key, value);
}

void gp_emit_object(struct gp_emit *json, const char *key, const char *object,
		    const void *value, enum gp_emit_shape shape)
{
	if (!value) {
		gp_emit_null(json, key);
		return;
	}
	gp_emit_open(json, key, '{', shape);
	gp_emit_keys(json, object, value);
	gp_emit_close(json, '}');
}

void gp_emit_same(struct gp_emit *json, const struct gp_key *key,
		  const void *value)
{
	gp_emit_object(json, key->name, key->of, value, GP_EMIT_FLAT);
}

void gp_emit_objects(struct gp_emit *json, const char *key, const char *object,
		     const void *values, size_t count, size_t size)
{
	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		gp_emit_object(json, NULL, object,
			       (const char *)values + i * size, GP_EMIT_FLAT);
	gp_emit_close(json, ']');
}

/* ---- reading ---- */

static bool read_number(const json_t *json, const struct gp_key *key, void *at)
{
	const char *text = json_string_value(json);
	json_int_t integer = json_integer_value(json);
	uint64_t number = (uint64_t)integer;
	struct gp_diag diag = { 0 };
	uint8_t release;

	if (!json || json_is_null(json)) {
		number = none_of(key);
	} else if (key->type == GP_KEY_WORD) {
		if (!text || !find_word(key, text, &number))
			return false;
	} else if (key->type == GP_KEY_RELEASE) {
		if (!text || gp_release_parse(text, &release, &diag) != GP_OK)
			return false;
		number = release;
	} else if (key->type == GP_KEY_CAPACITY && text) {
		if (strcmp(text, "unlimited") != 0)
			return false;
		number = GP_UNLIMITED;
	} else if (!json_is_integer(json) || integer < 0) {
		return false;
	}
	return put_number(key, at, number) == GP_OK;
}

static bool read_text(const json_t *json, const struct gp_key *key, void *at,
		      struct gp_arena *arena)
{
	const char *text = json_string_value(json);

	if (!text && json && !json_is_null(json))
		return false;
	if (key->held == GP_HELD_CHARS)
		return false; /* the array's size is not in the table */
	*(const char **)at =
		text ? gp_arena_text(arena, text, strlen(text)) : NULL;
	return true;
}

static bool read_key(const json_t *json, const struct gp_key *key, void *value,
		     struct gp_arena *arena)
{
	void *at = (char *)value + key->at;

	if ((!json || json_is_null(json)) && !can_be_none(key))
		return false;
	switch (key->held) {
	case GP_HELD_TEXT:
	case GP_HELD_CHARS: return read_text(json, key, at, arena);
	case GP_HELD_I64:
		*(int64_t *)at = json_integer_value(json);
		return json_is_integer(json);
	case GP_HELD_REAL:
		*(double *)at = json_number_value(json);
		return !json || json_is_null(json) || json_is_number(json);
	case GP_HELD_BOOL:
		*(bool *)at = json_is_true(json);
		return !json || json_is_boolean(json);
	default: return read_number(json, key, at);
	}
}

const char *gp_object_read(const json_t *json, const char *object, void *value,
			   struct gp_arena *arena)
{
	const struct gp_key *key = gp_key_object(object);

	while ((++key)->type != GP_KEY_NEW)
		if (is_in_struct(key) &&
		    !read_key(json_object_get(json, name_of(key)), key, value,
			      arena))
			return name_of(key);
	return NULL;
}
