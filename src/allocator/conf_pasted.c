/* SPDX-License-Identifier: MIT */
/* Settings as they are copied from a shell or a script. */
#include "gpupool/knob.h"

#include <string.h>

#define BLANKS " \t\r\n"

/* Behind the words that a shell has before settings, or the same place. */
static const char *behind_name(const char *text)
{
	static const char *const names[] = { "PYTORCH_CUDA_ALLOC_CONF=",
					     "PYTORCH_ALLOC_CONF=",
					     "PYTORCH_HIP_ALLOC_CONF=" };
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
	return behind_name(text) != text;
}

const char *gp_conf_pasted(const char *text, size_t *length)
{
	const char *at = behind_name(text), *end;
	bool is_named = at != text;

	at += strspn(at, BLANKS);
	end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
	if (end) {
		*length = (size_t)(end - at) - 1;
		return at + 1;
	}
	/* To a shell, what follows a blank is another word. */
	*length = is_named ? strcspn(at, BLANKS ";") : strlen(at);
	while (*length && strchr(BLANKS ";", at[*length - 1]))
		--*length;
	return at;
}
