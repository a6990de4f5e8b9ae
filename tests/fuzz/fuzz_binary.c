/* SPDX-License-Identifier: MIT */
/*
 * Behind the checksum of the binary form, in both of its versions, which would
 * keep a fuzzer from what stands there: it is made to fit any bytes.  What is
 * read of them is a trace, which can be replayed, written and read again.
 */
#include <stddef.h>
#include <zlib.h>

#include "base/crc32c.h"
#include "fuzz/trace_bytes.h"
#include "gpupool/release.h"
#include "gpupool/replay.h"
#include "trace/binary.h"

static void set_32(uint8_t *to, uint32_t number)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)(number >> 8 * i);
}

/* The end, the header and the checksum of version 2 as they must be. */
static void fit(uint8_t *data, size_t size)
{
	memset(data, 0, GP_BINARY_HEADER_BYTES);
	memcpy(data, GP_BINARY_MAGIC, sizeof(GP_BINARY_MAGIC) - 1);
	set_32(data + GP_BINARY_ORDER_AT, GP_BINARY_ORDER);
	set_32(data + GP_BINARY_VERSION_AT, 2);
	data[size - GP_BINARY_END_BYTES] = GP_BINARY_CHECKSUM;
	set_32(data + size - 4, gp_crc32c(0, data, size - 4));
}

/* The header of version 1: order, version, length and checksum. */
static void fit_v1(uint8_t *data, size_t size)
{
	struct gp_binary_header header;
	const size_t skip = offsetof(struct gp_binary_header, order);

	memcpy(&header, data, sizeof(header));
	memcpy(header.magic, GP_BINARY_MAGIC, sizeof(header.magic));
	header.order = GP_BINARY_ORDER;
	header.version = 1;
	header.length = size;
	memcpy(data, &header, sizeof(header));
	header.crc = (uint32_t)crc32_z(0, data + skip, size - skip);
	memcpy(data, &header, sizeof(header));
}

static void replay(const struct gp_trace *trace, uint32_t device)
{
	struct gp_settings settings;
	struct gp_replay_config config = {
		.trace = trace,
		.device = device,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = UINT64_C(8) << 30,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	if (gp_replay(&config, &result, &diag) == GP_OK)
		gp_replay_release(&result);
	else
		must(*diag.what, "an error says nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_trace *trace = NULL;
	struct gp_diag diag = { 0 };
	uint8_t *copy;

	if (size < sizeof(struct gp_binary_header) + GP_BINARY_END_BYTES)
		return 0;
	copy = malloc(size);
	must(copy != NULL, "the input has no room");
	memcpy(copy, data, size);
	/* Where a file has its version. */
	if (data[GP_BINARY_VERSION_AT] == 1)
		fit_v1(copy, size);
	else
		fit(copy, size);
	if (trace_read(copy, size, &trace, &diag) == GP_OK) {
		for (uint32_t d = 0; d < trace->device_count; d++)
			replay(trace, d);
		trace_write_and_read(trace, GP_TRACE_BINARY);
		/* JSON leaves out what follows from the rest. */
		gp_trace_destroy(trace_again(trace, GP_TRACE_JSON));
		gp_trace_destroy(trace);
	}
	free(copy);
	return 0;
}
