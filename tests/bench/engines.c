/* SPDX-License-Identifier: MIT */
/*
 * The processor time of engines for an event, also as a multiple of caching's,
 * in one run: the minimum of N replays each.
 *
 *	cc -O2 -Iinclude tests/bench/engines.c build/libgpupool.a \
 *		-ljansson -lz -lzstd -lm -lpthread -o engines
 *	./engines TRACE N caching first-fit tlsf ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gpupool/gpupool.h>

static double now(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Seconds; none: 0. */
static double replay(const struct gp_trace *trace, const char *engine)
{
	const struct gp_replay_config config = {
		.trace = trace,
		.conf = "",
		.engine = gp_engine_find(engine),
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	double start = now();

	if (!config.engine || gp_replay(&config, &result, &diag) != GP_OK) {
		fprintf(stderr, "%s: %s\n", engine, diag.what);
		return 0;
	}
	start = now() - start;
	gp_replay_release(&result);
	return start;
}

int main(int argc, char **argv)
{
	struct gp_input_config input = { .path = argc > 3 ? argv[1] : "-" };
	struct gp_diag diag = { 0 };
	struct gp_trace *trace;
	double events, *least = calloc((size_t)argc, sizeof(*least));

	if (!least || gp_input_read(&input, &trace, &diag) != GP_OK) {
		fprintf(stderr, "%s\n", diag.what);
		return 1;
	}
	for (int n = atoi(argv[2]); n > 0; n--)
		for (int i = 3; i < argc; i++) {
			double time = replay(trace, argv[i]);

			if (!least[i] || time < least[i])
				least[i] = time;
		}
	events = (double)trace->devices[0].event_count;
	for (int i = 3; i < argc; i++)
		printf("%-10s %6.1f ns %5.2f\n", argv[i],
		       least[i] / events * 1e9, least[i] / least[3]);
	gp_trace_destroy(trace);
	free(least);
	return 0;
}
