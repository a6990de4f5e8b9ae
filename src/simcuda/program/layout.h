/* Where PyTorch's allocator keeps what the recorder needs, by release. */
#ifndef SIMCUDA_PROGRAM_LAYOUT_H
#define SIMCUDA_PROGRAM_LAYOUT_H

#include <stdint.h>

/* Slots of c10::cuda::CUDACachingAllocator::CUDAAllocator's virtual functions,
 * and the place of TraceEntry's pool (0: it has none). */
struct layout {
	uint8_t release; /* 2.x */
	uint8_t init, initialized, set_fraction, empty_cache, record_stream;
	uint8_t reset_accumulated, reset_peak, release_pool, attach;
	uint8_t pool;
};

/* The same in all releases: TraceEntry's other members. */
#define ENTRY_DEVICE 4 /* int8_t */
#define ENTRY_ADDR   8
#define ENTRY_STREAM 32
#define ENTRY_SIZE   40

/* NULL: not a release that is known. */
const struct layout *layout_of(unsigned release);

#endif
