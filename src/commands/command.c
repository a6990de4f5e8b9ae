/* SPDX-License-Identifier: MIT */
/* The commands: one table. */
#include "commands/command.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "commands/nearest.h"

/* Of commands that take several. */
#define RANKS                                                                  \
	"TRACE may be a folder: all traces in it. Several traces are ranks "   \
	"of one job: those that are alike are replayed once, and the worst "   \
	"of them is told in full."

static const struct gp_command table[] = {
	{ "look", "TRACE...", 1, SIZE_MAX,
	  "Say on one screen what went wrong and what helps.",
	  "The same as gpupool TRACE: the verdict, the line to paste, who "
	  "holds "
	  "the memory when it ran out, or at the peak, how far to trust the "
	  "answer, and what to type for more.\n"
	  "Its long form is gpupool explain. Settings, a release or a capacity "
	  "make it a what-if.\n" RANKS,
	  GP_TAKER_LOOK, gp_look_command },
	{ "replay", "TRACE...", 1, 100000,
	  "Replay a trace and report what happened.",
	  "Without settings, the trace is replayed under the settings and the "
	  "release it was recorded with, and every address is compared with "
	  "the recorded one.\n"
	  "With settings, a release, a capacity or an engine it is a what-if "
	  "on a simulated device. A setting's own flag is added to the "
	  "recorded settings; --alloc-conf takes their place.\n" RANKS,
	  GP_TAKER_REPLAY, gp_replay_command },
	{ "suggest", "TRACE...", 1, 100000,
	  "Find the setting under which a trace fits a device.",
	  "Replays the settings that people try, each alone, at the capacity, "
	  "and names the one to use, with its line, its proof and its cost. "
	  "Where none helps, it says how much memory is missing.\n"
	  "Without --capacity, the device is the recorded one.\n"
	  "TRACE may be a folder: all traces in it. Several traces are ranks "
	  "of one job, those that are alike are replayed once, and the setting "
	  "is to serve them all.",
	  GP_TAKER_SUGGEST, gp_suggest_command },
	{ "sweep", "TRACE...", 1, 100000,
	  "Try many settings and say which is best.",
	  "Each combination of settings, releases, capacities and engines is "
	  "replayed, and they are ranked: fewest requests not served, then "
	  "least memory reserved, fewest retries, least time in device calls, "
	  "fewest settings. Those that PyTorch refuses are named.\n"
	  "Without --set, --preset, --confs or --alloc-conf it tries what "
	  "people usually try. --set changes the recorded settings, or those "
	  "of the other three.\n"
	  "TRACE may be a folder: all traces in it. With several traces, ranks "
	  "of one job, the worst one decides, and those that are alike are "
	  "replayed once.",
	  GP_TAKER_SWEEP, gp_sweep_command },
	{ "merge", "PART...", 1, 100000,
	  "Put the parts of a split sweep together.",
	  "The report is, to the byte, that of a sweep that was not split.",
	  GP_TAKER_MERGE, gp_merge_command },
	{ "headroom", "TRACE...", 1, 100000,
	  "Find the smallest device a trace runs on.",
	  "The smallest capacity without an out-of-memory error, and without a "
	  "retry, by search over replays, and what happens between. More "
	  "memory is not always better, so it says how well each answer is "
	  "known.\n"
	  "Settings are the recorded ones unless others are given; "
	  "--alloc-conf may be given more than once.\n" RANKS,
	  GP_TAKER_HEADROOM, gp_headroom_command },
	{ "explain", "TRACE...", 1, 100000,
	  "Say why memory ran out, or why it is fragmented.",
	  "At the first request that was not served, or at the peak: is it "
	  "fragmentation or capacity, which settings help, where the memory is "
	  "that is reserved and not allocated, and which blocks hold it "
	  "there.\n"
	  "Whatever is said to help was replayed, with the same memory. "
	  "Settings, a release or a capacity make it a what-if.\n" RANKS,
	  GP_TAKER_EXPLAIN, gp_explain_command },
	{ "floor", "TRACE", 1, 1,
	  "Say how little memory would do, and pack it.",
	  "The most that is live at once, which no allocator can do without; "
	  "the best packing found of the same lifetimes, all streams and pools "
	  "in one range; and what makes up the rest of what the run reserves.\n"
	  "TRACE may be minimalloc's CSV: id,lower,upper,size and more. Then "
	  "--capacity is what it is to fit, and the exit status is 1 when no "
	  "packing is found that does.",
	  GP_TAKER_FLOOR, gp_floor_command },
	{ "info", "TRACE...", 1, 100000, "Say what is in a trace.", RANKS,
	  GP_TAKER_INFO, gp_info_command },
	{ "convert", "IN OUT", 1, 2,
	  "Write a trace in another format, or a run for other tools.",
	  "OUT's name says the format: .json, .jsonl, .gpt or .bin, each also "
	  "with .gz or .zst behind it. - is standard output, as JSON unless "
	  "--to says otherwise.\n"
	  "With --run the trace is replayed, as recorded or as the settings "
	  "ask, and what the allocator did is written: .pickle is a snapshot "
	  "that PyTorch's memory_viz shows, .perfetto.json is for "
	  "ui.perfetto.dev, .speedscope.json and .folded are memory at the "
	  "peak by stack, .csv is one row for each event.",
	  GP_TAKER_CONVERT, gp_convert_command },
	{ "verify", "TRACE...", 1, SIZE_MAX,
	  "Compare every decision with PyTorch's own.",
	  "The trace's requests go through gpupool's allocator and through "
	  "PyTorch's own libc10_cuda.so, side by side on the simulated device. "
	  "Each action and each counter is compared, and the first difference "
	  "is shown with what stood around it.\n"
	  "Settings and release are the recorded ones unless others are given. "
	  "Needs PyTorch's allocator of that release: make torch-engine "
	  "TORCH=2.15.0, or --torch-lib.\n"
	  "With --device cuda a replay on the first GPU is compared with the "
	  "simulated one instead. Several traces are told in a table.",
	  GP_TAKER_VERIFY, gp_verify_command },
	{ "slice", "IN OUT", 2, 2, "Cut out a part that replays on its own.",
	  "Events from --from up to, but not including, --to, numbered as in "
	  "reports. Memory as it is by then becomes the part's start state.",
	  GP_TAKER_SLICE, gp_slice_command },
	{ "gen", "[SCENARIO [NAME=VALUE...]]", 0, 32,
	  "Make up a trace of a known pattern.",
	  "Without operands the scenarios and their parameters are listed. "
	  "The trace goes to -o FILE, whose name says the format, or to "
	  "standard output; what the program needs by its own account goes to "
	  "standard error.",
	  GP_TAKER_GEN, gp_gen_command },
	{ "check", "[gpupool.json]...", 0, SIZE_MAX,
	  "Hold runs to their limits and their baseline.",
	  "The file lists runs: {\"runs\": [{\"name\": \"train\", \"trace\": "
	  "\"train.pickle\"}]}. Each is replayed and its numbers are compared "
	  "with those in gpupool.baseline.json beside it, which --update "
	  "writes. Without limits of its own nothing may get worse: reserved, "
	  "allocated, retries, OOMs and fidelity.\n"
	  "Exit 0: all limits are kept; 1: a run got worse, and the report "
	  "says what, by how much and from where on; 3: a trace or a baseline "
	  "is missing, stale or not understood. man gpupool-check has the "
	  "keys of the file.",
	  GP_TAKER_CHECK, gp_check_command },
	{ "diff", "A [B]", 1, 2, "Say what a change in memory is made of.",
	  "A and B are two traces, or two reports that replay --format json "
	  "wrote. How much more B reserves at its peak is divided into live "
	  "set, rounding, pending free, streams, pools and packing, which add "
	  "up; "
	  "then by source line and by size, as far as the traces tell.\n"
	  "Traces are replayed as they were recorded, or both under the "
	  "settings given. One trace alone is compared with itself under "
	  "those settings.",
	  GP_TAKER_DIFF, gp_diff_command },
	{ "record", "-- COMMAND...", 0, SIZE_MAX,
	  "Run a PyTorch program without a GPU and keep its trace.",
	  "The program is not changed and runs on the PyTorch that it has, "
	  "over "
	  "a CUDA without a device: memory, streams and events behave, kernels "
	  "compute nothing, and what is copied from the device is zeros. Its "
	  "output and its exit status are its own.\n"
	  "The trace is kept whatever way the program ends. Several processes "
	  "that use a device give a trace each: trace.1.json, trace.2.json.",
	  GP_TAKER_RECORD, gp_record_command },
	{ "bench", "[TRACE]", 0, 1, "Measure a GPU's memory calls, or gpupool.",
	  "Times each call that an allocator makes, by size, on a GPU that "
	  "should do nothing else, and writes it as a list of prices. Asks for "
	  "a quarter of the free memory at most and gives all of it back.\n"
	  "Needs the CUDA runtime, which PyTorch brings along, and NVIDIA's "
	  "driver, but no toolkit.\n"
	  "With a TRACE it times gpupool instead: reading it, and replaying it "
	  "on a simulated device.",
	  GP_TAKER_BENCH, gp_bench_command },
	{ "help", "[COMMAND]", 0, 1, "Explain a command, or a topic.", NULL,
	  GP_TAKER_HELP, gp_help_run },
	{ "version", "", 0, 0, "Print the version.", NULL, GP_TAKER_HELP,
	  gp_version_run },
};

#define COMMANDS (sizeof(table) / sizeof(*table))

const struct gp_command *gp_command_table(size_t *count)
{
	*count = COMMANDS;
	return table;
}

const struct gp_command *gp_command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

enum gp_status gp_command_unknown(const char *name, struct gp_diag *diag)
{
	const char *names[COMMANDS], *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = table[i].name;
	near = gp_nearest(name, names, COMMANDS);
	if (near)
		gp_diag_hint(diag, "did you mean %s?", near);
	else
		gp_diag_hint(diag, "see: gpupool help");
	return gp_diag_set(diag, GP_USAGE, "there is no command %s", name);
}
