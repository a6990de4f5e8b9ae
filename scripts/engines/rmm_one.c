/* SPDX-License-Identifier: MIT */
/* A library for one of the tables in rmm.cc: RESOURCE. */
#include "gpupool/engine.h"

extern const struct gp_engine_table RESOURCE;

GP_ENGINE(RESOURCE)
