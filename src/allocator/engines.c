/* SPDX-License-Identifier: MIT */
/* The registry of engines, and what engines share. */
#include "allocator/engines.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/keeper.h"
#include "allocator/textbook/textbook.h"
#include "gpupool/allocator.h"

/* These constructors cannot fail. */

static enum gp_status create_caching(const struct gp_allocator_config *config,
				     struct gp_allocator **allocator,
				     struct gp_diag *diag)
{
	(void)diag;
	*allocator = gp_caching_create(config);
	return GP_OK;
}

static enum gp_status create_direct(const struct gp_allocator_config *config,
				    struct gp_allocator **allocator,
				    struct gp_diag *diag)
{
	(void)diag;
	*allocator = gp_direct_create(config);
	return GP_OK;
}

static const struct gp_engine_table *const tables[] = {
	&textbook_first_fit, &textbook_best_fit, &textbook_next_fit,
	&textbook_tlsf,	     &textbook_buddy,	 &textbook_slab,
	&textbook_arena,     &textbook_bfc,	 &textbook_cupy,
	&textbook_stitch,    &textbook_plan,
};

/* The plug-in table with the engine's name. */
static enum gp_status create_table(const struct gp_allocator_config *config,
				   struct gp_allocator **allocator,
				   struct gp_diag *diag)
{
	size_t i = 0;

	while (!engine_is_named(config->engine, tables[i]->name))
		i++;
	return keeper_create(tables[i], config, allocator, diag);
}

/* ---- the registry ---- */

/* caching/variant.c */
static const struct gp_engine_setting caching_settings[] = {
	{ "device", "cuda|hip|xpu|npu", 0, 0, "cuda",
	  "PyTorch's allocator for this device, where it decides differently: "
	  "AMD's, Intel's or Ascend's." },
	{ "ties", "release|address|object|segment", 0, 0, "release",
	  "Which of equal free blocks is taken: the one at the lowest address, "
	  "the one created first, or the one in the oldest segment." },
	{ "reuse_oversize", "true|false", 0, 0, "false",
	  "In expandable segments, max_split_size_mb keeps no free block from "
	  "serving a request: pytorch #193400." },
	{ "search_again", "true|false", 0, 0, "false",
	  "Before it fails, a request searches what the retry has freed: "
	  "pytorch #191302." },
	{ 0 },
};

static const struct gp_engine_setting bfc_settings[] = {
	{ "fraction", NULL, 0.01, 1, "1",
	  "Share of the device's memory that it may hold; 0.75 in JAX." },
	{ "preallocate", "true|false", 0, 0, "false",
	  "It takes all of that at once, as JAX does by default." },
	{ "garbage_collection", "true|false", 0, 0, "true",
	  "Free regions are released before memory runs out, as in TensorFlow; "
	  "false in JAX." },
	{ "fragmentation", NULL, 0, 1, "0",
	  "A chunk that exceeds the request by this share of the limit is "
	  "split; 0: by 128 MiB." },
	{ 0 },
};

static const struct gp_engine_setting plan_settings[] = {
	{ "known", NULL, 0, 1, "1",
	  "The share of requests that the plan knows." },
	{ "rest", "first-fit|idle", 0, 0, "first-fit",
	  "How the others are placed: first fit; or, as in STAlloc, where the "
	  "plan leaves memory idle for as long as each of them lives, which "
	  "profiles show." },
	{ 0 },
};

#define TABLE(called, about, ...)                                              \
	{                                                                      \
		.name = called, .sentence = about, .create = create_table,     \
		__VA_ARGS__                                                    \
	}

#define HOST(called, about, package)                                           \
	{                                                                      \
		.name = #called,                                               \
		.sentence = about ", in a process of its own",                 \
		.needs = package,                                              \
		.keeps = "its own bookkeeping, and what it cannot release",    \
		.settings = host_##called##_settings, .create = gp_host_create \
	}

static const struct gp_engine engines[] = {
	{ .name = "caching",
	  .sentence = "PyTorch's caching allocator",
	  .settings = caching_settings,
	  .create = create_caching },
	{ .name = "direct",
	  .sentence = "one cudaMalloc per request: the baseline",
	  .create = create_direct },
	{ .name = "torch",
	  .sentence = "PyTorch's own allocator, from a wheel",
	  .needs = "a wheel of PyTorch",
	  .create = gp_torch_create },
	{ .name = "async",
	  .sentence = "cudaMallocAsync and the device's pool",
	  .simulated = "the driver places its memory; reserved is the least "
		       "that any placement needs, and the pool of a GPU may "
		       "hold more",
	  .create = gp_async_create },
	{ .name = "managed",
	  .sentence = "one cudaMallocManaged per request",
	  .simulated = "the driver moves its pages between host and device, "
		       "which takes time that only a GPU shows; memory beyond "
		       "the device's is the host's",
	  .beyond = "the host's",
	  .create = gp_managed_create },
	{ .name = "pinned",
	  .sentence =
		  "PyTorch's allocator of pinned host memory, for the requests "
		  "for it in a snapshot; the device represents the host",
	  .create = gp_pinned_create },
	TABLE("first-fit",
	      "one heap: the lowest free range that is long enough"),
	TABLE("best-fit",
	      "one heap: the smallest free range that is long enough"),
	TABLE("next-fit",
	      "one heap: first fit, from where the last block was found"),
	TABLE("tlsf", "one heap: two-level segregated fit, a good fit in "
		      "constant time"),
	TABLE("buddy", "the buddy system: powers of two, halved and joined"),
	TABLE("slab",
	      "slabs of 2 MiB by size class up to 1 MiB, first fit beyond"),
	TABLE("arena", "blocks one after the other, reused only from marks on"),
	TABLE("bfc", "best fit with coalescing, of JAX and TensorFlow",
	      .settings = bfc_settings,
	      .keeps = "there is no call that releases it"),
	TABLE("cupy", "CuPy's memory pool"),
	TABLE("stitch", "pages of 2 MiB from free blocks, mapped one after "
			"another: GMLake"),
	TABLE("plan",
	      "an offline plan of the trace's own lifetimes: STAlloc's idea",
	      .settings = plan_settings),
	HOST(glibc, "malloc of the GNU C library", "libc6"),
	HOST(jemalloc, "jemalloc's malloc", "libjemalloc2"),
	HOST(tcmalloc, "gperftools' malloc", "libtcmalloc-minimal4"),
	HOST(mimalloc, "mimalloc's malloc", "libmimalloc2.0"),
};

const struct gp_engine *gp_engine_table(size_t *count)
{
	*count = sizeof(engines) / sizeof(*engines);
	return engines;
}

const struct gp_engine *engine_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		if (strlen(engines[i].name) == length &&
		    !memcmp(engines[i].name, name, length))
			return &engines[i];
	return NULL;
}

const struct gp_engine *gp_engine_find(const char *name)
{
	return engine_find(name, strlen(name));
}

bool gp_engine_is_of_host(const struct gp_engine *engine)
{
	return engine && engine->create == gp_pinned_create;
}

bool gp_engine_is_malloc(const struct gp_engine *engine)
{
	return engine->create == gp_host_create;
}

void gp_state_release(struct gp_state *state)
{
	free((void *)state->segments);
	free((void *)state->blocks);
	*state = (struct gp_state){ 0 };
}
