/* SPDX-License-Identifier: MIT */
/* A recording against its replay: addresses, and the counters at the end. */
#include "commands/proof.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "report/number.h"

struct counting {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	struct gp_proof *proof;
};

static const struct gp_counter *find(const struct counting *c, const char *key)
{
	for (size_t i = 0; i < c->device->counter_count; i++) {
		const struct gp_counter *counter = &c->device->counters[i];

		if (!strcmp(c->trace->texts[counter->text], key))
			return counter;
	}
	return NULL;
}

/* What the recording does not have is not compared. */
static void compare(void *arg, const char *key, int64_t value)
{
	const struct counting *c = arg;
	const struct gp_counter *counter = find(c, key);
	struct gp_proof *proof = c->proof;

	if (!counter)
		return;
	proof->counters++;
	if (counter->value == value) {
		proof->same_counters++;
	} else if (!*proof->name) {
		snprintf(proof->name, sizeof(proof->name), "%s", key);
		proof->recorded = counter->value;
		proof->replayed = value;
	}
}

struct gp_proof gp_proof_of(const struct gp_plan *plan)
{
	struct gp_proof proof = { 0 };

	for (size_t i = 0; i < plan->trace->device_count; i++) {
		const struct gp_replay_result *result = &plan->results[i];
		struct counting counting = { plan->trace,
					     &plan->trace->devices[i], &proof };

		proof.allocs += result->allocs;
		proof.addresses += result->fidelity.checked;
		proof.same_addresses += result->fidelity.matched;
		gp_stats_each(plan->trace, result, plan->settings.release,
			      compare, &counting);
	}
	return proof;
}

bool gp_proof_is_exact(const struct gp_proof *proof)
{
	return proof->addresses == proof->same_addresses &&
	       proof->counters == proof->same_counters;
}

const char *gp_proof_text(const struct gp_proof *proof,
			  char text[GP_PROOF_TEXT])
{
	char a[GP_COUNT_TEXT], b[GP_COUNT_TEXT];
	size_t n;

	n = (size_t)snprintf(text, GP_PROOF_TEXT, "%s of %s addresses",
			     gp_count_text(proof->same_addresses, a),
			     gp_count_text(proof->addresses, b));
	if (!proof->counters)
		return text;
	if (proof->counters == proof->same_counters)
		snprintf(text + n, GP_PROOF_TEXT - n, ", all %s counters",
			 gp_count_text(proof->counters, a));
	else
		snprintf(text + n, GP_PROOF_TEXT - n,
			 ", %s of %s counters; %s is %" PRId64
			 ", recorded %" PRId64,
			 gp_count_text(proof->same_counters, a),
			 gp_count_text(proof->counters, b), proof->name,
			 proof->replayed, proof->recorded);
	return text;
}
