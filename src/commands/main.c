/* SPDX-License-Identifier: MIT */
/* gpupool: the command line. */
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/plugin/plugin_process.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/output.h"

/* If a standard stream is closed, the next file that is opened would take its
 * number, and messages would be written into it. The file opened here fails
 * like a closed stream, because it is open for the other direction only. */
static void hold_standard_streams(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", modes[fd]) != fd)
			return;
}

int main(int argc, char **argv)
{
	struct gp_diag diag = { 0 };

	if (argc == 2 && !strcmp(argv[0], PLUGIN_PROCESS))
		return plugin_process(argv[1]);
	hold_standard_streams();
	gp_mem_use_huge_pages();
	gp_outlet_guard();
	json_set_alloc_funcs(gp_mem_take, free);
	return (int)gp_command_line(argc, argv, &diag);
}
