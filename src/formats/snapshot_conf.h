/* SPDX-License-Identifier: MIT */
/*
 * The PYTORCH_CUDA_ALLOC_CONF that gives the values in a snapshot's
 * allocator_settings, for snapshots that hold values but no such string.
 */
#ifndef FORMATS_SNAPSHOT_CONF_H
#define FORMATS_SNAPSHOT_CONF_H

#include "formats/snapshot_record.h"

/* "" when all values are the defaults.  The caller frees it. */
char *gp_snapshot_conf(const struct gp_snapshot_settings *settings);

#endif
