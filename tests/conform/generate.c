/* SPDX-License-Identifier: MIT */
/*
 * generate SEED [CLASS] prints a trial, as a gpupool-trace whose first line has
 * the flags to run it with. generate --classes prints the names of the classes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts/author.h"

static int usage(void)
{
	size_t count;
	const struct trial_class *classes = trial_class_table(&count);

	fprintf(stderr, "usage: generate SEED [CLASS]\n");
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "  %-22s %s\n", classes[i].name,
			classes[i].sentence);
	return 2;
}

static int list_classes(void)
{
	size_t count;
	const struct trial_class *classes = trial_class_table(&count);

	for (size_t i = 0; i < count; i++)
		puts(classes[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	const struct trial_class *of;
	struct trial trial;
	char *end = NULL;
	uint64_t seed;

	if (argc == 2 && !strcmp(argv[1], "--classes"))
		return list_classes();
	errno = 0;
	seed = argc > 1 ? strtoull(argv[1], &end, 10) : 0;
	if (argc < 2 || argc > 3 || errno || *end || end == argv[1])
		return usage();
	of = argc == 3 ? trial_class_find(argv[2]) : trial_class_of_seed(seed);
	if (!of)
		return usage();
	author_write(&trial, seed, of);
	trial_print(&trial, stdout);
	trial_release(&trial);
	return fflush(stdout) ? 4 : 0;
}
