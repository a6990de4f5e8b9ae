/* SPDX-License-Identifier: MIT */
/* The functions of the table of measures, by the ids of its rows. */
#ifndef METRICS_MEASURE_VALUE_H
#define METRICS_MEASURE_VALUE_H

#include "gpupool/metrics.h"

uint64_t measure_peak_reserved(const struct gp_subject *s);
uint64_t measure_peak_allocated(const struct gp_subject *s);
bool measure_knows_reserved(const struct gp_subject *s);
uint64_t measure_recorded_reserved(const struct gp_subject *s);
bool measure_knows_allocated(const struct gp_subject *s);
uint64_t measure_recorded_allocated(const struct gp_subject *s);
bool measure_knows_start(const struct gp_subject *s);
uint64_t measure_recorded_start(const struct gp_subject *s);
uint64_t measure_allocs(const struct gp_subject *s);
uint64_t measure_dropped(const struct gp_subject *s);
uint64_t measure_device_allocs(const struct gp_subject *s);
double measure_hit_rate(const struct gp_subject *s);
uint64_t measure_reserved(const struct gp_subject *s);
uint64_t measure_allocated(const struct gp_subject *s);
uint64_t measure_active(const struct gp_subject *s);
uint64_t measure_requested(const struct gp_subject *s);
uint64_t measure_inactive_split(const struct gp_subject *s);
uint64_t measure_gap(const struct gp_subject *s);
double measure_fragmentation(const struct gp_subject *s);
double measure_inactive_split_ratio(const struct gp_subject *s);
double measure_utilization(const struct gp_subject *s);
double measure_internal(const struct gp_subject *s);
uint64_t measure_largest_free(const struct gp_subject *s);
double measure_external(const struct gp_subject *s);
uint64_t measure_retries(const struct gp_subject *s);
uint64_t measure_ooms(const struct gp_subject *s);
uint64_t measure_device_frees(const struct gp_subject *s);
uint64_t measure_device_time(const struct gp_subject *s);
uint64_t measure_first_oom_alloc(const struct gp_subject *s);
uint64_t measure_first_oom_event(const struct gp_subject *s);
uint64_t measure_malloc_calls(const struct gp_subject *s);
uint64_t measure_malloc_failed_calls(const struct gp_subject *s);
uint64_t measure_free_calls(const struct gp_subject *s);
uint64_t measure_reserve_calls(const struct gp_subject *s);
uint64_t measure_unreserve_calls(const struct gp_subject *s);
uint64_t measure_map_calls(const struct gp_subject *s);
uint64_t measure_map_failed_calls(const struct gp_subject *s);
uint64_t measure_unmap_calls(const struct gp_subject *s);

#endif
