/* SPDX-License-Identifier: MIT */
/* Goldens: hashes of outcomes, and the lines of their files. */
#include "golden.h"

#include <inttypes.h>

#include "gpupool/knob.h"
#include "figures.h"

/* ---- hashes ---- */

/* One round of FNV-1a on 64 bits, with a shift by which high bits affect low
 * ones. */
static void mix(uint64_t *hash, uint64_t number)
{
	*hash = (*hash ^ number) * UINT64_C(0x100000001b3);
	*hash ^= *hash >> 29;
	*hash *= UINT64_C(0x9e3779b97f4a7c15);
	*hash ^= *hash >> 32;
}

static void mix_number(void *arg, uint64_t number)
{
	mix(arg, number);
}

static uint32_t short_of(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

void digest_init(struct digest *digest)
{
	const uint64_t basis = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < GOLDEN_QUARTERS; i++)
		digest->deeds[i] = basis;
	digest->counters = basis;
	digest->state = basis;
}

static void add_deed(struct digest *digest, const struct deed *deed,
		     uint64_t events, uint8_t release)
{
	const struct gp_action *action = &deed->action;
	uint64_t *hash =
		&digest->deeds[deed->event * GOLDEN_QUARTERS / (events + 1)];

	mix(hash, deed->event);
	mix(hash, action->kind);
	mix(hash, action->stream);
	mix(hash, action->id);
	mix(hash, action->addr);
	mix(hash, action->size);
	if (deed_has_pool(release))
		mix(hash, action->pool);
}

void digest_add(struct digest *digest, const struct outcome *outcome,
		uint64_t events)
{
	for (size_t i = 0; i < outcome->count; i++)
		add_deed(digest, &outcome->deeds[i], events, outcome->release);
	figures_counters(outcome, mix_number, &digest->counters);
	figures_state(outcome, mix_number, &digest->state);
}

/* ---- lines ---- */

void golden_print(const struct golden *golden, FILE *out)
{
	const char *between = " ";

	fprintf(out, "%" PRIu64, golden->seed);
	for (int i = 0; i <= GP_RELEASE_LAST; i++) {
		if (!(golden->releases >> i & 1))
			continue;
		fprintf(out, "%s%d", between, i);
		between = ",";
	}
	fprintf(out, " ");
	for (int i = 0; i < GOLDEN_QUARTERS; i++)
		fprintf(out, "%08" PRIx32, short_of(golden->digest.deeds[i]));
	fprintf(out, " %08" PRIx32 " %08" PRIx32 "\n",
		short_of(golden->digest.counters),
		short_of(golden->digest.state));
}

static uint32_t scan_releases(const char *text)
{
	uint32_t releases = 0;
	unsigned minor;
	int used;

	while (sscanf(text, "%u%n", &minor, &used) == 1 &&
	       minor <= GP_RELEASE_LAST) {
		releases |= UINT32_C(1) << minor;
		text += used;
		text += *text == ',';
	}
	return releases;
}

/* A hash that was read is already short. */
bool golden_scan(struct golden *golden, const char *line)
{
	uint32_t deeds[GOLDEN_QUARTERS], counters, state;
	char releases[64];

	*golden = (struct golden){ 0 };
	if (sscanf(line,
		   "%" SCNu64 " %63s %8" SCNx32 "%8" SCNx32 "%8" SCNx32
		   "%8" SCNx32 " %8" SCNx32 " %8" SCNx32,
		   &golden->seed, releases, &deeds[0], &deeds[1], &deeds[2],
		   &deeds[3], &counters, &state) != 8)
		return false;
	for (int i = 0; i < GOLDEN_QUARTERS; i++)
		golden->digest.deeds[i] = deeds[i];
	golden->digest.counters = counters;
	golden->digest.state = state;
	golden->releases = scan_releases(releases);
	return golden->releases;
}

static bool equal(uint64_t a, uint64_t b)
{
	return short_of(a) == short_of(b);
}

const char *digest_difference(const struct digest *a, const struct digest *b)
{
	static const char *const quarters[] = {
		"actions in the first quarter of the requests",
		"actions in the second quarter of the requests",
		"actions in the third quarter of the requests",
		"actions in the last quarter of the requests",
	};

	for (int i = 0; i < GOLDEN_QUARTERS; i++)
		if (!equal(a->deeds[i], b->deeds[i]))
			return quarters[i];
	if (!equal(a->counters, b->counters))
		return "counters";
	return equal(a->state, b->state) ? NULL : "memory at the end";
}
