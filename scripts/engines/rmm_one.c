/* SPDX-License-Identifier: MIT */
/* A library for one of rmm.cc's tables: RESOURCE. */
#include "gpupool/engine.h"

extern const struct gp_engine_table RESOURCE;

GP_ENGINE(RESOURCE)
