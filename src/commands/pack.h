/* SPDX-License-Identifier: MIT */
/* A stream that packs what is written to it into another one. */
#ifndef COMMANDS_PACK_H
#define COMMANDS_PACK_H

#include <stdio.h>

enum gp_packing { GP_PACK_NONE, GP_PACK_GZIP, GP_PACK_ZSTD };

/* Closing it writes the rest to under, which stays open; errors are the
 * stream's.  The same bytes in give the same bytes out. */
FILE *gp_pack_open(FILE *under, enum gp_packing packing);

#endif
