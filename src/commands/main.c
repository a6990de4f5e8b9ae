/* SPDX-License-Identifier: MIT */
/* gpupool: the command line. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/plugin/plugin_process.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/output.h"

int main(int argc, char **argv)
{
	struct gp_diag diag = { 0 };

	if (argc == 2 && !strcmp(argv[0], PLUGIN_PROCESS))
		return plugin_process(argv[1]);
	gp_mem_use_huge_pages();
	gp_outlet_guard();
	json_set_alloc_funcs(gp_mem_take, free);
	return (int)gp_command_line(argc, argv, &diag);
}
