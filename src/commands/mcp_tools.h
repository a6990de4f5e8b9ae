/* SPDX-License-Identifier: MIT */
/*
 * The tools of gpupool mcp: questions about a trace, each a command line with
 * fewer words, and its answer as the protocol has it.
 */
#ifndef COMMANDS_MCP_TOOLS_H
#define COMMANDS_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What tools are asked about stays read between calls, the latest few. */
struct gp_mcp_shelf;

/* Only traces in these folders are read; none: any.  Borrows the folders. */
struct gp_mcp_shelf *gp_mcp_shelf_create(const char *const *folders,
					 size_t count);
void gp_mcp_shelf_destroy(struct gp_mcp_shelf *shelf);

/* tools/list's: an array, which the caller owns. */
json_t *gp_mcp_tools(void);
bool gp_mcp_has_tool(const char *name);

/* tools/call's result, which the caller owns: what cannot be answered is a
 * result too, with gpupool's sentence.  arguments NULL: none.  One call at a
 * time may use a shelf. */
json_t *gp_mcp_call(struct gp_mcp_shelf *shelf, const char *name,
		    const json_t *arguments);

#endif
