/* SPDX-License-Identifier: MIT */
/*
 * Behind the checksum of the binary form, which would keep a fuzzer from what
 * stands there: the header is made to fit any bytes.  What is read of them is a
 * trace, which can be replayed, written and read again.
 */
#include <stddef.h>
#include <zlib.h>

#include "fuzz/trace_bytes.h"
#include "gpupool/replay.h"
#include "trace/binary.h"

/* Order, version, length and checksum as they must be. */
static void fit_header(uint8_t *data, size_t size)
{
	struct gp_binary_header header;
	const size_t skip = offsetof(struct gp_binary_header, order);

	memcpy(&header, data, sizeof(header));
	memcpy(header.magic, GP_BINARY_MAGIC, sizeof(header.magic));
	header.order = GP_BINARY_ORDER;
	header.version = GP_BINARY_VERSION;
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

	if (size < sizeof(struct gp_binary_header))
		return 0;
	copy = malloc(size);
	must(copy != NULL, "the input has no room");
	memcpy(copy, data, size);
	fit_header(copy, size);
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
