/* SPDX-License-Identifier: MIT */
/* The rarer requests of a trial: how often, and which. */
#include "author.h"

static uint64_t throw_stream(struct author *author)
{
	return author->streams[dice_below(&author->dice, author->stream_count)];
}

/* ---- of the device ---- */

/* Released pools are erased if they have no live blocks; their ids can then be
 * used again. */
static void forget_released(struct author *author, struct desk *desk)
{
	for (size_t i = 0; i < POOLS_MOST; i++)
		if (desk->pools[i].was_released && !desk->pools[i].holders &&
		    dice_permille(&author->dice, 300))
			desk->pools[i].was_released = false;
}

static void empty_cache(struct author *author, struct desk *desk)
{
	struct op op = { .kind = GP_EMPTY_CACHE };

	/* Up to 2.12, this is an error inside PyTorch while routing is on. */
	if (desk->route_count && dice_permille(&author->dice, 900))
		return;
	desk_add(author, desk, op);
	if (!desk->route_count)
		forget_released(author, desk);
}

static void synchronize(struct author *author, struct desk *desk)
{
	struct op op = { .kind = GP_SYNCHRONIZE };

	op.stream = throw_stream(author);
	desk_add(author, desk, op);
}

static void other_memory(struct author *author, struct desk *desk)
{
	struct op op = { .kind = GP_OTHER_MEMORY };
	uint64_t capacity = author->trial->capacity;

	op.size = dice_below(&author->dice, capacity / 3);
	if (dice_permille(&author->dice, 700))
		op.size = op.size / MIB * MIB;
	if (dice_permille(&author->dice, 200))
		op.size = 0;
	desk_add(author, desk, op);
}

static void set_fraction(struct author *author, struct desk *desk)
{
	static const double fractions[] = { 0.3,  0.5, 0.6, 0.75, 0.9,
					    0.99, 1.0, 0.1, 0.0 };
	struct op op = { .kind = GP_SET_FRACTION };

	op.fraction = DICE_PICK(&author->dice, fractions);
	desk_add(author, desk, op);
}

void turn_limit(struct author *author, struct desk *desk)
{
	static const double fractions[] = { 0.3, 0.5, 0.6, 0.75, 0.9, 0.99 };
	struct op op = { .kind = GP_SET_FRACTION };

	op.fraction = DICE_PICK(&author->dice, fractions);
	desk_add(author, desk, op);
}

static void set_settings(struct author *author, struct desk *desk)
{
	struct op op = { .kind = GP_SET_SETTINGS };

	conf_change(&author->conf, &author->dice, author->changeable, op.text,
		    sizeof(op.text));
	if (*op.text)
		desk_add(author, desk, op);
}

static void reset(struct author *author, struct desk *desk)
{
	struct op op = { .kind = GP_RESET_PEAK };

	if (dice_permille(&author->dice, 400))
		op.kind = GP_RESET_ACCUMULATED;
	desk_add(author, desk, op);
}

/* ---- of private pools ---- */

static void about_pool(struct author *author, struct desk *desk,
		       enum gp_event_kind kind, uint64_t pool)
{
	struct op op = { .kind = kind, .pool = { 0, pool } };

	desk_add(author, desk, op);
}

static bool is_routed(const struct desk *desk, uint64_t pool)
{
	for (size_t i = 0; i < desk->route_count; i++)
		if (desk->routes[i].pool == pool)
			return true;
	return false;
}

/* All requests are possible for a pool without holders, but PyTorch asserts on
 * most of them. */
static bool is_usable(struct author *author, const struct desk_pool *pool)
{
	return pool->holders || !pool->was_released ||
	       dice_permille(&author->dice, 20);
}

static void begin(struct author *author, struct desk *desk, bool is_capture)
{
	uint64_t pool = dice_between(&author->dice, 1, POOLS_MOST / 3);
	struct op op = { .kind = GP_CAPTURE_BEGIN, .flags = GP_NAMES_STREAM };

	if (dice_permille(&author->dice, 200))
		pool = dice_between(&author->dice, 1, POOLS_MOST);
	if (is_routed(desk, pool) || !is_usable(author, &desk->pools[pool - 1]))
		return;
	desk->pools[pool - 1].holders++;
	desk->routes[desk->route_count++] = (struct route){ pool, is_capture };
	if (!is_capture || !(author->features & OF_STREAMS)) {
		about_pool(author, desk,
			   is_capture ? GP_CAPTURE_BEGIN : GP_POOL_BEGIN, pool);
		return;
	}
	desk->origin = op.stream = throw_stream(author);
	op.pool.second = pool;
	desk_add(author, desk, op);
}

/* The oldest or the newest: routings need not be nested. */
static void end(struct author *author, struct desk *desk)
{
	size_t i = desk->route_count - 1;
	struct route route;

	if (dice_permille(&author->dice, 250))
		i = 0;
	route = desk->routes[i];
	desk->route_count--;
	for (; i < desk->route_count; i++)
		desk->routes[i] = desk->routes[i + 1];
	about_pool(author, desk,
		   route.is_capture ? GP_CAPTURE_END : GP_POOL_END, route.pool);
}

void turn_end_routes(struct author *author, struct desk *desk)
{
	while (desk->route_count)
		end(author, desk);
}

static void route(struct author *author, struct desk *desk)
{
	if (desk->route_count &&
	    (desk->route_count == 3 || dice_permille(&author->dice, 700)))
		end(author, desk);
	else
		begin(author, desk, false);
}

/* Usually a stream that is captured already, or that captured ones waited
 * for. */
static void wait_for_stream(struct author *author, struct desk *desk)
{
	struct op op = { .kind = GP_SYNCHRONIZE, .flags = GP_STREAM_WAITS };

	if (!desk->route_count && dice_permille(&author->dice, 800))
		return;
	op.stream = throw_stream(author);
	op.by = throw_stream(author);
	if (desk->route_count && dice_permille(&author->dice, 500))
		op.stream = desk->origin;
	else if (desk->route_count && dice_permille(&author->dice, 400))
		op.by = desk->origin;
	desk_add(author, desk, op);
}

/* Captures are not nested, and last for a while if streams join them. */
static void capture(struct author *author, struct desk *desk)
{
	if (desk->route_count && author->features & OF_STREAMS &&
	    dice_permille(&author->dice, 600))
		return;
	if (desk->route_count)
		end(author, desk);
	else
		begin(author, desk, true);
}

static void release(struct author *author, struct desk *desk)
{
	uint64_t at = dice_below(&author->dice, POOLS_MOST / 3);
	struct desk_pool *pool = &desk->pools[at];

	if (!pool->holders ||
	    (is_routed(desk, at + 1) && dice_permille(&author->dice, 980)))
		return;
	pool->was_released |= !--pool->holders;
	about_pool(author, desk, GP_POOL_RELEASE, at + 1);
}

static void empty_pool(struct author *author, struct desk *desk)
{
	if (desk->route_count && dice_permille(&author->dice, 900))
		return;
	about_pool(author, desk, GP_EMPTY_CACHE,
		   dice_between(&author->dice, 1, POOLS_MOST / 3));
}

static void create(struct author *author, struct desk *desk)
{
	uint64_t at = dice_below(&author->dice, POOLS_MOST);

	if (!is_usable(author, &desk->pools[at]))
		return;
	desk->pools[at].holders++;
	about_pool(author, desk, GP_POOL_CREATE, at + 1);
}

static void flag(struct author *author, struct desk *desk)
{
	static const enum gp_event_kind flags[] = { GP_POOL_USE_ON_OOM,
						    GP_POOL_USE_ON_OOM,
						    GP_POOL_NO_USE_ON_OOM,
						    GP_POOL_NO_SPLIT };
	uint64_t pool = dice_between(&author->dice, 1, POOLS_MOST / 3);
	enum gp_event_kind kind = DICE_PICK(&author->dice, flags);

	if (!desk->pools[pool - 1].holders && dice_permille(&author->dice, 980))
		return;
	about_pool(author, desk, kind, pool);
}

/* ---- choosing whose turn it is ---- */

static const struct turn {
	unsigned feature; /* needed; 0: none */
	unsigned permille;
	void (*take)(struct author *author, struct desk *desk);
} turns[] = {
	{ 0, 10, empty_cache },
	{ 0, 5, desk_burst },
	{ FEW_STREAMS | MANY_STREAMS, 70, synchronize },
	{ OTHERS, 12, other_memory },
	{ LIMIT_MOVES, 15, set_fraction },
	{ CONF_MOVES, 15, set_settings },
	{ RESETS, 15, reset },
	{ POOLS, 40, route },
	{ POOLS, 10, release },
	{ POOL_FLAGS, 12, create },
	{ POOL_FLAGS, 12, flag },
	{ POOL_FLAGS, 8, empty_pool },
	{ CAPTURES, 40, capture },
	{ CAPTURES, 8, release },
	{ OF_STREAMS, 120, wait_for_stream },
};

bool turn_take(struct author *author, struct desk *desk)
{
	uint64_t at = dice_below(&author->dice, 1000);

	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		const struct turn *turn = &turns[i];

		if (turn->feature && !(author->features & turn->feature))
			continue;
		if (at < turn->permille) {
			turn->take(author, desk);
			return true;
		}
		at -= turn->permille;
	}
	return false;
}
