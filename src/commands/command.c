/* SPDX-License-Identifier: MIT */
/* The list of commands, and the options that several of them take. */
#include "commands/command.h"

#include <string.h>

#include "commands/nearest.h"

/* ---- options that several commands take ---- */

const struct gp_option gp_common_options[] = {
	{ "alloc-conf", 0, GP_OPTION_CONF, GP_AT(alloc_conf), "STRING",
	  "Settings in the syntax of PYTORCH_CUDA_ALLOC_CONF, in place of the "
	  "recorded ones; \"\" is PyTorch's defaults." },
	{ "rank-by", 0, GP_OPTION_WORD, GP_AT(rank_by),
	  "reserved|gap|retries|time",
	  "What decides between settings that serve as many requests; default: "
	  "reserved." },
	{ "prices", 0, GP_OPTION_TEXT, GP_AT(prices), "FILE",
	  "How long the calls of the device take, in place of the built-in "
	  "prices." },
	{ "jobs", 'j', GP_OPTION_COUNT, GP_AT(jobs), "N",
	  "Number of threads; default: the number of processors." },
	{ "torch", 0, GP_OPTION_TEXT, GP_AT(torch), "RELEASE",
	  "Decide as this release of PyTorch does: 2.0 to 2.15, or latest." },
	{ "capacity", 0, GP_OPTION_CAPACITY, GP_AT(capacity), "SIZE",
	  "Memory of the device: 80GiB, 512MiB, a number of bytes, a "
	  "device such as h100, or unlimited." },
	{ "engine", 0, GP_OPTION_TEXT, GP_AT(engine), "NAME",
	  "The allocator; default: caching, which makes PyTorch's decisions. "
	  "gpupool help engines lists the others; a file such as ./mine.so is "
	  "an engine of your own." },
	{ "torch-lib", 0, GP_OPTION_TEXT, GP_AT(torch_lib), "PATH",
	  "PyTorch's own allocator: a wheel, a folder with an unpacked wheel, "
	  "a site-packages folder, or the output of make torch-engine. "
	  "Default: the one next to the program, or in the cache." },
	{ "check-memory", 0, GP_OPTION_FLAG, GP_AT(check_memory), NULL,
	  "With --device cuda: write into each block when it is allocated, and "
	  "read it before it is freed. Exit 1 if anything else wrote there." },
	{ "cudart", 0, GP_OPTION_TEXT, GP_AT(cudart), "PATH",
	  "The CUDA runtime, such as libcudart.so.12, in place of the one that "
	  "GPUPOOL_CUDART names, the system's loader finds or python3's "
	  "PyTorch includes." },
	{ "on-oom", 0, GP_OPTION_WORD, GP_AT(on_oom), "go-on|stop",
	  "After a request that is not served: continue with the next one, or "
	  "stop." },
	{ "compare", 0, GP_OPTION_FLAG, GP_AT(compare), NULL,
	  "Also replay as recorded, and show both side by side." },
	{ "without", 0, GP_OPTION_LIST, GP_AT(without), "NAME",
	  "A setting that cannot be used, such as expandable_segments; may "
	  "be given more than once." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format), "text|json|markdown",
	  "For people, for programs, or for an issue or a pull request (short: "
	  "md)." },
	{ "anonymous", 0, GP_OPTION_FLAG, GP_AT(anonymous), NULL,
	  "Replace the names of source lines and marks by numbers, so that the "
	  "trace can be shown to others." },
	{ "output", 'o', GP_OPTION_TEXT, GP_AT(output), "FILE",
	  "Write the report to this file, complete or not at all." },
	{ "ascii", 0, GP_OPTION_FLAG, GP_AT(ascii), NULL,
	  "Use ASCII characters only." },
	{ "color", 0, GP_OPTION_WORD, GP_AT(color), "auto|always|never",
	  "Colour the text; auto: only on a terminal." },
	{ "max-input", 0, GP_OPTION_BYTES, GP_AT(max_input), "SIZE",
	  "The largest size that a compressed trace may decompress to; "
	  "default: 4GiB." },
	{ "quiet", 'q', GP_OPTION_FLAG, GP_AT(quiet), NULL,
	  "No progress on standard error." },
	{ "help", 'h', GP_OPTION_FLAG, GP_AT(help), NULL, "Show this help." },
	{ 0 },
};

/* ---- the commands ---- */

#define ROW(name) &gp_##name##_command,
const struct gp_command *const gp_commands[] = { GP_COMMANDS(ROW) NULL };

/* The row of that name; NULL: there is none. */
static const struct gp_option *find(const struct gp_option *rows,
				    const char *name, size_t length)
{
	for (; rows && rows->name; rows++)
		if (strlen(rows->name) == length &&
		    !strncmp(rows->name, name, length))
			return rows;
	return NULL;
}

const struct gp_option *gp_command_option(const struct gp_command *command,
					  size_t index)
{
	const char *name = command->options ? command->options : "";
	const struct gp_option *row;
	size_t length = strcspn(name, " ");

	for (; index && *name; index--) {
		name += length + strspn(name + length, " ");
		length = strcspn(name, " ");
	}
	if (!*name)
		return index ? NULL : find(gp_common_options, "help", 4);
	row = find(command->own, name, length);
	return row ? row : find(gp_common_options, name, length);
}

#define COMMANDS (sizeof(gp_commands) / sizeof(*gp_commands) - 1)

const struct gp_command *gp_command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(gp_commands[i]->name, name))
			return gp_commands[i];
	return NULL;
}

enum gp_status gp_command_unknown(const char *name, struct gp_diag *diag)
{
	const char *names[COMMANDS], *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = gp_commands[i]->name;
	near = gp_nearest(name, names, COMMANDS);
	if (near)
		gp_diag_hint(diag, "did you mean %s?", near);
	else
		gp_diag_hint(diag, "see: gpupool help");
	return gp_diag_set(diag, GP_USAGE, "there is no command %s", name);
}
