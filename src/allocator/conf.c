/* SPDX-License-Identifier: MIT */
/* A PYTORCH_CUDA_ALLOC_CONF string: as people paste it, as a list, and as the
 * tokens that PyTorch reads. */
#include "allocator/conf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"
#include "base/mem.h"
#include "gpupool/knob.h"

/* ---- pasted from a shell or a script ---- */

#define BLANKS " \t\r\n"

/* Skips the words of a shell that precede the settings; without them, returns
 * text itself. */
static const char *skip_name(const char *text)
{
	static const char *const names[] = {
		"PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_ALLOC_CONF=",
		"PYTORCH_HIP_ALLOC_CONF=", "PYTORCH_NPU_ALLOC_CONF="
	};
	const char *at = text + strspn(text, BLANKS);
	size_t exports = strlen("export");

	if (!strncmp(at, "export", exports) && strspn(at + exports, BLANKS))
		at += exports + strspn(at + exports, BLANKS);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(at, names[i], strlen(names[i])))
			return at + strlen(names[i]);
	return text;
}

bool gp_conf_has_name(const char *text)
{
	return skip_name(text) != text;
}

const char *gp_conf_pasted(const char *text, size_t *length)
{
	const char *at = skip_name(text), *end;
	bool is_named = at != text;

	at += strspn(at, BLANKS);
	end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
	if (end) {
		*length = (size_t)(end - at) - 1;
		return at + 1;
	}
	/* To a shell, a blank starts the next word. */
	*length = is_named ? strcspn(at, BLANKS ";") : strlen(at);
	while (*length && strchr(BLANKS ";", at[*length - 1]))
		--*length;
	return at;
}

/* ---- as a list of "name:value" ---- */

const char *gp_conf_next(const char **at, size_t *length)
{
	const char *start = *at, *end;
	int depth = 0;

	if (!*start)
		return NULL;
	for (end = start; *end && (*end != ',' || depth > 0); end++)
		depth += (*end == '[') - (*end == ']');
	*at = *end ? end + 1 : end;
	while (start < end && isspace((unsigned char)*start))
		start++;
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	*length = (size_t)(end - start);
	return start;
}

static bool is_named(const char *item, size_t length, const char *name)
{
	const char *colon = memchr(item, ':', length);
	size_t name_length = colon ? (size_t)(colon - item) : length;

	while (name_length && isspace((unsigned char)item[name_length - 1]))
		name_length--;
	return strlen(name) == name_length && !memcmp(item, name, name_length);
}

char *gp_conf_with(const char *conf, const char *name, const char *value)
{
	size_t room =
		strlen(conf) + strlen(name) + 4 + (value ? strlen(value) : 0);
	char *made = gp_mem_alloc(room, 1);
	const char *item;
	size_t length, used = 0;

	while ((item = gp_conf_next(&conf, &length)))
		if (length && !is_named(item, length, name))
			used += (size_t)snprintf(made + used, room - used,
						 "%s%.*s", used ? "," : "",
						 (int)length, item);
	if (value)
		snprintf(made + used, room - used, "%s%s:%s", used ? "," : "",
			 name, value);
	return made;
}

size_t gp_conf_length(const char *conf)
{
	size_t length, count = 0;

	while (gp_conf_next(&conf, &length))
		count += length > 0;
	return count;
}

bool gp_conf_names(const char *conf, const char *name)
{
	const char *item;
	size_t length;

	while ((item = gp_conf_next(&conf, &length)))
		if (is_named(item, length, name))
			return true;
	return false;
}

/* ---- as tokens ---- */

static bool is_separator(char c)
{
	return c == ',' || c == ':' || c == '[' || c == ']';
}

static bool is_dropped(const struct gp_conf *conf, char c)
{
	return c == ' ' || (!conf->is_strict && isspace((unsigned char)c));
}

void gp_conf_open(struct gp_conf *conf, const char *text,
		  struct gp_settings *settings, struct gp_diag *diag)
{
	size_t length = strlen(text);
	bool is_open = false; /* the last token is incomplete */
	/* Each token may need a 0. */
	char *to = gp_mem_alloc(2 * length + 1, 1);

	*conf = (struct gp_conf){
		.tokens = gp_mem_alloc(length + 1, sizeof(*conf->tokens)),
		.text = to,
		.is_strict = !gp_release_has(settings->release,
					     GP_CHANGE_LENIENT_PARSER),
		.settings = settings,
		.diag = diag,
	};
	for (; *text; text++) {
		if (is_dropped(conf, *text))
			continue;
		if (is_separator(*text) || !is_open) {
			*to++ = 0; /* ends the previous one */
			conf->tokens[conf->count++] = to;
		}
		*to++ = *text;
		is_open = !is_separator(*text);
	}
	*to = 0;
}

void gp_conf_close(struct gp_conf *conf)
{
	free(conf->tokens);
	free(conf->text);
}

bool gp_conf_has(const struct gp_conf *conf, size_t at)
{
	return at < conf->count;
}

bool gp_conf_is(const struct gp_conf *conf, size_t at, const char *token)
{
	return gp_conf_has(conf, at) && !strcmp(conf->tokens[at], token);
}

static enum gp_status beyond(struct gp_conf *conf)
{
	gp_diag_hint(conf->diag, "settings are key:value,key:value, and the "
				 "last one is incomplete");
	return gp_diag_set(conf->diag, GP_INPUT,
			   "Index out of bounds in ConfigTokenizer");
}

enum gp_status gp_conf_token(struct gp_conf *conf, size_t at,
			     const char **token)
{
	if (!gp_conf_has(conf, at))
		return beyond(conf);
	*token = conf->tokens[at];
	return GP_OK;
}

enum gp_status gp_conf_pass(struct gp_conf *conf, size_t *at,
			    const char *separator)
{
	++*at;
	if (!conf->is_strict)
		return gp_conf_has(conf, *at) ? GP_OK : beyond(conf);
	if (gp_conf_is(conf, *at, separator))
		return GP_OK;
	gp_diag_hint(conf->diag, "settings are key:value,key:value");
	return gp_diag_set(conf->diag, GP_INPUT,
			   "Error parsing CachingAllocator settings, expected "
			   "%s",
			   separator);
}

enum gp_status gp_conf_value(struct gp_conf *conf, size_t *at,
			     const char *missing)
{
	enum gp_status status = gp_conf_pass(conf, at, ":");

	if (status != GP_OK || gp_conf_has(conf, ++*at))
		return status;
	if (!conf->is_strict)
		return beyond(conf);
	gp_diag_hint(conf->diag, "settings are key:value,key:value, and the "
				 "last one has no value");
	return gp_diag_set(conf->diag, GP_INPUT, "%s", missing);
}

enum gp_status gp_conf_unclosed(struct gp_conf *conf)
{
	gp_diag_hint(conf->diag, "the list has no closing ]");
	return gp_diag_set(conf->diag, GP_INPUT,
			   "Expected closing bracket ']' in ConfigTokenizer "
			   "but reached end of config");
}

enum gp_status gp_conf_skip(struct gp_conf *conf, size_t *at)
{
	enum gp_status status = gp_conf_value(conf, at, "");

	if (status != GP_OK || !gp_conf_is(conf, *at, "["))
		return status;
	do
		++*at;
	while (gp_conf_has(conf, *at) && !gp_conf_is(conf, *at, "]"));
	return gp_conf_has(conf, *at) ? GP_OK : gp_conf_unclosed(conf);
}
