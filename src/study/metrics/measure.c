/* SPDX-License-Identifier: MIT */
/* The table of measures, the numbers of a run, with one row and one function
 * each. */
#include "gpupool/metrics.h"

#include <string.h>

#include "gpupool/device.h"

/* ---- the values ---- */

static double part_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t positive(int64_t count)
{
	return count > 0 ? (uint64_t)count : 0;
}

static uint64_t measure_peak_reserved(const struct gp_subject *s)
{
	return s->result->at_peak.reserved;
}

static uint64_t measure_peak_allocated(const struct gp_subject *s)
{
	return gp_replay_peak_allocated(s->result);
}

static bool measure_knows_reserved(const struct gp_subject *s)
{
	return s->result->recorded.has_reserved;
}

static uint64_t measure_recorded_reserved(const struct gp_subject *s)
{
	return s->result->recorded.reserved;
}

static bool measure_knows_allocated(const struct gp_subject *s)
{
	return s->result->recorded.has_allocated;
}

static uint64_t measure_recorded_allocated(const struct gp_subject *s)
{
	return s->result->recorded.allocated;
}

static bool measure_knows_start(const struct gp_subject *s)
{
	return s->result->recorded.has_first;
}

static uint64_t measure_recorded_start(const struct gp_subject *s)
{
	return s->result->recorded.first_reserved;
}

static uint64_t measure_allocs(const struct gp_subject *s)
{
	return s->result->allocs;
}

static uint64_t measure_dropped(const struct gp_subject *s)
{
	return s->result->dropped;
}

static uint64_t measure_device_allocs(const struct gp_subject *s)
{
	return positive(s->result->counts.device_allocs);
}

static double measure_hit_rate(const struct gp_subject *s)
{
	return part_of(minus(minus(measure_allocs(s), measure_dropped(s)),
			     measure_device_allocs(s)),
		       measure_allocs(s));
}

static uint64_t measure_reserved(const struct gp_subject *s)
{
	return s->moment->reserved;
}

static uint64_t measure_allocated(const struct gp_subject *s)
{
	return s->moment->allocated;
}

static uint64_t measure_active(const struct gp_subject *s)
{
	return s->moment->active;
}

static uint64_t measure_requested(const struct gp_subject *s)
{
	return s->moment->requested;
}

static uint64_t measure_inactive_split(const struct gp_subject *s)
{
	return s->moment->inactive_split;
}

static uint64_t measure_gap(const struct gp_subject *s)
{
	return minus(measure_reserved(s), measure_allocated(s));
}

static double measure_fragmentation(const struct gp_subject *s)
{
	return part_of(measure_gap(s), measure_reserved(s));
}

static double measure_inactive_split_ratio(const struct gp_subject *s)
{
	return part_of(measure_inactive_split(s), measure_reserved(s));
}

static double measure_utilization(const struct gp_subject *s)
{
	return part_of(measure_allocated(s), measure_reserved(s));
}

/* PyTorch counts requested bytes, like active ones, until the memory is free
 * again (free_block), but allocated bytes only until the program frees the
 * block. */
static double measure_internal(const struct gp_subject *s)
{
	return part_of(minus(measure_active(s), measure_requested(s)),
		       measure_active(s));
}

static uint64_t measure_largest_free(const struct gp_subject *s)
{
	return s->moment->largest_free;
}

static double measure_external(const struct gp_subject *s)
{
	uint64_t free_bytes = minus(measure_reserved(s), measure_active(s));

	return part_of(minus(free_bytes, measure_largest_free(s)), free_bytes);
}

static uint64_t measure_retries(const struct gp_subject *s)
{
	return positive(s->result->counts.retries);
}

static uint64_t measure_ooms(const struct gp_subject *s)
{
	return s->result->ooms.count;
}

/* A row for a kind of call: the device's own counter. */
#define CALLS(member)                                                          \
	static uint64_t measure_##member##_calls(const struct gp_subject *s)   \
	{                                                                      \
		return s->result->calls.member;                                \
	}
CALLS(malloc)
CALLS(malloc_failed)
CALLS(free)
CALLS(reserve)
CALLS(unreserve)
CALLS(map)
CALLS(map_failed)
CALLS(unmap)

static uint64_t measure_device_frees(const struct gp_subject *s)
{
	return positive(s->result->counts.device_frees);
}

static uint64_t measure_device_time(const struct gp_subject *s)
{
	return gp_price_whole_us(gp_prices_built_in(), &s->result->calls,
				 s->result->counts.synchronizes);
}

static uint64_t measure_first_oom_alloc(const struct gp_subject *s)
{
	const struct gp_oom *oom = &s->result->first_oom;

	return oom->is_there ? oom->alloc : 0;
}

static uint64_t measure_first_oom_event(const struct gp_subject *s)
{
	const struct gp_oom *oom = &s->result->first_oom;

	return oom->is_there ? oom->event : 0;
}

/* ---- the table ---- */

const struct gp_measure gp_measures[GP_MEASURES] = {
	[GP_PEAK_RESERVED] = {
		.key = "peak_reserved_bytes",
		.label = "Peak reserved",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most memory held from the device at once",
		.formula = "the maximum of reserved_bytes",
		.reading = "What the process needs of the device, besides "
			"CUDA's own context. On a smaller device it runs out "
			"of memory, or has to empty the cache first.",
		.count = measure_peak_reserved,
	},
	[GP_PEAK_ALLOCATED] = {
		.key = "peak_allocated_bytes",
		.label = "Peak allocated",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most memory in use by tensors at once",
		.formula = "the maximum of allocated_bytes",
		.reading = "No setting of the allocator gets below this: only "
			"the program can, by keeping less.",
		.count = measure_peak_allocated,
	},
	[GP_RECORDED_RESERVED] = {
		.key = "recorded_reserved_bytes",
		.label = "  recorded",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most reserved at once, as the recording itself "
			"says",
		.formula = "the maximum of Total Reserved in a profile, or "
			"reserved_bytes.all.peak of a program that never "
			"resets it",
		.reading = "If it is above peak_reserved_bytes, memory was "
			"held that no request in the recording accounts for, "
			"and the peak was at least this. Absent if the "
			"recording does not say.",
		.is_known = measure_knows_reserved,
		.count = measure_recorded_reserved,
	},
	[GP_RECORDED_ALLOCATED] = {
		.key = "recorded_allocated_bytes",
		.label = "  recorded",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most allocated at once, as the recording itself "
			"says",
		.formula = "the maximum of Total Allocated in a profile, or "
			"allocated_bytes.all.peak of a program that never "
			"resets it",
		.reading = "If it differs from peak_allocated_bytes, blocks "
			"are missing from the recording, or were guessed. "
			"Absent if the recording does not say.",
		.is_known = measure_knows_allocated,
		.count = measure_recorded_allocated,
	},
	[GP_RECORDED_START] = {
		.key = "recorded_reserved_at_start_bytes",
		.label = "Recorded at the start",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "reserved when the recording began, as it says "
			"itself",
		.formula = "Total Reserved of a profile's first event",
		.reading = "The part that was not in use then was cached, in "
			"memory that the recording never shows. Absent if the "
			"recording does not say.",
		.is_known = measure_knows_start,
		.count = measure_recorded_start,
	},
	[GP_ALLOCS] = {
		.key = "allocs",
		.label = "Requests",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_RUN,
		.meaning = "requests for memory",
		.formula = "number of requests",
		.reading = "How much work the allocator did.",
		.count = measure_allocs,
	},
	[GP_DROPPED] = {
		.key = "dropped",
		.label = "Requests dropped",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_RUN,
		.meaning = "requests not served; their frees are dropped too",
		.formula = "number of requests that were not served",
		.reading = "If it is not 0, the program would have ended at "
			"the first of them, and everything later describes a "
			"run that would not have happened.",
		.count = measure_dropped,
	},
	[GP_DEVICE_ALLOCS] = {
		.key = "device_allocs",
		.label = "Device allocations",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_RUN,
		.meaning = "requests to the device for memory that were served "
			"(num_device_alloc)",
		.formula = "number of cudaMalloc calls, and of mappings of "
			"expandable segments, that were served",
		.reading = "Each costs time and may wait for the device. "
			"It should stop growing after a few steps of the "
			"program.",
		.count = measure_device_allocs,
	},
	[GP_HIT_RATE] = {
		.key = "hit_rate",
		.label = "Served from cache",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_RUN,
		.meaning = "requests served without asking the device / "
			"requests",
		.formula = "(allocs - dropped - device_allocs) / allocs",
		.reading = "Near 1 is good. A low value means time lost in "
			"cudaMalloc: sizes that keep changing, or a cache that "
			"is emptied again and again.",
		.ratio = measure_hit_rate,
	},
	[GP_RESERVED] = {
		.key = "reserved_bytes",
		.label = "reserved",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "held from the device",
		.formula = "bytes of all segments",
		.reading = "What nvidia-smi shows, without CUDA's own context.",
		.count = measure_reserved,
	},
	[GP_ALLOCATED] = {
		.key = "allocated_bytes",
		.label = "allocated",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "in use by tensors, as rounded",
		.formula = "bytes of blocks that are in use",
		.reading = "What tensors hold, rounded by the allocator.",
		.count = measure_allocated,
	},
	[GP_ACTIVE_BYTES] = {
		.key = "active_bytes",
		.label = "active",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "allocated, or pending free",
		.formula = "bytes of blocks in use, or pending free",
		.reading = "The part above allocated was freed by the "
			"program but is not free yet: another stream "
			"had used it (record_stream).",
		.count = measure_active,
	},
	[GP_REQUESTED] = {
		.key = "requested_bytes",
		.label = "requested",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "active, before rounding",
		.formula = "bytes requested for the blocks that are active",
		.reading = "What the program asked for; the rest of active is "
			"rounding.",
		.count = measure_requested,
	},
	[GP_INACTIVE_SPLIT] = {
		.key = "inactive_split_bytes",
		.label = "inactive_split",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "free pieces of segments that are partly in use",
		.formula = "free bytes in segments that also hold a block "
			"in use",
		.reading = "Not even empty_cache releases them: a block in the "
			"same segment pins them. This is the harmful part of "
			"the gap.",
		.count = measure_inactive_split,
	},
	[GP_GAP] = {
		.key = "gap_bytes",
		.label = "gap",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "reserved - allocated",
		.formula = "reserved_bytes - allocated_bytes",
		.reading = "Held from the device and not in use. If it is "
			"large at the peak, another setting may need less "
			"memory. If it is large only later, it is cached "
			"memory that waits to be reused.",
		.count = measure_gap,
	},
	[GP_FRAGMENTATION] = {
		.key = "fragmentation",
		.label = "fragmentation",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "(reserved - allocated) / reserved",
		.formula = "gap_bytes / reserved_bytes",
		.reading = "The share of reserved memory that is idle. Read it "
			"at the peak of reserved or at an out-of-memory error; "
			"between steps it is high in every program.",
		.ratio = measure_fragmentation,
	},
	[GP_INACTIVE_SPLIT_RATIO] = {
		.key = "inactive_split_ratio",
		.label = "inactive_split ratio",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "inactive_split / reserved",
		.formula = "inactive_split_bytes / reserved_bytes",
		.reading = "The share that cannot even be released. Above a "
			"tenth or so at the peak, max_split_size_mb or "
			"expandable_segments is worth a try.",
		.ratio = measure_inactive_split_ratio,
	},
	[GP_UTILIZATION] = {
		.key = "utilization",
		.label = "utilization",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "allocated / reserved",
		.formula = "allocated_bytes / reserved_bytes",
		.reading = "1 - fragmentation.",
		.ratio = measure_utilization,
	},
	[GP_INTERNAL] = {
		.key = "internal",
		.label = "lost to rounding",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "(active - requested) / active",
		.formula = "(active_bytes - requested_bytes) / active_bytes",
		.reading = "What rounding costs: to 512 bytes, to "
			"roundup_power2_divisions, and blocks that were "
			"not split. Small in most programs.",
		.ratio = measure_internal,
	},
	[GP_LARGEST_FREE] = {
		.key = "largest_free_bytes",
		.label = "largest free block",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "the largest block that is free",
		.formula = "the maximum of the sizes of free blocks",
		.reading = "A larger request needs new memory from the device, "
			"however much is free in total; so may a smaller one "
			"in another pool or stream.",
		.count = measure_largest_free,
	},
	[GP_EXTERNAL] = {
		.key = "external",
		.label = "free memory in pieces",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "1 - largest free block / (reserved - active)",
		.formula = "1 - largest_free_bytes / (reserved_bytes - "
			"active_bytes)",
		.reading = "Near 0, the free memory is one block. Near 1, it "
			"is many small ones that cannot serve a large request.",
		.ratio = measure_external,
	},
	[GP_NUM_RETRIES] = {
		.key = "num_alloc_retries",
		.label = "Alloc retries",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_COUNTER,
		.meaning = "times the cache was emptied because memory ran out",
		.formula = "PyTorch's counter of that name, without resets",
		.reading = "Each one released cached memory and asked the "
			"device again: slow, and the step before an "
			"out-of-memory error.",
		.count = measure_retries,
	},
	[GP_NUM_OOMS] = {
		.key = "num_ooms",
		.label = "OOMs",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_COUNTER,
		.meaning = "requests that ended in an out-of-memory error",
		.formula = "PyTorch's counter of that name, without resets",
		.reading = "The first ends a program that does not catch it.",
		.count = measure_ooms,
	},
	[GP_NUM_DEVICE_FREE] = {
		.key = "num_device_free",
		.label = "Device frees",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_COUNTER,
		.meaning = "times memory was released to the device",
		.formula = "PyTorch's counter of that name, without resets",
		.reading = "If there are many, the cache is emptied again and "
			"again, and device_allocs grows with it.",
		.count = measure_device_frees,
	},
	[GP_CALLS_MALLOC] = {
		.key = "device_calls.malloc",
		.label = "cudaMalloc calls",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "calls of cudaMalloc",
		.formula = "number of calls of cudaMalloc",
		.reading = "Each costs time and may wait for the device.",
		.count = measure_malloc_calls,
	},
	[GP_CALLS_MALLOC_FAILED] = {
		.key = "device_calls.malloc_failed",
		.label = "cudaMalloc refused",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "calls of cudaMalloc that were refused",
		.formula = "number of calls of cudaMalloc that were refused",
		.reading = "A retry or an out-of-memory error follows "
			"each.",
		.count = measure_malloc_failed_calls,
	},
	[GP_CALLS_FREE] = {
		.key = "device_calls.free",
		.label = "cudaFree calls",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "calls of cudaFree",
		.formula = "number of calls of cudaFree",
		.reading = "Each waits until the device is idle.",
		.count = measure_free_calls,
	},
	[GP_CALLS_RESERVE] = {
		.key = "device_calls.reserve",
		.label = "Address ranges reserved",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "calls of cuMemAddressReserve",
		.formula = "number of calls of cuMemAddressReserve",
		.reading = "One for each expandable segment.",
		.count = measure_reserve_calls,
	},
	[GP_CALLS_UNRESERVE] = {
		.key = "device_calls.unreserve",
		.label = "Address ranges freed",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "calls of cuMemAddressFree",
		.formula = "number of calls of cuMemAddressFree",
		.reading = "Expandable segments that were released.",
		.count = measure_unreserve_calls,
	},
	[GP_CALLS_MAP] = {
		.key = "device_calls.map",
		.label = "Pages mapped",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "pages that cuMemMap mapped",
		.formula = "number of pages that cuMemMap mapped",
		.reading = "Expandable segments grow by them.",
		.count = measure_map_calls,
	},
	[GP_CALLS_MAP_FAILED] = {
		.key = "device_calls.map_failed",
		.label = "Pages refused",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "pages that the device had no memory for",
		.formula = "number of pages that the device had no memory for",
		.reading = "A retry or an out-of-memory error follows "
			"each.",
		.count = measure_map_failed_calls,
	},
	[GP_CALLS_UNMAP] = {
		.key = "device_calls.unmap",
		.label = "Pages unmapped",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_CALLS,
		.meaning = "pages that cuMemUnmap unmapped",
		.formula = "number of pages that cuMemUnmap unmapped",
		.reading = "Expandable segments shrink by them, when the "
			"cache is emptied.",
		.count = measure_unmap_calls,
	},
	[GP_DEVICE_TIME] = {
		.key = "device_time_us",
		.label = "Device time",
		.unit = GP_UNIT_MICROSECONDS,
		.scope = GP_SCOPE_SUMMARY,
		.meaning = "estimated time in all calls of the device, by the "
			"prices",
		.formula = "the sum of the prices of all calls",
		.reading = "Not measured: each call has a price "
			"(gpupool-sweep(1)). It is for comparing settings; a "
			"program's other waiting is not in it.",
		.count = measure_device_time,
	},
	[GP_FIRST_OOM_ALLOC] = {
		.key = "first_oom_alloc",
		.label = "First OOM, request",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_SUMMARY,
		.meaning = "ordinal of the request that first failed",
		.formula = "first_oom.alloc of the run, from 1; 0: none failed",
		.reading = "How far the program got.",
		.count = measure_first_oom_alloc,
	},
	[GP_FIRST_OOM_EVENT] = {
		.key = "first_oom_event",
		.label = "First OOM, event",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_SUMMARY,
		.meaning = "event of the request that first failed",
		.formula = "first_oom.event of the run; see first_oom_alloc "
			"for whether one failed",
		.reading = "Where in the trace that was.",
		.count = measure_first_oom_event,
	},
};

struct gp_subject gp_at_peak(const struct gp_replay_result *result)
{
	return (struct gp_subject){ result, &result->at_peak };
}

struct gp_subject gp_at_end(const struct gp_replay_result *result)
{
	return (struct gp_subject){ result, &result->at_end };
}

bool gp_measure_is_known(enum gp_measure_id id,
			 const struct gp_subject *subject)
{
	const struct gp_measure *measure = &gp_measures[id];

	return !measure->is_known || measure->is_known(subject);
}

uint64_t gp_measure_count(enum gp_measure_id id,
			  const struct gp_subject *subject)
{
	return gp_measures[id].count(subject);
}

double gp_measure_ratio(enum gp_measure_id id, const struct gp_subject *subject)
{
	return gp_measures[id].ratio(subject);
}

double gp_measure_value(enum gp_measure_id id, const struct gp_subject *subject)
{
	return gp_measures[id].ratio ? gp_measures[id].ratio(subject)
				     : (double)gp_measures[id].count(subject);
}

const char *gp_measure_name(enum gp_measure_id id)
{
	const char *dot = strrchr(gp_measures[id].key, '.');

	return dot ? dot + 1 : gp_measures[id].key;
}

const char *gp_unit_name(enum gp_measure_unit unit)
{
	static const char *const names[] = {
		[GP_UNIT_BYTES] = "bytes",
		[GP_UNIT_COUNT] = "count",
		[GP_UNIT_MICROSECONDS] = "microseconds",
		[GP_UNIT_RATIO] = "ratio",
	};

	return names[unit];
}
