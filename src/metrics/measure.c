/* SPDX-License-Identifier: MIT */
/* The table of measures: the numbers of a run, one row each. */
#include "gpupool/metrics.h"

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

static uint64_t peak_reserved(const struct gp_subject *s)
{
	return s->result->at_peak.reserved;
}

static uint64_t peak_allocated(const struct gp_subject *s)
{
	return gp_replay_peak_allocated(s->result);
}

static bool knows_reserved(const struct gp_subject *s)
{
	return s->result->recorded.has_reserved;
}

static uint64_t recorded_reserved(const struct gp_subject *s)
{
	return s->result->recorded.reserved;
}

static bool knows_allocated(const struct gp_subject *s)
{
	return s->result->recorded.has_allocated;
}

static uint64_t recorded_allocated(const struct gp_subject *s)
{
	return s->result->recorded.allocated;
}

static bool knows_start(const struct gp_subject *s)
{
	return s->result->recorded.has_first;
}

static uint64_t recorded_start(const struct gp_subject *s)
{
	return s->result->recorded.first_reserved;
}

static uint64_t allocs(const struct gp_subject *s)
{
	return s->result->allocs;
}

static uint64_t dropped(const struct gp_subject *s)
{
	return s->result->dropped;
}

static uint64_t device_allocs(const struct gp_subject *s)
{
	return positive(s->result->stats.num_device_alloc);
}

static double hit_rate(const struct gp_subject *s)
{
	return part_of(minus(minus(allocs(s), dropped(s)), device_allocs(s)),
		       allocs(s));
}

static uint64_t reserved(const struct gp_subject *s)
{
	return s->moment->reserved;
}

static uint64_t allocated(const struct gp_subject *s)
{
	return s->moment->allocated;
}

static uint64_t active(const struct gp_subject *s)
{
	return s->moment->active;
}

static uint64_t requested(const struct gp_subject *s)
{
	return s->moment->requested;
}

static uint64_t inactive_split(const struct gp_subject *s)
{
	return s->moment->inactive_split;
}

static uint64_t gap(const struct gp_subject *s)
{
	return minus(reserved(s), allocated(s));
}

static double fragmentation(const struct gp_subject *s)
{
	return part_of(gap(s), reserved(s));
}

static double inactive_split_ratio(const struct gp_subject *s)
{
	return part_of(inactive_split(s), reserved(s));
}

static double utilization(const struct gp_subject *s)
{
	return part_of(allocated(s), reserved(s));
}

/* Requests are counted until their memory is free again, allocations until
 * the program gives them up: with frees under way the first can be larger. */
static double internal(const struct gp_subject *s)
{
	return part_of(minus(allocated(s), requested(s)), allocated(s));
}

static uint64_t largest_free(const struct gp_subject *s)
{
	return s->moment->largest_free;
}

static double external(const struct gp_subject *s)
{
	uint64_t free_bytes = minus(reserved(s), active(s));

	return part_of(minus(free_bytes, largest_free(s)), free_bytes);
}

static uint64_t retries(const struct gp_subject *s)
{
	return positive(s->result->stats.num_alloc_retries);
}

static uint64_t ooms(const struct gp_subject *s)
{
	return positive(s->result->stats.num_ooms);
}

const struct gp_measure gp_measures[GP_MEASURES] = {
	[GP_PEAK_RESERVED] = {
		.key = "peak_reserved_bytes",
		.label = "Peak reserved",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most memory held from the device at once",
		.formula = "the most of reserved_bytes",
		.reading = "What the process needs of the device, beside "
			"CUDA's own context. A smaller device runs out "
			"of memory, or has to empty the cache first.",
		.count = peak_reserved,
	},
	[GP_PEAK_ALLOCATED] = {
		.key = "peak_allocated_bytes",
		.label = "Peak allocated",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most memory in use by tensors at once",
		.formula = "the most of allocated_bytes",
		.reading = "No setting of the allocator gets below it: "
			"only the program can, by keeping less.",
		.count = peak_allocated,
	},
	[GP_RECORDED_RESERVED] = {
		.key = "recorded_reserved_bytes",
		.label = "  recorded",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most that the recording itself says was reserved",
		.formula = "the most of Total Reserved in a profile, or "
			"reserved_bytes.all.peak of a program that never "
			"resets it",
		.reading = "More than peak_reserved_bytes: memory was held "
			"that no request in the recording accounts for, and "
			"the peak was at least this. Not there where the "
			"recording does not tell.",
		.is_known = knows_reserved,
		.count = recorded_reserved,
	},
	[GP_RECORDED_ALLOCATED] = {
		.key = "recorded_allocated_bytes",
		.label = "  recorded",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "most that the recording itself says was allocated",
		.formula = "the most of Total Allocated in a profile, or "
			"allocated_bytes.all.peak of a program that never "
			"resets it",
		.reading = "Other than peak_allocated_bytes: blocks are "
			"missing from the recording, or were guessed. Not "
			"there where the recording does not tell.",
		.is_known = knows_allocated,
		.count = recorded_allocated,
	},
	[GP_RECORDED_START] = {
		.key = "recorded_reserved_at_start_bytes",
		.label = "Recorded at the start",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "reserved when the recording began, as it says",
		.formula = "Total Reserved of a profile's first event",
		.reading = "What of it was not in use then was cached, in "
			"memory that the recording never shows. Not there "
			"where the recording does not tell.",
		.is_known = knows_start,
		.count = recorded_start,
	},
	[GP_ALLOCS] = {
		.key = "allocs",
		.label = "Requests",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_RUN,
		.meaning = "requests for memory",
		.formula = "number of requests",
		.reading = "How much work the allocator had.",
		.count = allocs,
	},
	[GP_DROPPED] = {
		.key = "dropped",
		.label = "Requests dropped",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_RUN,
		.meaning = "requests not served; their frees are dropped too",
		.formula = "number of requests that were not served",
		.reading = "Not 0: a program would have ended at the first "
			"of them, and everything later is about a run "
			"that there would not have been.",
		.count = dropped,
	},
	[GP_DEVICE_ALLOCS] = {
		.key = "device_allocs",
		.label = "Device allocations",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_RUN,
		.meaning = "times the device was asked for memory and gave "
			"it (num_device_alloc)",
		.formula = "number of cudaMalloc, and of mappings of "
			"expandable segments, that were served",
		.reading = "Each costs time and may wait for the device. "
			"It should stop growing when the program has "
			"made a few steps.",
		.count = device_allocs,
	},
	[GP_HIT_RATE] = {
		.key = "hit_rate",
		.label = "Served from cache",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_RUN,
		.meaning = "requests served without asking the device / "
			"requests",
		.formula = "(allocs - dropped - device_allocs) / allocs",
		.reading = "Near 1 is well. A low one is time lost in "
			"cudaMalloc: sizes that keep changing, or a "
			"cache that is emptied again and again.",
		.ratio = hit_rate,
	},
	[GP_RESERVED] = {
		.key = "reserved_bytes",
		.label = "reserved",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "held from the device",
		.formula = "bytes of all segments",
		.reading = "What nvidia-smi shows, without CUDA's own context.",
		.count = reserved,
	},
	[GP_ALLOCATED] = {
		.key = "allocated_bytes",
		.label = "allocated",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "in use by tensors, as rounded",
		.formula = "bytes of blocks that are in use",
		.reading = "What tensors hold, as the allocator has "
			"rounded it.",
		.count = allocated,
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
		.count = active,
	},
	[GP_REQUESTED] = {
		.key = "requested_bytes",
		.label = "requested",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "active, as asked for before rounding",
		.formula = "bytes asked for, of the blocks that are active",
		.reading = "What the program wanted; the rest of active is "
			"rounding.",
		.count = requested,
	},
	[GP_INACTIVE_SPLIT] = {
		.key = "inactive_split_bytes",
		.label = "inactive_split",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "free pieces of segments that are partly in use",
		.formula = "free bytes in segments that also hold a block "
			"in use",
		.reading = "Not even empty_cache gives them back: a block "
			"in the same segment pins them. This is the "
			"part of the gap that hurts.",
		.count = inactive_split,
	},
	[GP_GAP] = {
		.key = "gap_bytes",
		.label = "gap",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "reserved - allocated",
		.formula = "reserved_bytes - allocated_bytes",
		.reading = "Held from the device and not in use. Large at "
			"the peak: another setting may do with less "
			"memory. Large only later: it is a cache that "
			"waits to be used.",
		.count = gap,
	},
	[GP_FRAGMENTATION] = {
		.key = "fragmentation",
		.label = "fragmentation",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "(reserved - allocated) / reserved",
		.formula = "gap_bytes / reserved_bytes",
		.reading = "The share of the memory held that is idle. "
			"Read it at the peak of reserved or at an "
			"out-of-memory error; between steps it is high "
			"in every program.",
		.ratio = fragmentation,
	},
	[GP_INACTIVE_SPLIT_RATIO] = {
		.key = "inactive_split_ratio",
		.label = "inactive_split ratio",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "inactive_split / reserved",
		.formula = "inactive_split_bytes / reserved_bytes",
		.reading = "The share that cannot even be given back. "
			"Above a tenth or so at the peak, "
			"max_split_size_mb or expandable_segments is "
			"worth a try.",
		.ratio = inactive_split_ratio,
	},
	[GP_UTILIZATION] = {
		.key = "utilization",
		.label = "utilization",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "allocated / reserved",
		.formula = "allocated_bytes / reserved_bytes",
		.reading = "1 - fragmentation.",
		.ratio = utilization,
	},
	[GP_INTERNAL] = {
		.key = "internal",
		.label = "lost to rounding",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "(allocated - requested) / allocated",
		.formula = "(allocated_bytes - requested_bytes) / "
			"allocated_bytes",
		.reading = "What rounding costs: to 512 bytes, to "
			"roundup_power2_divisions, and blocks that were "
			"not split. Small in most programs.",
		.ratio = internal,
	},
	[GP_LARGEST_FREE] = {
		.key = "largest_free_bytes",
		.label = "largest free block",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "the largest block that is free",
		.formula = "the most of the sizes of free blocks",
		.reading = "A request above it needs new memory from the "
			"device, however much is free in all; so may a "
			"smaller one, whose pool or stream is another.",
		.count = largest_free,
	},
	[GP_EXTERNAL] = {
		.key = "external",
		.label = "free memory in pieces",
		.unit = GP_UNIT_RATIO,
		.scope = GP_SCOPE_MOMENT,
		.meaning = "1 - largest free block / (reserved - active)",
		.formula = "1 - largest_free_bytes / (reserved_bytes - "
			"active_bytes)",
		.reading = "Near 0: what is free is one block. Near 1: it "
			"is many small ones, and a large request cannot "
			"have them.",
		.ratio = external,
	},
	[GP_NUM_RETRIES] = {
		.key = "num_alloc_retries",
		.label = "Alloc retries",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_COUNTER,
		.meaning = "times the cache was emptied because memory ran out",
		.formula = "PyTorch's counter of that name",
		.reading = "Each gave cached memory back to the device and "
			"asked again: slow, and the step before an "
			"out-of-memory error.",
		.count = retries,
	},
	[GP_NUM_OOMS] = {
		.key = "num_ooms",
		.label = "OOMs",
		.unit = GP_UNIT_COUNT,
		.scope = GP_SCOPE_COUNTER,
		.meaning = "requests that ended in an out-of-memory error",
		.formula = "PyTorch's counter of that name",
		.reading = "The first ends a program that does not catch it.",
		.count = ooms,
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

const char *gp_unit_name(enum gp_measure_unit unit)
{
	static const char *const names[] = {
		[GP_UNIT_BYTES] = "bytes",
		[GP_UNIT_COUNT] = "count",
		[GP_UNIT_RATIO] = "ratio",
	};

	return names[unit];
}
