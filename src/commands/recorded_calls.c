/* SPDX-License-Identifier: MIT */
/*
 * What a recorded program called and nothing could answer.  The recorder leaves
 * a line for each function: how often, what was done about it, its name.
 */
#include "commands/recorded_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/tell.h"

struct names {
	char text[600];
	size_t used;
	unsigned left_out;
};

static void add(struct names *names, const char *name, uint64_t calls)
{
	size_t room = sizeof(names->text) - names->used;
	int n = snprintf(names->text + names->used, room, "%s%s (%" PRIu64 ")",
			 names->used ? ", " : "", name, calls);

	if (n > 0 && (size_t)n < room) {
		names->used += (size_t)n;
	} else {
		names->text[names->used] = 0;
		names->left_out++;
	}
}

static void tell(const struct names *names, const char *what)
{
	if (!names->used)
		return;
	gp_tell("gpupool: %s: %s", what, names->text);
	if (names->left_out)
		fprintf(stderr, " and %u more", names->left_out);
	fprintf(stderr, "\n");
}

/* cudnnGetVersion: 92600 is 9.26.0, 8902 is 8.9.2. */
static void tell_version(unsigned version)
{
	unsigned major = version >= 90000 ? 10000 : 1000;

	fprintf(stderr, "gpupool: cuDNN %u.%u.%u", version / major,
		version % major / 100, version % 100);
}

/* "91002" of a cuDNN that plans, or "90100 why it does not". */
static void tell_plans(uint64_t plans, const char *of)
{
	unsigned version = 0;
	int n = 0;

	sscanf(of, "%u %n", &version, &n);
	if (!of[n] && !plans)
		return;
	if (version)
		tell_version(version);
	else
		fprintf(stderr, "gpupool: cuDNN");
	if (plans)
		fprintf(stderr,
			" was asked for the workspace of %" PRIu64 " plans",
			plans);
	if (of[n])
		gp_tell("%s gives none: %s", plans ? ", and now" : "", of + n);
	fprintf(stderr, "\n");
}

/* Plans that nobody gave have no workspace; what would give them. */
static void hint(const struct names *sizes)
{
	if (strstr(sizes->text, "cudnnBackendGetAttribute"))
		fprintf(stderr,
			"gpupool: cudnnBackendGetAttribute tells workspaces "
			"of convolutions and attention; a cuDNN from 9.8 on "
			"would be asked for them, installed with PyTorch or "
			"named by --cudnn\n");
}

void gp_recorded_calls_tell(const char *path)
{
	struct names sizes = { .text = "" }, answers = { .used = 0 },
		     refused = { .used = 0 }, deserted = { .used = 0 };
	char name[320], kind[16];
	uint64_t calls;
	FILE *file = fopen(path, "r");

	if (!file)
		return;
	while (fscanf(file, "%" SCNu64 " %15s %319[^\n]", &calls, kind, name) ==
	       3)
		if (!strcmp(kind, "plans"))
			tell_plans(calls, name);
		else
			add(!strcmp(kind, "size")	? &sizes
			    : !strcmp(kind, "answer")	? &answers
			    : !strcmp(kind, "deserted") ? &deserted
							: &refused,
			    name, calls);
	fclose(file);
	tell(&sizes, "told as 0, as only the real libraries know these sizes");
	hint(&sizes);
	tell(&answers, "not known, and answered with success");
	tell(&deserted, "other ranks ended or stood still; from there on what "
			"comes from them is what this rank sent");
	tell(&refused, "not known, and refused as not supported");
}
