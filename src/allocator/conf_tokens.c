/* SPDX-License-Identifier: MIT */
/* The words of a PYTORCH_CUDA_ALLOC_CONF. */
#include "allocator/conf_tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"
#include "base/mem.h"

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
	bool is_open = false; /* the last token still grows */
	char *to = gp_mem_alloc(2 * length + 1, 1); /* each may end in a 0 */

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
			*to++ = 0; /* ends the one before */
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
				 "last one lacks something");
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
				 "last one lacks its value");
	return gp_diag_set(conf->diag, GP_INPUT, "%s", missing);
}

enum gp_status gp_conf_unclosed(struct gp_conf *conf)
{
	gp_diag_hint(conf->diag, "the list lacks its ]");
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
