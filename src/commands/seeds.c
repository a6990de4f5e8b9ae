/* SPDX-License-Identifier: MIT */
#include "commands/seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "commands/command.h"
#include "commands/output.h"

#define MOST_SEEDS 1000

static const char drawn[] = "drawn:";

/* Nothing is asked for but one recording. */
static bool is_one(const struct gp_options *options)
{
	return !options->seeds;
}

static enum gp_status check(const struct gp_options *options,
			    struct gp_diag *diag)
{
	gp_diag_file(diag, options->command);
	if (options->seeds > MOST_SEEDS)
		return gp_diag_set(diag, GP_USAGE,
				   "--seeds %" PRIu64 ": it takes 1 to %d",
				   options->seeds, MOST_SEEDS);
	if (options->values &&
	    strncmp(options->values, drawn, strlen(drawn)) != 0) {
		gp_diag_hint(diag, "--values drawn:1 --seeds 5");
		return gp_diag_set(diag, GP_USAGE,
				   "--seeds: --values %s draws nothing",
				   options->values);
	}
	return GP_OK;
}

/* trace.json -> trace.seed2.json */
static void name(const char *output, uint64_t seed, char path[PATH_MAX])
{
	const char *base = strrchr(output, '/');
	const char *dot = strchr(base ? base + 1 : output, '.');
	int stem = (int)(dot ? (size_t)(dot - output) : strlen(output));

	snprintf(path, PATH_MAX, "%.*s.seed%" PRIu64 "%s", stem, output, seed,
		 dot ? dot : "");
}

static void keep(struct gp_seeds *s, const struct gp_recording *recording,
		 uint64_t seed, const char *path)
{
	uint64_t peak = recording->peak_reserved;

	if (!s->count || peak < s->least)
		s->least = peak;
	if (!s->count || peak > s->most) {
		s->most = peak;
		s->worst = seed;
		snprintf(s->output, sizeof(s->output), "%s", path);
		s->recording->count = recording->count;
		s->recording->peak_allocated = recording->peak_allocated;
		s->recording->peak_reserved = recording->peak_reserved;
	}
	s->recording->ending = recording->ending;
	s->count++;
}

static enum gp_status record(struct gp_seeds *s, uint64_t seed,
			     struct gp_diag *diag)
{
	struct gp_options options = *s->recording->options;
	struct gp_recording recording = *s->recording;
	char values[40], path[PATH_MAX], bytes[GP_BYTES_TEXT];
	enum gp_status status;

	snprintf(values, sizeof(values), "%s%" PRIu64, drawn, seed);
	name(options.output ? options.output : "trace.json", seed, path);
	options.values = values;
	options.output = path;
	recording.options = &options;
	status = gp_record_program(&recording, diag);
	if (status != GP_OK && status != GP_FAILED)
		return status;
	if (!options.quiet)
		gp_notice("gpupool: seed %" PRIu64
			  ": reserved at the peak %s\n",
			  seed, gp_bytes_text(recording.peak_reserved, bytes));
	keep(s, &recording, seed, path);
	return status;
}

enum gp_status gp_record_seeds(struct gp_seeds *s, struct gp_diag *diag)
{
	const struct gp_options *options = s->recording->options;
	enum gp_status status;

	if (is_one(options)) {
		s->count = 1;
		return gp_record_program(s->recording, diag);
	}
	status = check(options, diag);
	s->first = options->values
			   ? strtoull(options->values + strlen(drawn), NULL, 10)
			   : 1;
	for (uint64_t i = 0;
	     i < options->seeds && status == GP_OK && !s->recording->ending;
	     i++)
		status = record(s, s->first + i, diag);
	return status;
}

void gp_seeds_text(const struct gp_seeds *s, char text[GP_SEEDS_TEXT])
{
	char least[GP_BYTES_TEXT], most[GP_BYTES_TEXT];

	snprintf(text, GP_SEEDS_TEXT,
		 "%" PRIu64 " seeds: reserved at the peak %s to %s, the most "
		 "with seed %" PRIu64,
		 s->count, gp_bytes_text(s->least, least),
		 gp_bytes_text(s->most, most), s->worst);
}

void gp_seeds_print(const struct gp_seeds *s)
{
	char text[GP_SEEDS_TEXT];

	if (is_one(s->recording->options) || s->count < 2)
		return;
	gp_seeds_text(s, text);
	gp_notice("gpupool: %s: %s\n", text, s->output);
}
