/* SPDX-License-Identifier: MIT */
/* The releases of a run, and the outcomes of its trials in each. */
#include "gpupool/knob.h"
#include "tally.h"

#include <inttypes.h>
#include <unistd.h>

bool tally_add(struct tally *tally, const char *engines, const char *name)
{
	struct tally_release *release = &tally->releases[tally->count];
	struct gp_diag diag = { 0 };

	if (tally->count == TALLY_MOST ||
	    gp_release_parse(name, &release->minor, &diag) != GP_OK) {
		fprintf(stderr, "%s: %s\n", name, diag.what);
		return false;
	}
	release->name = name;
	snprintf(release->folder, sizeof(release->folder), "%s/%s", engines,
		 name);
	if (access(release->folder, F_OK)) {
		printf("skip PyTorch %s: it is not prepared: "
		       "make torch-engine TORCH=%s\n",
		       name, name);
		tally->missing++;
		return true;
	}
	tally->count++;
	return true;
}

static bool is_passed(enum verdict verdict)
{
	return verdict == VERDICT_EQUAL || verdict == VERDICT_ORDER;
}

static bool is_failed(enum verdict verdict)
{
	return verdict == VERDICT_DIFFERENT || verdict == VERDICT_BROKEN;
}

struct sum {
	uint64_t passed, failed, skipped;
};

static void print_release(const struct tally_release *release, struct sum *sum,
			  FILE *out)
{
	fprintf(out, "PyTorch %s:", release->name);
	for (int v = 0; v < VERDICTS; v++) {
		uint64_t n = release->counts[v];

		if (n)
			fprintf(out, " %" PRIu64 " %s;", n, verdict_name(v));
		if (is_passed(v))
			sum->passed += n;
		else if (is_failed(v))
			sum->failed += n;
		else
			sum->skipped += n;
	}
	fprintf(out, "\n");
}

int tally_print(const struct tally *tally, FILE *out)
{
	struct sum sum = { .skipped = tally->missing };

	for (size_t i = 0; i < tally->count; i++)
		print_release(&tally->releases[i], &sum, out);
	fprintf(out,
		"%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n",
		sum.passed, sum.failed, sum.skipped);
	return sum.failed || (!sum.passed && !tally->missing);
}
