/* SPDX-License-Identifier: MIT */
/* Whether what two runs did is the same. */
#include "replay/verify/deeds.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* That of an OOM is what the device had left. */
static bool has_address(const struct deed_terms *terms, uint8_t kind)
{
	return kind != GP_OOM || !terms->is_on_device;
}

bool deed_is_equal(const struct deed_terms *terms, const struct gp_deed *a,
		   const struct gp_deed *b)
{
	return a->action.kind == b->action.kind &&
	       (a->action.addr == b->action.addr ||
		!has_address(terms, a->action.kind)) &&
	       a->action.size == b->action.size &&
	       a->action.stream == b->action.stream;
}

static bool may_permute(uint8_t kind)
{
	return kind == GP_FREE_COMPLETED || kind == GP_SEGMENT_FREE ||
	       kind == GP_SEGMENT_UNMAP;
}

/* How many of one kind follow one another. */
static size_t run_length(const struct gp_deed *deeds, size_t count)
{
	size_t i = 0;

	while (i < count && deeds[i].action.kind == deeds->action.kind)
		i++;
	return i;
}

static int by_address(const void *a, const void *b)
{
	const struct gp_deed *x = a, *y = b;

	if (x->action.addr != y->action.addr)
		return x->action.addr < y->action.addr ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

size_t deeds_permuted(const struct deed_terms *terms, const struct gp_deed *a,
		      size_t a_count, const struct gp_deed *b, size_t b_count)
{
	size_t n = run_length(a, a_count), i = 0;
	struct gp_deed *x, *y;

	if (!may_permute(a->action.kind) || n != run_length(b, b_count))
		return 0;
	x = gp_mem_alloc(2 * n, sizeof(*x));
	y = x + n;
	memcpy(x, a, n * sizeof(*x));
	memcpy(y, b, n * sizeof(*y));
	qsort(x, n, sizeof(*x), by_address);
	qsort(y, n, sizeof(*y), by_address);
	while (i < n && deed_is_equal(terms, &x[i], &y[i]))
		i++;
	free(x);
	return i == n ? n : 0;
}
