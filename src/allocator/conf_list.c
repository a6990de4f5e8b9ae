/* SPDX-License-Identifier: MIT */
/* Confs as lists of "name:value". */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/knob.h"

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
