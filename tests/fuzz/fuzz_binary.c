/* SPDX-License-Identifier: MIT */
/*
 * Tests what follows the checksum of the binary format, which would keep a
 * fuzzer away from it: the checksum is made to fit any bytes. What is read is a
 * trace, which can be replayed, written and read again.
 */
#include <stddef.h>

#include "base/crc32c.h"
#include "fuzz/trace_bytes.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "trace/binary.h"

static void set_32(uint8_t *to, uint32_t number)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)(number >> 8 * i);
}

/* Sets the end, the header and the checksum to correct values. */
static void fit(uint8_t *data, size_t size)
{
	memset(data, 0, GP_BINARY_HEADER_BYTES);
	memcpy(data, GP_BINARY_MAGIC, sizeof(GP_BINARY_MAGIC) - 1);
	set_32(data + GP_BINARY_ORDER_AT, GP_BINARY_ORDER);
	set_32(data + GP_BINARY_VERSION_AT, GP_BINARY_VERSION);
	data[size - GP_BINARY_END_BYTES] = GP_BINARY_CHECKSUM;
	set_32(data + size - 4, gp_crc32c(0, data, size - 4));
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

	if (size < GP_BINARY_HEADER_BYTES + GP_BINARY_END_BYTES)
		return 0;
	copy = malloc(size);
	must(copy != NULL, "the input has no room");
	memcpy(copy, data, size);
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
