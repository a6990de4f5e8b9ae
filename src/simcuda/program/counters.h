/* SPDX-License-Identifier: MIT */
/* torch.cuda.memory_stats() of a device, as members of a JSON object. */
#ifndef SIMCUDA_PROGRAM_COUNTERS_H
#define SIMCUDA_PROGRAM_COUNTERS_H

/* A c10::CachingDeviceAllocator::DeviceStats of PyTorch 2.<release>. */
void counters_write(const char *stats, unsigned release);

/* No release has more, in bytes. */
#define COUNTERS_ROOM 2048

#endif
