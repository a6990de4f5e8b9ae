# SPDX-License-Identifier: MIT
# An engine: a file, its constructor in engines.h, a row, a paragraph, a test.
# shellcheck shell=sh disable=SC2154

add_engine() {
	add src/allocator/twin.c << 'END'
/* SPDX-License-Identifier: MIT */
/* What direct does, under another name. */
#include "allocator/engines.h"

#include <stdlib.h>

#include "base/mem.h"

struct twin {
	struct gp_allocator head;
	struct gp_allocator *direct;
};

static struct gp_allocator *direct_of(struct gp_allocator *allocator)
{
	return ((struct twin *)allocator)->direct;
}

static enum gp_answer twin_alloc(struct gp_allocator *allocator, uint32_t id,
				  uint64_t size, uint16_t stream, uint16_t pool,
				  uint64_t *addr)
{
	struct gp_allocator *direct = direct_of(allocator);

	return direct->ops->alloc(direct, id, size, stream, pool, addr);
}

static void twin_free(struct gp_allocator *allocator, uint32_t id)
{
	struct gp_allocator *direct = direct_of(allocator);

	direct->ops->free(direct, id);
}

static void twin_reset_peak(struct gp_allocator *allocator)
{
	struct gp_allocator *direct = direct_of(allocator);

	direct->ops->reset_peak(direct);
}

static const struct gp_stats *twin_stats(struct gp_allocator *allocator)
{
	struct gp_allocator *direct = direct_of(allocator);

	return direct->ops->stats(direct);
}

static void twin_state(struct gp_allocator *allocator, struct gp_state *state)
{
	struct gp_allocator *direct = direct_of(allocator);

	direct->ops->state(direct, state);
}

static void twin_destroy(struct gp_allocator *allocator)
{
	struct gp_allocator *direct = direct_of(allocator);

	direct->ops->destroy(direct);
	free(allocator);
}

static const struct gp_allocator_ops twin_ops = {
	.name = "twin",
	.alloc = twin_alloc,
	.free = twin_free,
	.reset_peak = twin_reset_peak,
	.stats = twin_stats,
	.state = twin_state,
	.destroy = twin_destroy,
};

enum gp_status gp_twin_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag)
{
	struct twin *twin = gp_mem_alloc(1, sizeof(*twin));

	(void)diag;
	twin->direct = gp_direct_create(config);
	twin->head.ops = &twin_ops;
	twin->head.levels = twin->direct->levels;
	*allocator = &twin->head;
	return GP_OK;
}
END
	insert src/allocator/engines.h '^/. PyTorch.s own' << 'END'
enum gp_status gp_twin_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag);

END
	insert src/allocator/engines.c '^	{ .name = "torch",' << 'END'
	{ .name = "twin",
	  .sentence = "what direct does, under another name",
	  .create = gp_twin_create },
END
	insert man/gpupool-replay.1 '^For these two, the driver decides where memory is placed' << 'END'
.Cm twin
does as
.Cm direct .
END
}

say_engine() {
	cat > tests/cli/twin.test << 'END'
# The engine twin does what direct does.
$ r() { gpupool replay -q $traces/tiny/small-alloc.json --format json --engine $1 | grep -v engine; }; r twin > a; r direct | diff a - && grep -c . a
END
	answers twin
}

try_engine() {
	grep -q '^| [1-9][0-9]*$' tests/cli/twin.test || cat tests/cli/twin.test
	build/gpupool help engines | grep -q '^  twin ' ||
		echo "help engines does not name it"
	build/gpupool replay traces/tiny/small-alloc.json --engine tvin 2>&1 | grep -q ' twin' ||
		echo "it is not named"
}
