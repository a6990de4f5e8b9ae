/* SPDX-License-Identifier: MIT */
/* gpupool: the command line. */
#include <jansson.h>
#include <stdlib.h>

#include "base/mem.h"
#include "commands/dispatch.h"
#include "commands/output.h"

int main(int argc, char **argv)
{
	struct gp_diag diag = { 0 };

	gp_outlet_guard();
	json_set_alloc_funcs(gp_mem_take, free);
	return (int)gp_command_line(argc, argv, &diag);
}
