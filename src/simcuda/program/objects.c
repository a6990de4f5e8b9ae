/* SPDX-License-Identifier: MIT */
/* What objects.py calls: the bytes that are kept. */
#include <stddef.h>
#include <stdint.h>

#include "simcuda/kept.h"
#include "simcuda/process.h"

void simcuda_read_kept(uint64_t addr, void *bytes, size_t size);
void simcuda_read_kept(uint64_t addr, void *bytes, size_t size)
{
	process_before_read(addr, size);
	process_lock();
	kept_read(addr, bytes, size);
	process_unlock();
}

void simcuda_write_kept(uint64_t addr, const void *bytes, size_t size);
void simcuda_write_kept(uint64_t addr, const void *bytes, size_t size)
{
	process_lock();
	kept_write(addr, bytes, size);
	process_unlock();
}

void simcuda_copy_kept(uint64_t to, uint64_t from, size_t size);
void simcuda_copy_kept(uint64_t to, uint64_t from, size_t size)
{
	process_before_read(from, size);
	process_lock();
	kept_copy(to, from, size);
	process_unlock();
}
