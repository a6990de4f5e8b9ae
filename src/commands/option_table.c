/* SPDX-License-Identifier: MIT */
/* The rows of the command line's flags. */
#include "commands/option_table.h"

#define AT(member) offsetof(struct gp_options, member)
#define REPLAY	   GP_TAKER_REPLAY
#define DIFF	   GP_TAKER_DIFF
#define SUGGEST	   GP_TAKER_SUGGEST
#define HEADROOM   GP_TAKER_HEADROOM
#define SWEEP	   GP_TAKER_SWEEP
#define SWEEPS	   (GP_TAKER_SWEEP | GP_TAKER_MERGE)
#define CHECK	   GP_TAKER_CHECK
#define INFO	   GP_TAKER_INFO
#define BENCH	   GP_TAKER_BENCH
#define CONVERT	   GP_TAKER_CONVERT
#define RUNS	   (GP_TAKER_REPLAY | GP_TAKER_VERIFY | DIFF)
#define EXPLAIN	   GP_TAKER_EXPLAIN
#define FLOOR	   GP_TAKER_FLOOR
#define LOOK	   GP_TAKER_LOOK
#define READS                                                                  \
	(RUNS | GP_TAKER_INFO | SUGGEST | HEADROOM | SWEEP | EXPLAIN | FLOOR | \
	 CONVERT | LOOK | CHECK | GP_TAKER_SLICE | GP_TAKER_GEN)
#define REPORTS                                                                \
	(GP_TAKER_REPLAY | GP_TAKER_INFO | SUGGEST | HEADROOM | DIFF |         \
	 SWEEPS | EXPLAIN | FLOOR | BENCH | LOOK)

const struct gp_option_row gp_option_table[] = {
	{ "alloc-conf", 0, CONF, AT(alloc_conf), "STRING",
	  RUNS | EXPLAIN | FLOOR | CONVERT | LOOK,
	  "Settings as PYTORCH_CUDA_ALLOC_CONF has them, in place of the "
	  "recorded ones; \"\" is PyTorch's defaults." },
	{ "alloc-conf", 0, CONFS, AT(confs), "STRING", HEADROOM,
	  "Settings as PYTORCH_CUDA_ALLOC_CONF has them, in place of the "
	  "recorded ones; \"\" is PyTorch's defaults. Given more than once, "
	  "they are compared." },
	{ "alloc-conf", 0, CONFS, AT(confs), "STRING", SWEEP,
	  "Try these settings, as PYTORCH_CUDA_ALLOC_CONF has them; may be "
	  "given more than once." },
	{ "confs", 0, TEXT, AT(confs_file), "FILE", SWEEP,
	  "Try the settings in FILE, one PYTORCH_CUDA_ALLOC_CONF a line; # "
	  "begins a remark, \"\" is PyTorch's defaults." },
	{ "preset", 0, TEXT, AT(preset), "quick|full", SWEEP,
	  "Try what people try: each usual setting by itself, or all their "
	  "combinations. quick unless anything else says what to try." },
	{ "set", 0, LIST, AT(sets), "NAME=VALUE,...", SWEEP,
	  "Try each of these values with all else: a setting by PyTorch's "
	  "name, or torch, capacity or engine. none is not set; 32..512*2 and "
	  "0.6..0.9+0.1 are ranges; all is every value that makes a "
	  "difference. May be given more than once." },
	{ "most-runs", 0, COUNT, AT(most_runs), "N", SWEEP,
	  "Where --set asks for all values, make N replays at most; 2000 "
	  "unless given." },
	{ "set", 0, LIST, AT(sets), "NAME=VALUE,...", HEADROOM,
	  "Compare each of these values with all else: a setting by PyTorch's "
	  "name, or torch. none is not set; 32..512*2 and 0.6..0.9+0.1 are "
	  "ranges. May be given more than once." },
	{ "rank-by", 0, WORD, AT(rank_by), "reserved|gap|retries|time", SWEEPS,
	  "What makes one setting better than another that serves as many "
	  "requests; reserved unless given." },
	{ "cut", 0, FLAG, AT(cut), NULL, SWEEP,
	  "Cut runs short once they reserve more than the first combination "
	  "does, or serve fewer requests, and say which." },
	{ "prices", 0, TEXT, AT(prices), "FILE",
	  SWEEP | SUGGEST | HEADROOM | EXPLAIN | LOOK,
	  "What the device's calls cost, in place of the built-in prices." },
	{ "jobs", 'j', COUNT, AT(jobs), "N", SWEEP | HEADROOM,
	  "Threads; as many as there are processors unless given." },
	{ "shard", 0, TEXT, AT(shard), "I/N", SWEEP,
	  "Do only the I-th of N parts, and write it for gpupool merge." },
	{ "resume", 0, TEXT, AT(resume), "FILE", SWEEP,
	  "Take over what FILE, an unfinished report or part, has done; it may "
	  "be the output file, which then need not be there yet." },
	{ "torch", 0, TEXT, AT(torch), "RELEASE",
	  RUNS | HEADROOM | SUGGEST | SWEEP | EXPLAIN | FLOOR | CONVERT | LOOK,
	  "Decide as this release of PyTorch does: 2.0 to 2.15, or latest." },
	{ "capacity", 0, CAPACITY, AT(capacity), "SIZE",
	  RUNS | SUGGEST | HEADROOM | SWEEP | EXPLAIN | CONVERT | LOOK,
	  "Memory of the device: 80GiB, 512MiB, a number of bytes, a device "
	  "such as h100, or unlimited." },
	{ "capacity", 0, ROOM, AT(capacity), "SIZE", FLOOR,
	  "Memory of the device, or for the spans: 80GiB, 512MiB, a number of "
	  "bytes, a device such as h100, or unlimited." },
	{ "capacity", 0, CAPACITY, AT(capacity), "SIZE", GP_TAKER_RECORD,
	  "Memory of each device, in place of what --gpu has: 80GiB, 512MiB, "
	  "a number of bytes, or that of another device, such as a100-40gb." },
	{ "gpu", 0, TEXT, AT(gpu), "NAME", GP_TAKER_RECORD,
	  "The device that the program sees: h100-80gb, which is the default, "
	  "or another in any usual spelling; help lists them." },
	{ "devices", 0, TEXT, AT(devices), "N", GP_TAKER_RECORD,
	  "How many of them, 1 to 16; 1 unless given." },
	{ "events", 0, TEXT, AT(complete), "instant|lag:N", GP_TAKER_RECORD,
	  "When work on a stream is done: at once, which is the default, or N "
	  "launches and copies later." },
	{ "steps-of", 0, TEXT, AT(steps_of), "FUNC", GP_TAKER_RECORD,
	  "Mark the calls of this Python function as steps, and nothing else. "
	  "Without it, ranges of record_function and NVTX, and steps of "
	  "optimizers, become marks." },
	{ "stacks", 0, FLAG, AT(stacks), NULL, GP_TAKER_RECORD,
	  "Keep the Python stack of each allocation; it takes time." },
	{ "times", 0, FLAG, AT(times), NULL, GP_TAKER_RECORD,
	  "Keep when each event was, on a clock that launches and copies "
	  "advance: it is made up." },
	{ "scalar", 0, TEXT, AT(scalar), "VALUE", GP_TAKER_RECORD,
	  "What the program reads from a scalar on the device, by item() and "
	  "the like, in place of 0." },
	{ "cudnn", 0, TEXT, AT(cudnn), "FILE|none", GP_TAKER_RECORD,
	  "The cuDNN library that is asked for plans and their workspace: the "
	  "one installed with PyTorch unless given." },
	{ "output", 'o', TEXT, AT(output), "FILE", GP_TAKER_RECORD,
	  "The trace, trace.json unless given; its name says the format as "
	  "convert's does." },
	{ "engine", 0, TEXT, AT(engine), "NAME", REPLAY,
	  "The allocator: caching decides as PyTorch's does, torch is "
	  "PyTorch's own, direct asks the device for each request; async is "
	  "cudaMallocAsync, managed is cudaMallocManaged, of which a GPU tells "
	  "most." },
	{ "engine", 0, TEXT, AT(engine), "NAME", GP_TAKER_VERIFY,
	  "With --device cuda: the allocator whose replay there is compared, "
	  "caching unless given; torch is PyTorch's own." },
	{ "engine", 0, TEXT, AT(engine), "NAME", SWEEP | CONVERT,
	  "The allocator: caching decides as PyTorch's does, torch is "
	  "PyTorch's own, direct asks the device for each request." },
	{ "pool-threshold", 0, TEXT, AT(pool_threshold), "SIZE", REPLAY,
	  "Of the engine async: what the pool keeps when somebody waits; "
	  "unlimited unless given, as PyTorch has it. CUDA's default is 0." },
	{ "pool-reuse", 0, TEXT, AT(pool_reuse),
	  "events,opportunistic,internal", REPLAY,
	  "Of the engine async: when memory freed on one stream may serve "
	  "another; all three unless given. none: never." },
	{ "pool-keep", 0, TEXT, AT(pool_keep), "SIZE", REPLAY,
	  "Of the engine async: what empty_cache leaves in the pool; 0 unless "
	  "given." },
	{ "torch-lib", 0, TEXT, AT(torch_lib), "PATH",
	  (RUNS & ~DIFF) | SWEEP | CONVERT,
	  "PyTorch's own allocator: a wheel, a folder with an unpacked one or "
	  "site-packages, or what make torch-engine made. Without it, one is "
	  "looked for beside the program and in the cache." },
	{ "device", 0, WORD, AT(device), "sim|cuda", REPLAY,
	  "The device: a simulated one, or the first GPU, whose memory is "
	  "taken and whose calls are timed." },
	{ "device", 0, WORD, AT(device), "sim|cuda", GP_TAKER_VERIFY,
	  "cuda: compare the replay on the first GPU, whose memory is taken, "
	  "with the simulated one." },
	{ "check-memory", 0, FLAG, AT(check_memory), NULL,
	  REPLAY | GP_TAKER_VERIFY,
	  "With --device cuda: write into each block that is handed out, and "
	  "read it again before it is freed. Exit 1 if another block's owner "
	  "wrote there." },
	{ "device", 0, WORD, AT(device), "sim|cuda", BENCH,
	  "The device; cuda is the first GPU, and what can be measured." },
	{ "cudart", 0, TEXT, AT(cudart), "PATH",
	  REPLAY | BENCH | GP_TAKER_VERIFY,
	  "The CUDA runtime, libcudart.so.12 for example, in place of what "
	  "GPUPOOL_CUDART names, the system's loader finds or python3's "
	  "PyTorch has." },
	{ "about", 0, FLAG, AT(about), NULL, BENCH,
	  "With --device cuda: tell of the GPU, its driver, its runtime and "
	  "its memory, and measure nothing." },
	{ "prices-out", 0, TEXT, AT(prices_out), "FILE", BENCH,
	  "Write what the calls take as a list of prices, for "
	  "gpupool sweep." },
	{ "repeat", 0, COUNT, AT(repeat), "N", BENCH,
	  "How often each call is made, 200 times unless given; of a trace, "
	  "how "
	  "often it is read and replayed, 10 times." },
	{ "on-oom", 0, WORD, AT(on_oom), "go-on|stop", REPLAY | CONVERT,
	  "What follows a request that does not fit: the next one, or the "
	  "end." },
	{ "compare", 0, FLAG, AT(compare), NULL, REPLAY | HEADROOM,
	  "Replay as recorded too, and show both side by side." },
	{ "from", 0, COUNT, AT(from_event), "EVENT", GP_TAKER_SLICE,
	  "The first event of the part; 0 unless given." },
	{ "from", 0, TEXT, AT(from_trace), "TRACE", GP_TAKER_GEN,
	  "The trace whose histogram it is made after." },
	{ "to", 0, COUNT, AT(to_event), "EVENT", GP_TAKER_SLICE,
	  "The first event behind the part; all unless given." },
	{ "points", 0, COUNT, AT(points), "N", HEADROOM,
	  "Capacities of the curve, beside the answers; 0: no curve. 12 "
	  "unless given, and 0 with --set." },
	{ "tries", 0, COUNT, AT(tries), "N", HEADROOM,
	  "Replays at most to make sure of each answer; 4000 unless given." },
	{ "round", 0, BYTES, AT(round), "SIZE", FLOOR,
	  "Sizes are rounded up to a multiple of that; 512, as PyTorch does, "
	  "unless given." },
	{ "steps", 0, COUNT, AT(steps), "N", FLOOR,
	  "Millions of steps at most to look for a packing; 2147 unless "
	  "given." },
	{ "without", 0, LIST, AT(without), "NAME",
	  SUGGEST | EXPLAIN | HEADROOM | SWEEP | LOOK,
	  "A setting that cannot be used, such as expandable_segments; may be "
	  "given more than once." },
	{ "fail-over", 0, TEXT, AT(fail_over), "AMOUNT", DIFF,
	  "Exit 1 when B reserves more than that more: 2%, 100MiB, 0." },
	{ "strict", 0, FLAG, AT(strict), NULL, GP_TAKER_RECORD,
	  "Exit 1 if the program read values that nobody knows: it may take "
	  "another path on a GPU." },
	{ "strict", 0, FLAG, AT(strict), NULL, REPLAY,
	  "Exit 1 unless every recorded address is matched." },
	{ "format", 0, WORD, AT(format),
	  "text|json|memory-summary|memory-summary-abbreviated|html|svg",
	  REPLAY,
	  "For a person, for a program, as torch.cuda.memory_summary() prints "
	  "it, as a page for a browser, or as a drawing." },
	{ "format", 0, WORD, AT(format), "text|json|csv", HEADROOM,
	  "For a person, for a program, or the curve as a table." },
	{ "format", 0, WORD, AT(format), "text|json|csv", FLOOR,
	  "For a person, for a program, or the packing as minimalloc's CSV, "
	  "which is also what -o FILE.csv means." },
	{ "format", 0, WORD, AT(format), "text|json|csv|markdown|html", SWEEPS,
	  "For a person, for a program, as a table, or as a page for a "
	  "browser." },
	{ "format", 0, WORD, AT(format), "text|json",
	  GP_TAKER_INFO | DIFF | SUGGEST | BENCH | LOOK,
	  "For a person, or for a program." },
	{ "format", 0, WORD, AT(format), "text|json|html", EXPLAIN,
	  "For a person, for a program, or as a page for a browser." },
	{ "format", 0, WORD, AT(to), "json|jsonl|binary",
	  GP_TAKER_GEN | GP_TAKER_SLICE,
	  "The format to write, where the file's name does not say." },
	{ "run", 0, FLAG, AT(run), NULL, GP_TAKER_CONVERT,
	  "Replay the trace and write the run, in a format of other tools." },
	{ "to", 0, WORD, AT(to),
	  "json|jsonl|binary|pickle|perfetto|speedscope|folded|csv",
	  GP_TAKER_CONVERT,
	  "The format to write, where the file's name does not say; from "
	  "pickle on they are a run's." },
	{ "format", 0, WORD, AT(to),
	  "json|jsonl|binary|pickle|perfetto|speedscope|folded|csv",
	  GP_TAKER_CONVERT, "The same as --to." },
	{ "anonymous", 0, FLAG, AT(anonymous), NULL,
	  GP_TAKER_CONVERT | GP_TAKER_SLICE,
	  "Number source lines and marks in place of their names, to show "
	  "the trace to others." },
	{ "format", 0, WORD, AT(format), "text|json|junit|github", CHECK,
	  "For a person, for a program, as JUnit's XML, or with GitHub's "
	  "annotations." },
	{ "update", 0, FLAG, AT(update), NULL, CHECK,
	  "Write what the runs come to now as the baseline." },
	{ "only", 0, TEXT, AT(only), "NAME", CHECK, "Only that run." },
	{ "output", 'o', TEXT, AT(output), "FILE", GP_TAKER_GEN,
	  "Write the trace there, whole or not at all." },
	{ "output", 'o', TEXT, AT(output), "FILE", GP_TAKER_CONVERT,
	  "In place of OUT." },
	{ "output", 'o', TEXT, AT(output), "FILE", REPORTS | CHECK,
	  "Write the report there, whole or not at all." },
	{ "events", 0, TEXT, AT(events), "FILE", REPLAY,
	  "Write each thing the allocator does, one JSON object a line; with "
	  "- and no -o in place of the report." },
	{ "details", 0, FLAG, AT(details), NULL, EXPLAIN,
	  "All that the first screen sums up." },
	{ "map", 0, TEXT, AT(map), "peak|oom|end|EVENT", REPLAY,
	  "Draw how segments and blocks lay in memory at that moment." },
	{ "timeline", 0, TEXT, AT(timeline), "FILE", REPLAY,
	  "Write the measures over time, thinned so that every peak is kept: "
	  "CSV, or JSON where the name ends in .json. See gpupool help "
	  "metrics." },
	{ "alert", 0, LIST, AT(alerts), "CONDITION", REPLAY,
	  "Exit 1 if it was ever so, and say when: \"fragmentation>0.3 for "
	  "100 events\"; may be given more than once." },
	{ "timing", 0, FLAG, AT(timing), NULL, REPLAY,
	  "Say how long reading and replaying took." },
	{ "ascii", 0, FLAG, AT(ascii), NULL, REPORTS,
	  "Draw without Unicode characters." },
	{ "color", 0, WORD, AT(color), "auto|always|never", REPORTS | CHECK,
	  "Colour the text; auto: on a terminal." },
	{ "max-input", 0, BYTES, AT(max_input), "SIZE", READS,
	  "What a packed trace may unpack to at most; 4GiB unless given." },
	{ "quiet", 'q', FLAG, AT(quiet), NULL,
	  REPORTS | CHECK | GP_TAKER_VERIFY | GP_TAKER_CONVERT | GP_TAKER_GEN |
		  GP_TAKER_SLICE | GP_TAKER_RECORD,
	  "No progress on standard error." },
	{ "help", 'h', FLAG, AT(help), NULL, GP_TAKER_ALL, "Show this." },
};

const size_t gp_option_count =
	sizeof(gp_option_table) / sizeof(*gp_option_table);
