/* SPDX-License-Identifier: MIT */
/*
 * Copies.  Nothing stands behind a device address: the bytes of small copies
 * are kept (kept.h), and all others come back as zeros.
 */
#include <string.h>

#include "simcuda/kept.h"
#include "simcuda/memory.h"
#include "simcuda/stream.h"

/* What a stream does asynchronously is part of its graph. */
static void capture(cudaStream_t stream)
{
	process_lock();
	stream_node((uintptr_t)stream);
	process_unlock();
}

static void *host(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

void memory_move(uint64_t to, uint64_t from, size_t size)
{
	bool is_to_device = memory_is_device(to);

	if (memory_is_device(from)) {
		if (is_to_device)
			kept_copy(to, from, size);
		else
			kept_read(from, host(to), size);
	} else if (is_to_device) {
		kept_write(to, host(from), size);
	} else {
		memmove(host(to), host(from), size);
	}
}

/* What a program goes by, and nobody knows: a loss, or how many elements are
 * not 0. */
static bool is_guess(uint64_t to, uint64_t from, size_t size)
{
	return size && memory_is_device(from) && !memory_is_device(to) &&
	       !kept_has(from, size);
}

/* It may be known all the same, to who knows what is running. */
static void tell_guess(void *to, size_t size)
{
	if (!process_ask_read(to, size))
		process_tell_guess();
}

/* What goes into a graph is done when that is launched, if at all. */
static void doubt_captured(uint64_t to, size_t size)
{
	if (streams_are_captured() && memory_is_device(to))
		kept_doubt(to, size);
}

static cudaError_t copy(enum simcuda_call call, void *to, const void *from,
			size_t size)
{
	bool guesses;

	process_before_read((uintptr_t)from, size);
	process_before_write((uintptr_t)to, size);
	process_begin(call);
	streams_copy(size);
	guesses = is_guess((uintptr_t)to, (uintptr_t)from, size);
	memory_move((uintptr_t)to, (uintptr_t)from, size);
	doubt_captured((uintptr_t)to, size);
	process_end(cudaSuccess);
	if (guesses)
		tell_guess(to, size);
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
		       enum cudaMemcpyKind kind)
{
	(void)kind;
	return copy(CALL_cudaMemcpy, to, from, size);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
			    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)kind;
	capture(stream);
	return copy(CALL_cudaMemcpyAsync, to, from, size);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
				int from_device, size_t size,
				cudaStream_t stream)
{
	(void)to_device;
	(void)from_device;
	capture(stream);
	return copy(CALL_cudaMemcpyPeerAsync, to, from, size);
}

/* Rows of width bytes, each pitch bytes behind the one before. */
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
			      size_t from_pitch, size_t width, size_t height,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	bool guesses = false;

	(void)kind;
	capture(stream);
	process_before_read((uintptr_t)from, from_pitch * height);
	process_before_write((uintptr_t)to, to_pitch * height);
	process_begin(CALL_cudaMemcpy2DAsync);
	streams_copy(width * height);
	for (size_t row = 0; row < height; row++) {
		uint64_t source = (uintptr_t)from + row * from_pitch;

		guesses |= is_guess((uintptr_t)to, source, width);
		memory_move((uintptr_t)to + row * to_pitch, source, width);
	}
	process_end(cudaSuccess);
	if (guesses)
		process_tell_guess();
	return cudaSuccess;
}

static void fill(uint64_t addr, int value, size_t size)
{
	if (!memory_is_device(addr))
		memset(host(addr), value, size);
	else
		kept_fill(addr, (unsigned char)value, size);
}

static cudaError_t set(enum simcuda_call call, void *at, int value, size_t size)
{
	process_before_write((uintptr_t)at, size);
	process_begin(call);
	streams_copy(size);
	fill((uintptr_t)at, value, size);
	doubt_captured((uintptr_t)at, size);
	return process_end(cudaSuccess);
}

cudaError_t cudaMemset(void *at, int value, size_t size)
{
	return set(CALL_cudaMemset, at, value, size);
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t size,
			    cudaStream_t stream)
{
	capture(stream);
	return set(CALL_cudaMemsetAsync, at, value, size);
}
