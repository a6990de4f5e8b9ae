/* SPDX-License-Identifier: MIT */
/*
 * PyTorch snapshots as json.dump writes them: records are delivered one by one
 * (snapshot_record.h).  Failures are the scan's.
 */
#ifndef FORMATS_JSON_SNAPSHOT_H
#define FORMATS_JSON_SNAPSHOT_H

#include "trace/build.h"
#include "formats/json_scan.h"

struct gp_json_snapshot;

struct gp_json_snapshot *gp_json_snapshot_create(struct gp_json_scan *scan,
						 struct gp_diag *diag);
void gp_json_snapshot_destroy(struct gp_json_snapshot *snapshot);

/* True for a key that only a snapshot has. */
bool gp_json_snapshot_knows(const char *key);
/* Reads, or skips, the value of a key of the outer object. */
void gp_json_snapshot_key(struct gp_json_snapshot *snapshot, const char *key);
/* A list without an outer object: of device traces, entries or segments. */
void gp_json_snapshot_list(struct gp_json_snapshot *snapshot);
enum gp_status gp_json_snapshot_finish(struct gp_json_snapshot *snapshot,
				       struct gp_trace **trace);

#endif
