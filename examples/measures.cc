/* SPDX-License-Identifier: MIT */
/*
 * The measures of a run, by key, for a trace in memory, from C++.
 *
 *	c++ measures.cc $(pkg-config --cflags --libs gpupool) -o measures
 *	./measures expandable_segments:True < snapshot.pickle
 */
#include <cstdio>
#include <iostream>
#include <iterator>
#include <new>
#include <string>

#include <gpupool/gpupool.h>

static void print_measures(const gp_replay_result &result)
{
	const gp_subject peak = gp_at_peak(&result);

	for (int i = 0; i < GP_MEASURES; i++) {
		const gp_measure_id id = gp_measure_id(i);
		const gp_measure &row = gp_measures[i];

		if (row.scope == GP_SCOPE_MOMENT ||
		    gp_measure_is_known(id, &peak))
			std::printf("%s %.17g %s\n", row.key,
				    gp_measure_value(id, &peak),
				    gp_unit_name(row.unit));
	}
}

/* Called when host memory runs out: first close what has to be closed. */
static void give_up(void *, size_t bytes)
{
	std::cerr << "no memory for " << bytes << " bytes\n";
	std::quick_exit(70);
}

int main(int argc, char **argv)
{
	const std::string bytes{ std::istreambuf_iterator<char>(std::cin), {} };
	gp_input_config input{};
	gp_replay_config config{};
	gp_replay_result result;
	gp_diag diag{};
	gp_trace *trace;

	gp_memory_handle(give_up, nullptr);
	input.path = "standard input";
	input.bytes = bytes.data();
	input.length = bytes.size();
	gp_status status = gp_input_read(&input, &trace, &diag);
	if (status == GP_OK) {
		config.trace = trace;
		config.mode = GP_WHAT_IF;
		config.conf = argc > 1 ? argv[1] : "";
		status = gp_replay(&config, &result, &diag);
		if (status == GP_OK) {
			print_measures(result);
			gp_replay_release(&result);
		}
		gp_trace_destroy(trace);
	}
	if (status != GP_OK)
		std::cerr << diag.file << ": " << diag.what << '\n';
	return status;
}
