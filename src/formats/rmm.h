/* SPDX-License-Identifier: MIT */
/*
 * RMM's log: what rmm::mr::logging_resource_adaptor writes, one request a line
 * behind the header "Thread,Time,Action,Pointer,Size,Stream".
 */
#ifndef FORMATS_RMM_H
#define FORMATS_RMM_H

#include "gpupool/status.h"
#include "gpupool/trace.h"
#include "formats/source.h"

#define GP_RMM_HEADER "Thread,Time,Action,Pointer,Size,Stream"

enum gp_status gp_rmm_read(struct gp_source *source, struct gp_trace **trace,
			   struct gp_diag *diag);

#endif
