/* SPDX-License-Identifier: MIT */
/*
 * Traces in JSON, recognised by content: gpupool-trace as one document or as
 * JSON Lines, a PyTorch snapshot as json.dump writes it, and a bare list of
 * device traces.
 */
#ifndef FORMATS_JSON_H
#define FORMATS_JSON_H

#include "gpupool/status.h"
#include "gpupool/trace.h"
#include "formats/source.h"

enum gp_status gp_json_read(struct gp_source *source, struct gp_trace **trace,
			    struct gp_diag *diag);

#endif
