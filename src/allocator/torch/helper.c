/* SPDX-License-Identifier: MIT */
/*
 * The helper process: passes the engine's requests to PyTorch's allocator, and
 * that allocator's calls of the CUDA runtime back to the engine's device.
 *
 *     engine --request--> helper -> shim -> libc10_cuda.so -> simcuda
 *       device <--question-- (cudaMalloc, cuMemCreate, ...) <----'
 *       action <--action---- (alloc, segment_alloc, ...)
 *     engine <--answer, counters-- helper
 *
 * With a real device, memory comes from NVIDIA's runtime and driver instead.
 * Streams, events and captures are simcuda's even then: they are complete when
 * the trace says so.
 */
#include "allocator/torch/helper.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/torch/shim.h"
#include "base/mem.h"
#include "gpupool/device.h"
#include "simcuda/simcuda.h"

/* An event that a block's pending free waits for. */
struct use {
	uint64_t stream, number; /* number of the event on the stream */
	uint32_t before;	 /* another use of the block, or 0 */
};

/* Global, because a process serves one engine and PyTorch's callbacks have no
 * argument for it. */
static struct {
	FILE *in, *out;
	uint64_t *live; /* addresses by id; 0: not live */
	size_t room;
	struct use *uses; /* of blocks on other streams; index 0 is not used */
	size_t use_count, use_room;
	uint32_t *last_use; /* by id, index into uses; 0: none */
	size_t last_room;
	bool is_lost; /* the engine has closed the socket */
} helper;

static void send(const void *data, size_t size)
{
	if (size && fwrite(data, size, 1, helper.out) != 1)
		helper.is_lost = true;
}

static bool receive(void *data, size_t size)
{
	if (fread(data, size, 1, helper.in) == 1)
		return true;
	helper.is_lost = true;
	return false;
}

/* ---- the device at the other end ---- */

static struct torch_reply ask(enum torch_device_op op, uint64_t addr,
			      uint64_t size, uint64_t page)
{
	struct torch_message question = {
		.kind = TORCH_DEVICE,
		.what = op,
		.addr = addr,
		.size = size,
		.page = page,
	};
	struct torch_reply reply = { 0 };

	send(&question, sizeof(question));
	fflush(helper.out);
	receive(&reply, sizeof(reply));
	return reply;
}

static bool far_malloc(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	struct torch_reply reply = ask(TORCH_MALLOC, 0, size, 0);

	(void)device;
	*addr = reply.a;
	return reply.is_done;
}

static void far_free(struct gp_device *device, uint64_t addr, uint64_t size)
{
	(void)device;
	ask(TORCH_DEVICE_FREE, addr, size, 0);
}

static void far_info(struct gp_device *device, uint64_t *free_bytes,
		     uint64_t *total_bytes)
{
	struct torch_reply reply = ask(TORCH_INFO, 0, 0, 0);

	(void)device;
	*free_bytes = reply.a;
	*total_bytes = reply.b;
}

/* The engine's device is informed by the engine. */
static void far_set_other(struct gp_device *device, uint64_t bytes)
{
	(void)device;
	(void)bytes;
}

static bool far_reserve(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	struct torch_reply reply = ask(TORCH_RESERVE, 0, size, 0);

	(void)device;
	*addr = reply.a;
	return reply.is_done;
}

static void far_unreserve(struct gp_device *device, uint64_t addr,
			  uint64_t size)
{
	(void)device;
	ask(TORCH_UNRESERVE, addr, size, 0);
}

static bool far_map(struct gp_device *device, uint64_t addr, uint64_t size,
		    uint64_t page)
{
	(void)device;
	return ask(TORCH_MAP, addr, size, page).is_done;
}

static void far_unmap(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t page)
{
	(void)device;
	ask(TORCH_UNMAP, addr, size, page);
}

static void far_adopt(struct gp_device *device, uint64_t addr, uint64_t size,
		      bool is_mapped)
{
	(void)device;
	(void)addr;
	(void)size;
	(void)is_mapped;
}

static void far_adopt_range(struct gp_device *device, uint64_t addr,
			    uint64_t size)
{
	(void)device;
	(void)addr;
	(void)size;
}

static void far_destroy(struct gp_device *device)
{
	(void)device;
}

static const struct gp_device_ops far_ops = {
	.name = "far",
	.malloc = far_malloc,
	.free = far_free,
	.info = far_info,
	.set_other = far_set_other,
	.reserve = far_reserve,
	.unreserve = far_unreserve,
	.map = far_map,
	.unmap = far_unmap,
	.adopt = far_adopt,
	.adopt_range = far_adopt_range,
	.destroy = far_destroy,
};

static struct gp_device far_device = { .ops = &far_ops };

/* ---- requests ---- */

static void send_piece(const struct torch_message *piece)
{
	send(piece, sizeof(*piece));
}

static uint64_t *live_of(uint32_t id)
{
	size_t before = helper.room;

	if (id >= helper.room) {
		GP_GROW(helper.live, (size_t)id + 1, helper.room);
		memset(helper.live + before, 0,
		       (helper.room - before) * sizeof(*helper.live));
	}
	return &helper.live[id];
}

/* Allocation and record_stream count as work on the stream. */
static int do_alloc(const struct torch_request *request, uint64_t *addr)
{
	int answer =
		shim_alloc(request->size, request->stream, request->pool, addr);

	if (answer != TORCH_SERVED)
		return answer;
	*live_of(request->id) = *addr;
	simcuda_launch(request->stream);
	return answer;
}

static uint32_t *last_use_of(uint32_t id)
{
	size_t before = helper.last_room;

	if (id >= helper.last_room) {
		GP_GROW(helper.last_use, (size_t)id + 1, helper.last_room);
		memset(helper.last_use + before, 0,
		       (helper.last_room - before) * sizeof(*helper.last_use));
	}
	return &helper.last_use[id];
}

static void add_use(uint32_t id, uint64_t stream)
{
	uint32_t *last = last_use_of(id);

	if (!helper.use_count)
		helper.use_count = 1;
	GP_GROW(helper.uses, helper.use_count + 1, helper.use_room);
	helper.uses[helper.use_count] =
		(struct use){ .stream = stream, .before = *last };
	*last = (uint32_t)helper.use_count++;
}

/* The free inserted an event on each stream that uses the block. */
static int do_free(const struct torch_request *request)
{
	uint64_t addr = *live_of(request->id);
	int answer = addr ? shim_free(addr) : TORCH_SERVED;

	*live_of(request->id) = 0;
	for (uint32_t i = *last_use_of(request->id); i;
	     i = helper.uses[i].before)
		helper.uses[i].number =
			simcuda_stream_issued(helper.uses[i].stream);
	return answer;
}

static void do_complete(uint32_t id)
{
	for (uint32_t i = *last_use_of(id); i; i = helper.uses[i].before)
		simcuda_stream_done_to(helper.uses[i].stream,
				       helper.uses[i].number);
	*last_use_of(id) = 0;
}

static int do_record_stream(const struct torch_request *request)
{
	uint64_t addr = *live_of(request->id);

	if (!addr)
		return TORCH_SERVED;
	simcuda_launch(request->stream);
	add_use(request->id, request->stream);
	return shim_record_stream(addr, request->stream);
}

static int do_hello(const struct torch_request *request, uint64_t *hello)
{
	/* A real device is device 0, whichever the trace names. */
	bool is_real = request->size;
	int ordinal = is_real ? 0 : (int)request->ordinal;

	simcuda_set_devices(ordinal + 1);
	if (!is_real)
		simcuda_use_device(ordinal, &far_device);
	/* PyTorch up to 2.8 uses the driver only if it is loaded already. */
	if (is_real)
		dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	simcuda_set_events(SIMCUDA_EVENTS_MANUAL, 0);
	*hello = TORCH_HELLO_ADDR((uint64_t)shim_release());
	return shim_start(ordinal);
}

static int serve(const struct torch_request *r, const char *text,
		 uint64_t *addr)
{
	switch (r->op) {
	case TORCH_HELLO: return do_hello(r, addr);
	case TORCH_ALLOC: return do_alloc(r, addr);
	case TORCH_FREE: return do_free(r);
	case TORCH_RECORD_STREAM: return do_record_stream(r);
	case TORCH_STREAM_DONE: simcuda_stream_done(r->stream); break;
	case TORCH_ALL_DONE: simcuda_all_done(); break;
	case TORCH_EMPTY_CACHE: return shim_empty_cache(r->pool);
	case TORCH_SET_FRACTION: return shim_set_fraction(r->fraction);
	case TORCH_SET_SETTINGS: return shim_set_settings(text);
	case TORCH_CAPTURE: return shim_capture(r->pool, r->stream);
	case TORCH_COMPLETE: do_complete(r->id); break;
	case TORCH_WAIT: shim_wait(r->stream, r->size); break;
	case TORCH_RESET_PEAK: shim_reset_peak(); break;
	case TORCH_RESET_ACCUMULATED: shim_reset_accumulated(); break;
	case TORCH_STATE: shim_state(send_piece); break;
	default: return shim_pool((enum torch_op)r->op, r->pool);
	}
	return TORCH_SERVED;
}

static void answer(const struct torch_request *request, const char *text)
{
	struct torch_message message = { .kind = TORCH_ANSWER };
	struct torch_counters counters;

	*shim_text = 0;
	message.what = (uint32_t)serve(request, text, &message.addr);
	message.text_size = (uint32_t)strlen(shim_text);
	if (request->op != TORCH_STATE)
		shim_flush_actions();
	shim_counters(&counters);
	send(&message, sizeof(message));
	send(shim_text, message.text_size);
	send(&counters, sizeof(counters));
	fflush(helper.out);
}

int torch_helper_run(int argc, char **argv)
{
	struct torch_request request;
	char text[TORCH_TEXT_MOST];

	(void)argc;
	(void)argv;
	helper.in = fdopen(TORCH_WIRE_FD, "r");
	helper.out = fdopen(TORCH_WIRE_FD, "w");
	if (!helper.in || !helper.out)
		return EXIT_FAILURE;
	shim_on_action = send_piece;
	while (!helper.is_lost && receive(&request, sizeof(request))) {
		if (request.text_size >= sizeof(text))
			return EXIT_FAILURE;
		if (request.text_size && !receive(text, request.text_size))
			return EXIT_FAILURE;
		text[request.text_size] = 0;
		answer(&request, text);
	}
	/* Skips PyTorch's destructors, which would call a device that no longer
	 * exists. */
	quick_exit(EXIT_SUCCESS);
}
