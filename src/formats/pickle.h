/* SPDX-License-Identifier: MIT */
/*
 * PyTorch snapshots as Python pickles, protocols 2 to 5, read as a stream.
 *
 * Plain data only: opcodes that import, call or build objects are an error
 * that names them, as nothing is ever executed.  Memory grows with the records
 * and the memo, never with a length that a file claims.
 */
#ifndef FORMATS_PICKLE_H
#define FORMATS_PICKLE_H

#include "gpupool/trace.h"
#include "formats/source.h"

#define GP_PICKLE_FIRST_PROTOCOL 2
#define GP_PICKLE_LAST_PROTOCOL	 5

enum gp_status gp_pickle_read(struct gp_source *source, struct gp_trace **trace,
			      struct gp_diag *diag);

#endif
