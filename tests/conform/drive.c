/* SPDX-License-Identifier: MIT */
/*
 * drive [--engines DIR] [--seed N] [--cases N] [--class NAME] [--out DIR]
 *       [--shrinks N] [--record] RELEASE...
 *
 * Generates trials, runs each on gpupool's engine and on PyTorch's own of each
 * release (DIR/RELEASE, prepared by make torch-engine) and compares everything
 * they do.  A trial that differs is cut down and written to --out.  --record
 * prints what PyTorch did as goldens (parts/golden.h) instead of comparing.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parts/author.h"
#include "parts/contrast.h"
#include "parts/golden.h"
#include "parts/reduce.h"
#include "parts/tally.h"

#define LISTED_MOST 20 /* differences that are reported one by one */

struct drive {
	const char *engines, *out;
	uint64_t seed, cases, shrinks;
	const struct trial_class *only;
	bool records;
	struct tally tally;
	uint64_t differences, shrunk;
};

/* ---- shrinking ---- */

struct sought {
	struct contrast_with with;
	uint32_t sort;
};

/* The difference must be of the same sort, because a shorter trial may well
 * fail for another reason. */
static bool still_differs(void *arg, const struct trial *trial)
{
	const struct sought *sought = arg;
	struct contrast contrast;

	contrast_trial(&contrast, trial, &sought->with);
	return contrast.verdict == VERDICT_DIFFERENT &&
	       contrast.sort == sought->sort;
}

static void write_trial(const struct drive *drive, const struct trial *trial,
			const char *name, const struct contrast *contrast)
{
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.json", drive->out, name);
	file = fopen(path, "w");
	if (!file) {
		fprintf(stderr, "drive: %s: %s\n", path, strerror(errno));
		return;
	}
	trial_print(trial, file);
	fclose(file);
	printf("  %s (%zu requests): %s\n", path, trial->count, contrast->what);
	snprintf(path, sizeof(path), "%s/%s.txt", drive->out, name);
	file = fopen(path, "w");
	if (!file)
		return;
	fprintf(file, "PyTorch %s, device %u\n%s\n", trial->release,
		contrast->device, contrast->what);
	fclose(file);
}

static void shrink(struct drive *drive, const struct trial *trial,
		   const struct trial_class *of, uint64_t seed,
		   const struct tally_release *release, uint32_t sort)
{
	struct sought sought = {
		.with = { .release = release->minor,
			  .torch_lib = release->folder },
		.sort = sort,
	};
	const struct reducer reducer = { still_differs, &sought };
	struct contrast contrast;
	struct trial small;
	char name[128];

	drive->shrunk++;
	trial_copy(&small, trial);
	snprintf(small.release, sizeof(small.release), "2.%u", release->minor);
	reduce(&small, &reducer);
	contrast_trial(&contrast, &small, &sought.with);
	snprintf(name, sizeof(name), "%s-%" PRIu64 "-torch-%s", of->name, seed,
		 release->name);
	write_trial(drive, &small, name, &contrast);
	trial_release(&small);
}

/* ---- comparing ---- */

static void tell(struct drive *drive, const struct trial *trial,
		 const struct tally_release *release,
		 const struct contrast *contrast)
{
	if (drive->differences++ >= LISTED_MOST)
		return;
	printf("FAIL %s, PyTorch %s, device %u: %s\n", trial->about,
	       release->name, contrast->device, contrast->what);
	fflush(stdout);
}

static void compare(struct drive *drive, const struct trial *trial,
		    const struct trial_class *of, uint64_t seed)
{
	bool was_shrunk = false;

	for (size_t i = 0; i < drive->tally.count; i++) {
		struct tally_release *release = &drive->tally.releases[i];
		const struct contrast_with with = { .release = release->minor,
						    .torch_lib =
							    release->folder };
		struct contrast contrast;

		contrast_trial(&contrast, trial, &with);
		release->counts[contrast.verdict]++;
		if (contrast.verdict != VERDICT_DIFFERENT &&
		    contrast.verdict != VERDICT_BROKEN)
			continue;
		tell(drive, trial, release, &contrast);
		if (contrast.verdict == VERDICT_BROKEN || was_shrunk ||
		    drive->shrunk >= drive->shrinks)
			continue;
		was_shrunk = true;
		shrink(drive, trial, of, seed, release, contrast.sort);
	}
}

/* ---- recording ---- */

static void keep_digest(void *arg, const struct outcome *outcome,
			uint64_t events)
{
	digest_add(arg, outcome, events);
}

/* Releases with the same outcome share a line. */
static void add_golden(struct golden *goldens, size_t *count,
		       const struct golden *golden)
{
	for (size_t i = 0; i < *count; i++)
		if (!digest_difference(&goldens[i].digest, &golden->digest)) {
			goldens[i].releases |= golden->releases;
			return;
		}
	goldens[(*count)++] = *golden;
}

static void record(struct drive *drive, const struct trial *trial,
		   uint64_t seed)
{
	struct golden goldens[TALLY_MOST];
	size_t count = 0;

	for (size_t i = 0; i < drive->tally.count; i++) {
		struct tally_release *release = &drive->tally.releases[i];
		struct golden golden = { .seed = seed };
		const struct contrast_with with = {
			.release = release->minor,
			.torch_lib = release->folder,
			.outcome = keep_digest,
			.arg = &golden.digest,
		};
		struct contrast contrast;

		digest_init(&golden.digest);
		contrast_trial(&contrast, trial, &with);
		release->counts[contrast.verdict]++;
		golden.releases = UINT32_C(1) << release->minor;
		if (contrast.verdict == VERDICT_EQUAL)
			add_golden(goldens, &count, &golden);
		if (contrast.verdict == VERDICT_DIFFERENT)
			fprintf(stderr, "%s, PyTorch %s: left out: %s\n",
				trial->about, release->name, contrast.what);
	}
	for (size_t i = 0; i < count; i++)
		golden_print(&goldens[i], stdout);
}

static void run(struct drive *drive)
{
	for (uint64_t i = 0; i < drive->cases; i++) {
		uint64_t seed = drive->seed + i;
		const struct trial_class *of =
			drive->only ? drive->only : trial_class_of_seed(seed);
		struct trial trial;

		author_write(&trial, seed, of);
		if (drive->records)
			record(drive, &trial, seed);
		else
			compare(drive, &trial, of, seed);
		trial_release(&trial);
		if (isatty(STDERR_FILENO) && i % 10 == 0)
			fprintf(stderr, "\r%" PRIu64 " of %" PRIu64, i,
				drive->cases);
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

/* ---- the start ---- */

static int usage(void)
{
	fprintf(stderr,
		"usage: drive [--engines DIR] [--seed N] [--cases N]\n"
		"             [--class NAME] [--out DIR] [--shrinks N]\n"
		"             [--record] RELEASE...\n");
	return 2;
}

static bool take_option(struct drive *drive, int option)
{
	switch (option) {
	case 'e': drive->engines = optarg; return true;
	case 's': drive->seed = strtoull(optarg, NULL, 10); return true;
	case 'n': drive->cases = strtoull(optarg, NULL, 10); return true;
	case 'k': drive->shrinks = strtoull(optarg, NULL, 10); return true;
	case 'o': drive->out = optarg; return true;
	case 'r': drive->records = true; return true;
	case 'c':
		drive->only = trial_class_find(optarg);
		if (!drive->only)
			fprintf(stderr, "drive: no class %s\n", optarg);
		return drive->only;
	default: return false;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "engines", required_argument, NULL, 'e' },
		{ "seed", required_argument, NULL, 's' },
		{ "cases", required_argument, NULL, 'n' },
		{ "shrinks", required_argument, NULL, 'k' },
		{ "class", required_argument, NULL, 'c' },
		{ "out", required_argument, NULL, 'o' },
		{ "record", no_argument, NULL, 'r' },
		{ 0 },
	};
	static struct drive drive = {
		.engines = "build/torch",
		.out = ".",
		.cases = 100,
		.shrinks = 10,
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take_option(&drive, option))
			return usage();
	if (optind == argc)
		return usage();
	for (int i = optind; i < argc; i++)
		if (!tally_add(&drive.tally, drive.engines, argv[i]))
			return usage();
	run(&drive);
	return drive.records ? 0 : tally_print(&drive.tally, stdout);
}
