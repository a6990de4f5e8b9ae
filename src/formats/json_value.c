/* SPDX-License-Identifier: MIT */
/* What parsed JSON values mean. */
#include "formats/json_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json_scan.h"

bool gp_json_number(const json_t *value, uint64_t *number)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	if (!json_is_string(value) ||
	    json_string_value(value)[0] != GP_JSON_WIDE)
		return false;
	*number = strtoull(json_string_value(value) + 1, NULL, 10);
	return true;
}

bool gp_json_pool(const json_t *value, struct gp_pool_id *pool)
{
	return json_is_array(value) && json_array_size(value) == 2 &&
	       gp_json_number(json_array_get(value, 0), &pool->first) &&
	       gp_json_number(json_array_get(value, 1), &pool->second);
}

const char *gp_json_show(const json_t *value, char text[GP_JSON_SHOWN])
{
	uint64_t number;
	char *dump;

	if (gp_json_number(value, &number)) {
		snprintf(text, GP_JSON_SHOWN, "%llu",
			 (unsigned long long)number);
		return text;
	}
	if (json_is_object(value) || json_is_array(value))
		return json_is_object(value) ? "an object" : "a list";
	dump = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	if (dump && strlen(dump) < GP_JSON_SHOWN)
		snprintf(text, GP_JSON_SHOWN, "%s", dump);
	else
		snprintf(text, GP_JSON_SHOWN, "a long text");
	free(dump);
	return text;
}
