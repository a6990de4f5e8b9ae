/* SPDX-License-Identifier: MIT */
/*
 * The tools of gpupool mcp: questions about a trace, each a shorter form of a
 * command line, and answers in the protocol's form.
 */
#ifndef COMMANDS_MCP_TOOLS_H
#define COMMANDS_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Traces that tools were asked about are kept between calls, the latest few. */
struct gp_mcp_shelf;

/* Only traces in these folders are read; none: any.  Borrows the folders. */
struct gp_mcp_shelf *gp_mcp_shelf_create(const char *const *folders,
					 size_t count);
void gp_mcp_shelf_destroy(struct gp_mcp_shelf *shelf);

/* The result of tools/list: an array, which the caller owns. */
json_t *gp_mcp_tools(void);
bool gp_mcp_has_tool(const char *name);

/* The result of tools/call, which the caller owns. What cannot be answered is a
 * result too, with gpupool's error message. arguments NULL: none. A shelf may
 * only be used by one call at a time. */
json_t *gp_mcp_call(struct gp_mcp_shelf *shelf, const char *name,
		    const json_t *arguments);

#endif
