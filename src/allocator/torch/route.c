/* SPDX-License-Identifier: MIT */
/*
 * Routing: pools, captures, and the pool of a request that names none, which
 * PyTorch does not report.
 */
#include <stdio.h>
#include <stdlib.h>

#include "allocator/release.h"
#include "allocator/torch/torch.h"
#include "base/mem.h"

/* Pools of MemPool objects; 2.0 to 2.2 only route captures. */
#define FIRST_ROUTING 3
/* From this release on, the newest route that accepts a stream applies; before,
 * the oldest. */
#define NEWEST_FIRST  10

/* Whether the route accepts the stream. In 2.1 and 2.2 a capture's pool serves
 * one stream. */
static bool accepts(const struct torch *t, const struct torch_opened *route,
		    uint16_t stream)
{
	if (route->capture && (t->release == 1 || t->release == 2))
		return route->origin == stream;
	return !route->capture || route->capture == t->captures[stream];
}

/* The pool of a request that names none. */
uint16_t torch_routed_pool(const struct torch *t, uint16_t stream)
{
	for (size_t i = 0; i < t->route_count; i++) {
		const struct torch_opened *route =
			&t->routes[t->release >= NEWEST_FIRST
					   ? t->route_count - 1 - i
					   : i];

		if (accepts(t, route, stream))
			return route->pool;
	}
	return 0;
}

static bool is_open(const struct torch *t, uint16_t pool)
{
	for (size_t i = 0; i < t->route_count; i++)
		if (t->routes[i].pool == pool)
			return true;
	return false;
}

/* Whether the release of cached memory is suspended: by any open route, or by
 * the one of a request that names its pool; from 2.13 on, only by routes of
 * captures. */
static bool is_suspended(const struct torch *t, uint16_t pool)
{
	bool goes_on = gp_release_has(t->release, GP_CHANGE_ROUTING_GOES_ON);

	for (size_t i = 0; i < t->route_count; i++)
		if (!goes_on || t->routes[i].is_capture)
			return true;
	return pool && !is_open(t, pool) &&
	       (!goes_on || t->config.pools[pool].first);
}

bool torch_route(struct gp_allocator *allocator, uint64_t size, uint16_t stream,
		 uint16_t pool, struct gp_route *route)
{
	const struct torch *t = torch_of(allocator);
	uint64_t rounded = gp_settings_round(t->config.settings, size);

	*route = (struct gp_route){
		.rounded = rounded,
		.pool = pool ? pool : torch_routed_pool(t, stream),
		.is_small = rounded <= GP_SMALL_SIZE,
		.gives_back = !is_suspended(t, pool),
		.collects = t->config.settings->gc_threshold > 0,
	};
	return true;
}

/*
 * Routes a request that names its pool there while it is served, unless such a
 * route is open already: PyTorch refuses to begin it twice. False: PyTorch
 * would route the request elsewhere, and the engine has failed.
 */
bool torch_names_pool(struct torch *t, uint16_t pool, uint16_t stream,
		      struct torch_request *request)
{
	uint16_t routed = torch_routed_pool(t, stream);

	if (routed == pool) {
		request->pool[0] = request->pool[1] = 0;
		return true;
	}
	if (!is_open(t, pool) && (!routed || t->release >= NEWEST_FIRST))
		return true;
	t->limit = "a request names a pool that the routes which the trace "
		   "begins and ends do not lead to";
	snprintf(t->text, sizeof(t->text), "%s", t->limit);
	return false;
}

static void add_route(struct torch *t, struct torch_opened route)
{
	GP_GROW(t->routes, t->route_count + 1, t->route_room);
	t->routes[t->route_count++] = route;
}

enum gp_answer torch_pool_begin(struct gp_allocator *allocator, uint16_t pool,
				bool is_capture)
{
	struct torch *t = torch_of(allocator);
	enum torch_op op = is_capture ? TORCH_CAPTURE_BEGIN : TORCH_POOL_BEGIN;
	enum gp_answer answer;

	if (t->release < FIRST_ROUTING) {
		if (is_capture)
			t->limit = "PyTorch before 2.3 knows a capture by its "
				   "stream, and the trace names none";
		return GP_SERVED;
	}
	answer = torch_request(t, torch_about_pool(t, op, pool), NULL, NULL);
	if (answer != GP_SERVED)
		return answer;
	add_route(t, (struct torch_opened){ pool, is_capture, 0, 0 });
	return GP_SERVED;
}

enum gp_answer torch_capture(struct gp_allocator *allocator, uint16_t pool,
			     uint16_t stream)
{
	struct torch *t = torch_of(allocator);
	struct torch_request request = torch_about_pool(t, TORCH_CAPTURE, pool);
	enum gp_answer answer;

	request.stream = t->config.streams[stream];
	answer = torch_request(t, request, NULL, NULL);
	if (answer != GP_SERVED)
		return answer;
	t->captures[stream] = ++t->begun;
	add_route(t, (struct torch_opened){ pool, true, t->begun, stream });
	return GP_SERVED;
}

/* A stream that waits for a captured one joins its capture. */
void torch_wait(struct gp_allocator *allocator, uint16_t stream, uint16_t by)
{
	struct torch *t = torch_of(allocator);
	struct torch_request request = {
		.op = TORCH_WAIT,
		.stream = t->config.streams[stream],
		.size = t->config.streams[by],
	};

	torch_request(t, request, NULL, NULL);
	if (!t->captures[by])
		t->captures[by] = t->captures[stream];
}

static void forget_capture(struct torch *t, uint32_t capture)
{
	for (size_t i = 0; i < t->config.stream_count; i++)
		if (t->captures[i] == capture)
			t->captures[i] = 0;
}

enum gp_answer torch_pool_end(struct gp_allocator *allocator, uint16_t pool)
{
	struct torch *t = torch_of(allocator);
	enum torch_op op = TORCH_POOL_END;
	size_t i = 0;

	while (i < t->route_count && t->routes[i].pool != pool)
		i++;
	if (t->release < FIRST_ROUTING && i == t->route_count)
		return GP_SERVED;
	if (i < t->route_count) {
		if (t->routes[i].is_capture)
			op = TORCH_CAPTURE_END;
		if (t->routes[i].capture)
			forget_capture(t, t->routes[i].capture);
		GP_REMOVE(t->routes, t->route_count, i);
	}
	return torch_request(t, torch_about_pool(t, op, pool), NULL, NULL);
}

enum gp_answer torch_pool_release(struct gp_allocator *allocator, uint16_t pool)
{
	struct torch *t = torch_of(allocator);

	return torch_request(t, torch_about_pool(t, TORCH_POOL_RELEASE, pool),
			     NULL, NULL);
}

enum gp_answer torch_pool_change(struct gp_allocator *allocator, uint16_t pool,
				 enum gp_event_kind change)
{
	struct torch *t = torch_of(allocator);
	enum torch_op op =
		change == GP_POOL_CREATE       ? TORCH_POOL_CREATE
		: change == GP_POOL_USE_ON_OOM ? TORCH_POOL_USE_ON_OOM
		: change == GP_POOL_NO_SPLIT   ? TORCH_POOL_NO_SPLIT
					       : TORCH_POOL_NO_USE_ON_OOM;

	return torch_request(t, torch_about_pool(t, op, pool), NULL, NULL);
}
