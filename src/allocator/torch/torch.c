/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's own allocator as an engine: each request becomes a message to the
 * helper process, and each call of its CUDA runtime goes to config->device.
 */
#include "allocator/torch/torch.h"

#include <stdlib.h>
#include <string.h>

#include "gpupool/knob.h"
#include "allocator/engines.h"
#include "base/mem.h"
#include "base/sorted.h"

/* A block used on an unknown other stream gets a stream of its own, so that
 * complete() can complete that one alone. Even numbers: see simcuda's
 * cudaStreamCreate(). */
#define OWN_STREAMS UINT64_C(0x5e0000000000)
#define OWN_STEP    16

static uint64_t own_stream(uint32_t id)
{
	return OWN_STREAMS + (uint64_t)id * OWN_STEP;
}

uint16_t torch_stream_index(const struct torch *t, uint64_t stream)
{
	size_t low = gp_sorted_from(
		GP_SORTED_NUMBERS(t->config.streams, t->config.stream_count),
		stream);

	return (uint16_t)(low < t->config.stream_count ? low : 0);
}

uint16_t torch_pool_index(const struct torch *t, const uint64_t pool[2])
{
	for (size_t i = 0; i < t->config.pool_count; i++)
		if (t->config.pools[i].first == pool[0] &&
		    t->config.pools[i].second == pool[1])
			return (uint16_t)i;
	return 0;
}

/* ---- messages ---- */

/* Maps one page of a range. Access is set for the whole range at once, and
 * counted when PyTorch reports that it is mapped (mapAndSetAccess; see
 * translate.c). */
static bool map_page(struct gp_device *d, const struct torch_message *m)
{
	uint64_t access = d->calls.access;
	bool is_done = d->ops->map(d, m->addr, m->size, m->page);

	d->calls.access = access;
	return is_done;
}

static struct torch_reply ask_device(struct gp_device *d,
				     const struct torch_message *m)
{
	struct torch_reply reply = { .is_done = true };

	switch (m->what) {
	case TORCH_MALLOC:
		reply.is_done = d->ops->malloc(d, m->size, &reply.a);
		break;
	case TORCH_DEVICE_FREE: d->ops->free(d, m->addr, m->size); break;
	case TORCH_INFO: d->ops->info(d, &reply.a, &reply.b); break;
	case TORCH_RESERVE:
		reply.is_done = d->ops->reserve(d, m->size, &reply.a);
		break;
	case TORCH_UNRESERVE: d->ops->unreserve(d, m->addr, m->size); break;
	case TORCH_MAP: reply.is_done = map_page(d, m); break;
	case TORCH_UNMAP: d->ops->unmap(d, m->addr, m->size, m->page); break;
	default: break;
	}
	return reply;
}

static void keep_counters(struct torch *t, const struct torch_counters *from)
{
	struct gp_stats *to = &t->stats;

	_Static_assert(sizeof(from->by_pool) == sizeof(to->by_pool),
		       "counters travel in the order of struct gp_stats");
	memcpy(to->by_pool, from->by_pool, sizeof(to->by_pool));
	memcpy(&to->oversize_allocations, from->oversize[0],
	       sizeof(from->oversize[0]));
	memcpy(&to->oversize_segments, from->oversize[1],
	       sizeof(from->oversize[1]));
	to->num_alloc_retries = from->numbers[0];
	to->num_ooms = from->numbers[1];
	to->num_oom_rejections = from->numbers[2];
	to->num_sync_all_streams = from->numbers[3];
	to->num_device_alloc = from->numbers[4];
	to->num_device_free = from->numbers[5];
	to->max_split_size = from->numbers[6];
	for (int i = 0; i < GP_STAT_COUNT; i++)
		t->levels[i].peak = to->by_pool[i][GP_STAT_ALL].current;
}

/* Receives the rest of an answer. */
static void take_answer(struct torch *t, const struct torch_message *m)
{
	struct torch_counters counters;

	*t->text = 0;
	if (m->text_size < sizeof(t->text) && m->text_size) {
		channel_receive(&t->channel, t->text, m->text_size);
		t->text[m->text_size] = 0;
	}
	if (channel_receive(&t->channel, &counters, sizeof(counters)))
		keep_counters(t, &counters);
}

static bool converse(struct torch *t, struct torch_message *m)
{
	struct torch_reply reply;

	while (channel_receive(&t->channel, m, sizeof(*m))) {
		switch (m->kind) {
		case TORCH_ACTION: torch_take_action(t, m); break;
		case TORCH_SEGMENT:
		case TORCH_BLOCK: snapshot_add(t, m); break;
		case TORCH_DEVICE:
			reply = ask_device(t->config.device, m);
			channel_send(&t->channel, &reply, sizeof(reply));
			break;
		default: take_answer(t, m); return !t->channel.is_broken;
		}
	}
	return false;
}

/* A rejection before the device was asked differs from an OOM by its
 * counter. */
static enum gp_answer answer_of(const struct torch *t, uint32_t answer,
				int64_t rejections)
{
	if (answer == TORCH_SERVED)
		return GP_SERVED;
	if (answer == TORCH_ERROR)
		return GP_REFUSED_BY_RULE;
	return t->stats.num_oom_rejections > rejections ? GP_REJECTED
							: GP_OUT_OF_MEMORY;
}

enum gp_answer torch_request(struct torch *t, struct torch_request request,
			     const char *text, uint64_t *addr)
{
	int64_t rejections = t->stats.num_oom_rejections;
	struct torch_message m;

	request.ordinal = t->config.device_ordinal;
	request.text_size = text ? (uint32_t)strlen(text) : 0;
	channel_send(&t->channel, &request, sizeof(request));
	channel_send(&t->channel, text, request.text_size);
	if (!converse(t, &m)) {
		memcpy(t->text, t->channel.trouble, sizeof(t->channel.trouble));
		return GP_REFUSED_BY_RULE;
	}
	if (addr)
		*addr = m.addr;
	return answer_of(t, m.what, rejections);
}

struct torch_request torch_about_pool(const struct torch *t, enum torch_op op,
				      uint16_t pool)
{
	return (struct torch_request){
		.op = op,
		.pool = { t->config.pools[pool].first,
			  t->config.pools[pool].second },
	};
}

/* ---- requests ---- */

static enum gp_answer torch_alloc(struct gp_allocator *allocator, uint32_t id,
				  uint64_t size, uint16_t stream, uint16_t pool,
				  uint64_t *addr)
{
	struct torch *t = torch_of(allocator);
	struct torch_request request = torch_about_pool(t, TORCH_ALLOC, pool);
	enum gp_answer answer;
	uint64_t at;

	if (!size)
		return GP_SERVED;
	if (pool && !torch_names_pool(t, pool, stream, &request))
		return GP_REFUSED_BY_RULE;
	t->id = request.id = id;
	t->pool = pool ? pool : torch_routed_pool(t, stream);
	request.size = size;
	request.stream = t->config.streams[stream];
	answer = torch_request(t, request, NULL, &at);
	if (answer != GP_SERVED)
		return answer;
	t->is_live[id] = true;
	*addr = at;
	return GP_SERVED;
}

static void torch_free(struct gp_allocator *allocator, uint32_t id)
{
	struct torch *t = torch_of(allocator);

	if (!t->is_live[id])
		return;
	t->is_live[id] = false;
	torch_request(t, (struct torch_request){ .op = TORCH_FREE, .id = id },
		      NULL, NULL);
}

static void torch_record_stream(struct gp_allocator *allocator, uint32_t id,
				uint16_t stream)
{
	struct torch *t = torch_of(allocator);
	struct torch_request request = { .op = TORCH_RECORD_STREAM, .id = id };

	if (!t->is_live[id])
		return;
	request.stream = stream == GP_NO_STREAM ? own_stream(id)
						: t->config.streams[stream];
	torch_request(t, request, NULL, NULL);
}

static void torch_synchronize(struct gp_allocator *allocator, uint16_t stream)
{
	struct torch *t = torch_of(allocator);
	struct torch_request request = { .op = TORCH_ALL_DONE };

	if (stream != GP_ALL_STREAMS)
		request = (struct torch_request){
			.op = TORCH_STREAM_DONE,
			.stream = t->config.streams[stream],
		};
	torch_request(t, request, NULL, NULL);
}

static void torch_complete(struct gp_allocator *allocator, uint32_t id)
{
	struct torch *t = torch_of(allocator);

	torch_request(t,
		      (struct torch_request){ .op = TORCH_COMPLETE, .id = id },
		      NULL, NULL);
}

static enum gp_answer torch_empty_cache(struct gp_allocator *allocator,
					uint16_t pool)
{
	struct torch *t = torch_of(allocator);

	return torch_request(t, torch_about_pool(t, TORCH_EMPTY_CACHE, pool),
			     NULL, NULL);
}

static enum gp_answer torch_set_fraction(struct gp_allocator *allocator,
					 double fraction)
{
	return torch_request(torch_of(allocator),
			     (struct torch_request){ .op = TORCH_SET_FRACTION,
						     .fraction = fraction },
			     NULL, NULL);
}

static enum gp_answer torch_set_settings(struct gp_allocator *allocator,
					 const char *conf)
{
	return torch_request(torch_of(allocator),
			     (struct torch_request){ .op = TORCH_SET_SETTINGS },
			     conf, NULL);
}

static void torch_reset_peak(struct gp_allocator *allocator)
{
	torch_request(torch_of(allocator),
		      (struct torch_request){ .op = TORCH_RESET_PEAK }, NULL,
		      NULL);
}

static void torch_reset_accumulated(struct gp_allocator *allocator)
{
	torch_request(torch_of(allocator),
		      (struct torch_request){ .op = TORCH_RESET_ACCUMULATED },
		      NULL, NULL);
}

static const struct gp_stats *torch_stats(struct gp_allocator *allocator)
{
	return &torch_of(allocator)->stats;
}

static const char *torch_refusal(struct gp_allocator *allocator)
{
	return torch_of(allocator)->text;
}

static enum gp_status torch_health(struct gp_allocator *allocator,
				   struct gp_diag *diag)
{
	struct torch *t = torch_of(allocator);

	if (t->limit)
		return gp_diag_set(diag, GP_SYSTEM, "%s", t->limit);
	if (!t->channel.is_broken)
		return GP_OK;
	return gp_diag_set(diag, GP_SYSTEM, "%s", t->channel.trouble);
}

/* ---- creation and destruction ---- */

static void torch_destroy(struct gp_allocator *allocator)
{
	struct torch *t = torch_of(allocator);

	channel_close(&t->channel);
	gp_map_release(&t->ids);
	gp_map_release(&t->segment_pools);
	free(t->is_live);
	free(t->pools);
	free(t->routes);
	free(t->captures);
	free(t);
}

static const struct gp_allocator_ops torch_ops = {
	.name = "torch",
	.alloc = torch_alloc,
	.free = torch_free,
	.record_stream = torch_record_stream,
	.synchronize = torch_synchronize,
	.complete = torch_complete,
	.empty_cache = torch_empty_cache,
	.set_fraction = torch_set_fraction,
	.set_settings = torch_set_settings,
	.pool_begin = torch_pool_begin,
	.capture = torch_capture,
	.wait = torch_wait,
	.pool_end = torch_pool_end,
	.pool_release = torch_pool_release,
	.pool_change = torch_pool_change,
	.reset_peak = torch_reset_peak,
	.reset_accumulated = torch_reset_accumulated,
	.stats = torch_stats,
	.state = torch_state,
	.candidates = torch_candidates,
	.route = torch_route,
	.refusal = torch_refusal,
	.health = torch_health,
	.destroy = torch_destroy,
};

static enum gp_status start(struct torch *t, struct gp_diag *diag)
{
	const char *folder = t->config.torch_lib;
	uint8_t asked = t->config.settings->release;
	uint64_t hello = 0;
	enum gp_status status = torch_open(t, diag);
	enum gp_answer answer;

	if (status != GP_OK)
		return status;
	answer = torch_request(t,
			       (struct torch_request){
				       .op = TORCH_HELLO,
				       .size = t->config.torch_cuda != NULL,
			       },
			       NULL, &hello);
	t->release = TORCH_HELLO_MINOR(hello);
	if (t->channel.is_broken)
		return gp_diag_set(diag, GP_SYSTEM, "%s", t->text);
	if (answer != GP_SERVED)
		return gp_diag_set(
			diag, t->config.torch_cuda ? GP_SYSTEM : GP_INPUT,
			"PyTorch 2.%u refuses: %s", t->release, t->text);
	if (TORCH_HELLO_WIRE(hello) != TORCH_WIRE_VERSION) {
		gp_diag_file(diag, folder);
		gp_diag_hint(diag, "make torch-engine prepares it again");
		return gp_diag_set(diag, GP_SYSTEM,
				   "it was prepared by another gpupool");
	}
	if (t->release != asked && !gp_release_alike(t->release, asked)) {
		gp_diag_file(diag, folder);
		return gp_diag_set(diag, GP_USAGE,
				   "it is PyTorch 2.%u, not 2.%u", t->release,
				   asked);
	}
	return GP_OK;
}

enum gp_status gp_torch_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag)
{
	enum gp_status status;
	struct torch *t;

	if (!config->torch_lib)
		return gp_diag_set(diag, GP_SYSTEM,
				   "no PyTorch to run was given");
	if (config->start)
		return gp_diag_set(diag, GP_SYSTEM,
				   "PyTorch's allocator cannot begin from a "
				   "recorded state");
	t = gp_mem_alloc(1, sizeof(*t));
	t->head.ops = &torch_ops;
	t->head.levels = t->levels;
	t->config = *config;
	t->is_live = gp_mem_alloc(config->block_ids, sizeof(*t->is_live));
	t->pools = gp_mem_alloc(config->block_ids, sizeof(*t->pools));
	t->captures = gp_mem_alloc(config->stream_count, sizeof(*t->captures));
	status = start(t, diag);
	if (status != GP_OK) {
		torch_destroy(&t->head);
		return status;
	}
	*allocator = &t->head;
	return GP_OK;
}
