/* SPDX-License-Identifier: MIT */
/* Stacks of runs that are written: as deep as allowed, and no deeper. */
#include <stdlib.h>

#include "report/exchange/exchange.h"
#include "suite.h"
#include "trace_text.h"

/* Writes that many sites, each called by the one before. */
static struct gp_trace *deep(uint32_t depth)
{
	struct gp_trace *trace;
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": [",
	      out);
	for (uint32_t i = 0; i < depth; i++)
		fprintf(out, "%s\"a.py:%u f\"", i ? "," : "", i + 1);
	fputs("], \"callers\": [-1", out);
	for (uint32_t i = 1; i < depth; i++)
		fprintf(out, ", %u", i - 1);
	fputs("], \"devices\": []}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

START_TEST(the_innermost_frames_are_kept)
{
	static const uint32_t depths[] = { 1, MOST_FRAMES - 1, MOST_FRAMES,
					   MOST_FRAMES + 1, 2 * MOST_FRAMES };
	size_t (*const stacks[])(const struct gp_trace *, uint32_t,
				 uint32_t *) = { frame_stack,
						 frame_stack_shown };

	for (size_t i = 0; i < 2 * COUNT_OF(depths); i++) {
		uint32_t depth = depths[i / 2];
		size_t want = depth < MOST_FRAMES ? depth : MOST_FRAMES;
		struct gp_trace *trace = deep(depth);
		uint32_t *texts = malloc(MOST_FRAMES * sizeof(*texts));
		char frame[32];

		ck_assert_uint_eq(stacks[i % 2](trace, depth - 1, texts), want);
		for (size_t k = 0; k < want; k++) {
			snprintf(frame, sizeof(frame), "a.py:%zu f", depth - k);
			ck_assert_str_eq(trace->texts[texts[k]], frame);
		}
		free(texts);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(no_site_has_no_frames)
{
	struct gp_trace *trace = deep(1);
	uint32_t texts[MOST_FRAMES];

	ck_assert_uint_eq(frame_stack(trace, GP_NO_SITE, texts), 0);
	ck_assert_uint_eq(frame_stack_shown(trace, GP_NO_SITE, texts), 0);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_innermost_frames_are_kept, 0 },
		{ no_site_has_no_frames, 0 },
	};

	return suite_run("frame_stack", tests, COUNT_OF(tests));
}
