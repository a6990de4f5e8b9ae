/* SPDX-License-Identifier: MIT */
/*
 * What the allocator did, action by action, and the layout of memory at the
 * peak.
 *
 *	cc walk.c $(pkg-config --cflags --libs gpupool) -o walk
 *	./walk snapshot.pickle max_split_size_mb:128
 */
#include <inttypes.h>
#include <stdio.h>

#include <gpupool/gpupool.h>

/* Called while the replay runs, with the index of the event that caused it. */
static void print_action(void *arg, const struct gp_action *action,
			 uint64_t event)
{
	(void)arg;
	printf("%" PRIu64 " %s %" PRIu64 " %" PRIu64 "\n", event,
	       action->kind == GP_FREE ? "free_requested"
				       : gp_event_kind_name(action->kind),
	       action->addr, action->size);
}

/* A segment's blocks are a range of the state's blocks, without gaps. */
static void print_state(const struct gp_state *state)
{
	static const char *const names[] = { "inactive", "active",
					     "pending free" };

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *segment = &state->segments[i];
		const struct gp_block *block =
			&state->blocks[segment->first_block];

		printf("segment %" PRIu64 "\n", segment->size);
		for (uint32_t k = 0; k < segment->blocks; k++)
			printf("  %s %" PRIu64 "\n", names[block[k].state],
			       block[k].size);
	}
}

int main(int argc, char **argv)
{
	struct gp_input_config input = { .path = argc > 1 ? argv[1] : "-" };
	struct gp_replay_config config = {
		.conf = argc > 2 ? argv[2] : "",
		.mode = GP_WHAT_IF,
		.keep_peak = true,
		.action = print_action,
	};
	struct gp_diag diag = { 0 };
	struct gp_replay_result result;
	struct gp_trace *trace;
	enum gp_status status = gp_input_read(&input, &trace, &diag);

	if (status == GP_OK) {
		config.trace = trace;
		status = gp_replay(&config, &result, &diag);
		if (status == GP_OK) {
			print_state(&result.peak);
			gp_replay_release(&result);
		}
		gp_trace_destroy(trace);
	}
	if (status != GP_OK)
		fprintf(stderr, "%s: %s\n", diag.file, diag.what);
	return status;
}
