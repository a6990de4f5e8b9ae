/* SPDX-License-Identifier: MIT */
/*
 * Every key of the reports about runs and traces, by the object it stands in.
 * The manual's gpupool-report(5) and the JSON Schema are made of this table,
 * and tests hold the reports to it.
 */
#include "report/keys.h"

#include <stddef.h>

#include "gpupool/metrics.h"

const struct gp_key keys_of_runs[] = {
	REPORT("replay", GP_REPORT_SCHEMA, "Runs of a trace."),
	OBJECT("trace", 0, "trace"),
	OBJECT("timing", MAYBE, "timing"),
	OBJECT("runs", LIST, "run"),

	NEW("trace", "What was replayed."),
	KEYS_OF("trace_path"),
	KEYS_OF("trace_about"),
	OBJECT("devices", LIST, "trace_device"),

	NEW("trace_path", "The trace."),
	KEY("path", TEXT, 0, "The trace's file, as given."),

	NEW("trace_about", "What the file says of itself."),
	KEY("source", TEXT, NULLABLE, "What kind of file it was."),
	KEY("settings", TEXT, NULLABLE,
	    "Settings that it was recorded with; null: not known."),
	KEY("complete", BOOL, 0,
	    "Whether it begins with the first request of the program."),
	KEY("not_told", TEXT, MAYBE, "What a file of that kind does not tell."),

	NEW("trace_device", "A device of the trace."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("events", COUNT, 0, "Events of the device."),
	KEY("total_memory", BYTES, NULLABLE,
	    "Memory of the device it was recorded on; null: not known."),

	NEW("configuration", "What a run was asked for."),
	KEY("alloc_conf", TEXT, 0,
	    "The settings as PYTORCH_CUDA_ALLOC_CONF has them; \"\" are "
	    "PyTorch's defaults."),
	KEY("torch", RELEASE, 0, "The release of PyTorch."),

	NEW("settings", "Settings that are not the release's default, by "
			"PyTorch's names; sizes in the unit of the name."),
	ROWS(GP_KEY_KNOBS),

	NEW("site", "Where a program asked."),
	KEY("site_name", TEXT, NULLABLE,
	    "Where the program's own source asked, and the operation."),
	KEY("site", TEXT, LIST | NULLABLE,
	    "The frames of the stack, innermost first; null where the trace "
	    "has none."),

	NEW("release_choice",
	    "How the release was chosen; null: the user chose it."),
	KEY("torch", RELEASE, 0,
	    "The release of PyTorch that was concluded from the trace."),
	KEY("why", TEXT, 0, "What it was concluded from."),
	KEY("checked", COUNT, 0,
	    "Recorded addresses that were compared for it."),
	KEY("matched", COUNT, 0, "Those of them that were chosen again."),

	NEW("what_if", "A what-if that was asked for."),
	KEY("name", TEXT, 0, "The flag, without its dashes."),
	KEY("argument", TEXT, NULLABLE, "What was given with it."),
	KEY("changes", COUNT, 0, "How much of the trace it changed."),
	KEY("what", TEXT, 0, "The same as a sentence."),

	NEW("outcome", "What a run came to."),
	MEASURE(GP_PEAK_RESERVED),
	MEASURE(GP_NUM_RETRIES),
	MEASURE(GP_NUM_OOMS),

	NEW("moment", "Memory behind a request."),
	KEY("event", EVENT, 0, "The request behind which it is."),
	SCOPE(GP_SCOPE_MOMENT, 0),

	NEW("device_calls", "Calls of the device."),
	SCOPE(GP_SCOPE_CALLS, 0),

	NEW("guesses", "What the trace does not say and was guessed, counted."),
	ROWS(GP_KEY_GUESSES),

	NEW("sums", "Segments and blocks, summed."),
	KEY("segments", COUNT, 0, "Segments there are."),
	KEY("blocks", COUNT, 0, "Blocks there are, free ones too."),
	MEASURE(GP_RESERVED),
	MEASURE(GP_ALLOCATED),
	MEASURE(GP_ACTIVE_BYTES),
	MEASURE(GP_REQUESTED),
	MEASURE(GP_LARGEST_FREE),

	NEW("state", "Memory at a moment."),
	KEYS_OF("sums"),
	OBJECT("by_segment_type", LIST, "state_by_segment_type"),
	OBJECT("by_stream", LIST, "state_by_stream"),
	OBJECT("by_pool", LIST, "state_by_pool"),

	NEW("state_by_segment_type", "The same of a kind of segment."),
	WORD("segment_type", 0, "small large",
	     "Small segments serve requests of up to 1 MiB."),
	KEYS_OF("sums"),

	NEW("state_by_stream", "The same of a stream."),
	KEY("stream", ADDRESS, 0, "The stream's number."),
	KEYS_OF("sums"),

	NEW("state_by_pool", "The same of a pool."),
	KEY("pool", POOL, 0, "The pool's id; [0, 0]: the default."),
	KEYS_OF("sums"),

	NEW("timing", "What it took, with --timing."),
	KEY("read_s", SECONDS, 0, "What reading took."),
	KEY("replay_s", SECONDS, 0, "What replaying took."),
	KEY("events", COUNT, 0, "Events that were replayed."),

	NEW("run", "A run."),
	KEYS_OF("run_of"),
	KEY("engine_note", TEXT, MAYBE,
	    "What the engine's numbers are where there is no device."),
	KEY("gpu", TEXT, MAYBE, "The device, where there is one."),
	OBJECT("what_ifs", LIST | MAYBE, "what_if"),

	NEW("run_of", "What was run."),
	OBJECT("settings", 0, "settings"),
	KEYS_OF("configuration"),
	KEY("engine", TEXT, 0, "caching, async, direct or torch."),
	WORD("mode", 0, "verify what-if",
	     "Whether it is the run that was recorded."),
	OBJECT("release_choice", NULLABLE, "release_choice"),
	OBJECT("devices", LIST, "run_device"),

	NEW("run_device", "A device of a run."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("capacity", BYTES, NULLABLE,
	    "Memory of the device in this run; null: without a limit."),
	KEY("memory_stats", INTEGER, MAP,
	    "The keys of torch.cuda.memory_stats() of that release."),
	OBJECT("fidelity", 0, "fidelity"),
	OBJECT("first_oom", NULLABLE, "first_oom"),
	OBJECT("first_refusal", NULLABLE, "first_refusal"),
	OBJECT("measures", 0, "measures"),
	OBJECT("at_peak", 0, "at_peak"),
	OBJECT("estimate", NULLABLE, "estimate"),
	OBJECT("device_calls", 0, "device_calls"),
	OBJECT("device_times", LIST | MAYBE, "call_time"),
	OBJECT("memory_check", MAYBE, "memory_check"),
	OBJECT("guesses", 0, "guesses"),
	NAMED("end", 0, "state", "Memory at the end."),
	OBJECT("timeline", 0, "timeline"),

	NEW("fidelity", "The run, compared with what was recorded."),
	KEYS_OF("fidelity_sum"),
	KEY("segments_checked", COUNT, 0,
	    "Recorded requests to the device that were compared."),
	KEY("segments_matched", COUNT, 0, "Those that were made again."),
	OBJECT("first_mismatch", NULLABLE, "mismatch"),

	NEW("fidelity_sum",
	    "A replay as recorded, compared with the recording."),
	KEY("checked", COUNT, 0, "Recorded addresses that were compared."),
	KEY("matched", COUNT, 0, "Those of them that were chosen again."),

	NEW("mismatch", "The first that is not as it was recorded."),
	KEY("event", EVENT, 0, "The request."),
	WORD("kind", 0,
	     "wrong_address wrong_segment_size unexpected_segment "
	     "missing_segment unexpected_oom",
	     "What is not as it was recorded."),
	KEY("requested", BYTES, 0, "What it asked for."),
	KEY("stream", ADDRESS, 0, "Its stream."),
	KEY("pool", POOL, 0, "Its pool."),
	KEYS_OF("site"),
	KEY("chosen", ADDRESS, 0,
	    "The address, or the size of the segment, that the replay chose."),
	KEY("recorded", ADDRESS, 0, "The recorded one."),
	OBJECT("candidates", LIST, "candidate"),

	NEW("candidate", "A free block that would have done."),
	KEY("addr", ADDRESS, 0, "Of the free block."),
	KEY("size", BYTES, 0, "Its size."),
	KEY("segment_addr", ADDRESS, 0, "Of its segment."),
	KEY("segment_size", BYTES, 0, "The size of that."),

	NEW("first_oom", "The first request without memory; null: none."),
	KEY("alloc", COUNT, 0,
	    "The how manyeth alloc of the device it is, from 1."),
	KEY("size", BYTES, 0, "What it asked for."),
	KEY("event", EVENT, 0, "The request."),
	WORD("cause", 0, "capacity fragmentation",
	     "fragmentation: what allocated blocks need and the request would "
	     "fit into the device together."),
	KEY("free", BYTES, 0, "Reserved and not allocated when it failed."),
	KEY("largest_free", BYTES, 0,
	    "The largest free block of its stream and pool."),
	KEY("device_free", BYTES, 0, "Free on the device."),
	MEASURE(GP_RESERVED),
	MEASURE(GP_ALLOCATED),
	KEY("message", TEXT, 0, "PyTorch's message."),
	KEYS_OF("site"),

	NEW("first_refusal", "The first request that PyTorch answers with "
			     "another error; null: none."),
	KEY("event", EVENT, 0, "The first request refused."),
	KEY("why", TEXT, 0, "The error, in PyTorch's words."),
	KEY("refused", COUNT, 0, "Requests that were refused."),

	NEW("measures", "The numbers of gpupool-metrics(7)."),
	SCOPE(GP_SCOPE_RUN, 0),
	NAMED("at_peak", 0, "moment",
	      "The first moment at which most is reserved."),
	NAMED("at_fullest", 0, "moment",
	      "Of the moments with as much reserved, the first with most "
	      "allocated."),
	NAMED("at_end", 0, "moment", "The end of the run."),

	NEW("at_peak", "The peak, in short."),
	KEY("event", EVENT, 0, "As in measures.at_peak."),
	KEY("reserved", BYTES, 0, "reserved_bytes there."),

	NEW("estimate", "What a window does not tell exactly; null: "
			"memory_stats are exact."),
	KEY("reserved", BYTES, 0, "At the peak, as estimated."),
	KEY("low", BYTES, 0, "At least."),
	KEY("high", BYTES, 0, "At most."),
	KEY("how", TEXT, 0, "How it was estimated."),

	NEW("call_time", "Times of a call, on a device that is there."),
	KEY("call", TEXT, 0, "The call of CUDA."),
	KEY("count", COUNT, 0, "How often it was made."),
	KEY("total_us", US, 0, "All of them together."),
	KEY("p10_us", US, 0, "A tenth took less."),
	KEY("median_us", US, 0, "Half took less."),
	KEY("p90_us", US, 0, "Nine tenths took less."),
	KEY("most_us", US, 0, "The slowest."),

	NEW("memory_check", "Whether others wrote into blocks."),
	KEY("blocks", COUNT, 0, "Blocks that were written and read."),
	KEY("bytes", BYTES, 0, "Their sizes together."),
	KEY("changed", COUNT, 0, "Blocks that others wrote into."),
	KEY("first_event", EVENT, MAYBE, "The request of the first of them."),
	KEY("first_seen", EVENT, MAYBE, "Where that was seen."),
	KEY("first_size", BYTES, MAYBE, "Its size."),

	NEW("timeline", "Memory over the run."),
	KEY("bins", COUNT, 0,
	    "Parts of equally many events; the largest value in each follows."),
	KEY("reserved_bytes", BYTES, LIST, "One number a part."),
	KEY("allocated_bytes", BYTES, LIST, "One number a part."),
	KEY("active_bytes", BYTES, LIST, "One number a part."),

	REPORT("timelines", "gpupool-timeline/1", "Measures over time."),
	OBJECT("devices", LIST, "timeline_device"),

	NEW("timeline_device", "A device, over time."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("event", EVENT, LIST,
	    "The moments that are kept; each list below has one value for "
	    "each."),
	SCOPE(GP_SCOPE_MOMENT, LIST),

	REPORT("bench", GP_REPORT_SCHEMA, "What calls of CUDA take."),
	OBJECT("bench", 0, "bench_of"),

	NEW("bench_of", "A device, measured."),
	KEY("date", TEXT, 0, "Of the measurement."),
	KEY("gpu", TEXT, 0, "The device."),
	KEY("total_bytes", BYTES, 0, "Its memory."),
	KEY("free_bytes", BYTES, 0, "What was free of it."),
	KEY("compute_capability", TEXT, 0, "As \"9.0\"."),
	KEY("driver", TEXT, NULLABLE, "Its version."),
	KEY("driver_cuda", TEXT, 0, "The CUDA that it supports."),
	KEY("runtime", TEXT, 0, "The CUDA that was called."),
	KEY("is_stand_in", BOOL, 0,
	    "There is no device, and times mean nothing."),
	OBJECT("calls", LIST, "bench_call"),

	NEW("bench_call", "A call, measured."),
	KEY("call", TEXT, 0, "The call of CUDA."),
	KEY("size", BYTES, 0, "What it is called with."),
	KEY("us", US, 0, "Half took less."),
	KEY("first_us", US, 0, "The first of that size in the process."),
	KEY("p10_us", US, 0, "A tenth took less."),
	KEY("p90_us", US, 0, "Nine tenths took less."),
	KEY("most_us", US, 0, "The slowest."),
	KEY("count", COUNT, 0, "Calls that were made."),

	REPORT("speed", GP_REPORT_SCHEMA, "What gpupool itself takes."),
	OBJECT("trace", 0, "speed_trace"),
	OBJECT("speed", LIST, "speed_row"),

	NEW("speed_trace", "The trace."),
	KEYS_OF("trace_path"),
	KEY("events", COUNT, 0, "Its events."),

	NEW("speed_row", "What one part takes."),
	KEY("what", TEXT, 0, "What was timed: read, replay: caching."),
	KEY("runs", COUNT, 0, "How often."),
	KEY("p10_ns", NS, 0, "An event, in the fastest tenth."),
	KEY("median_ns", NS, 0, "An event, in half of them."),
	KEY("p90_ns", NS, 0, "An event, in nine tenths."),

	REPORT("info", "gpupool-info/2", "What is in a trace."),
	KEYS_OF("trace_path"),
	KEYS_OF("trace_about"),
	OBJECT("release", 0, "info_release"),
	KEY("trouble", TEXT, NULLABLE,
	    "Why it cannot be replayed as recorded."),
	KEY("streams", ADDRESS, LIST, "Streams of the trace."),
	KEY("pools", POOL, LIST, "Pools of the trace."),
	OBJECT("devices", LIST, "info_device"),

	NEW("info_release", "Which release the trace is of."),
	KEY("first", RELEASE, 0, "The first release it can be of."),
	KEY("last", RELEASE, 0, "The last one."),
	KEY("why", TEXT, NULLABLE, "What that is concluded from."),
	OBJECT("choice", NULLABLE, "release_choice"),

	NEW("info_device", "A device of the trace."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("total_memory", BYTES, NULLABLE,
	    "Memory of the device it was recorded on; null: not known."),
	KEY("event_count", COUNT, 0, "Its events."),
	OBJECT("events", 0, "info_events"),
	KEY("inferred_events", COUNT, 0,
	    "Events that were concluded and are not in the recording."),
	KEY("first_us", WHOLE_US, 0,
	    "Time of the first event; 0: not recorded."),
	KEY("last_us", WHOLE_US, 0, "Time of the last one."),
	OBJECT("guesses", 0, "guesses"),
	OBJECT("recorded", MAYBE, "info_recorded"),
	NAMED("start", 0, "state", "Memory at the start."),
	OBJECT("replayed", NULLABLE, "info_replayed"),
	NAMED("end", 0, "state", "Memory at the end."),

	NEW("info_events", "Events, by their kind."),
	ROWS(GP_KEY_EVENT_KINDS),

	NEW("info_recorded", "What the recording says of itself."),
	MEASURE(GP_RECORDED_RESERVED),
	MEASURE(GP_RECORDED_ALLOCATED),
	MEASURE(GP_RECORDED_START),
	KEY("recorded_allocated_at_start_bytes", BYTES, MAYBE,
	    "Allocated when the recording began, as it says itself."),

	NEW("info_replayed", "What a replay as recorded tells; null: none."),
	KEYS_OF("fidelity_sum"),
	NAMED("at_peak", 0, "moment",
	      "The first moment at which most is reserved."),
	NAMED("at_end", 0, "moment", "The end of the run."),

	REPORT("check", "gpupool-check/1",
	       "Whether runs are within their limits."),
	OBJECT("files", LIST, "check_file"),

	NEW("check_file", "A gpupool.json."),
	KEY("path", TEXT, 0, "A gpupool.json."),
	OBJECT("runs", LIST, "check_run"),

	NEW("check_run", "One of its runs."),
	KEY("name", TEXT, 0, "As gpupool.json has it."),
	KEY("trace", TEXT, 0, "Its trace."),
	WORD("status", 0, "ok worse error", "What came of it."),
	KEY("error", TEXT, NULLABLE, "What went wrong."),
	KEY("alloc_conf", TEXT, NULLABLE, "Settings it was run with."),
	KEY("torch", RELEASE, NULLABLE, "The release."),
	OBJECT("devices", LIST, "check_device"),

	NEW("check_device", "A device of a run."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	OBJECT("parting", NULLABLE, "check_parting"),
	OBJECT("limits", LIST, "check_limit"),

	NEW("check_limit", "A limit."),
	KEY("number", TEXT, 0, "What is limited."),
	WORD("status", 0, "ok worse", "Whether it is within."),
	KEY("baseline", NUMBER, NULLABLE, "In the baseline."),
	KEY("value", NUMBER, NULLABLE, "Now."),
	KEY("limit", TEXT, 0, "As gpupool.json has it."),
	KEY("bound", NUMBER, 0, "The value that is allowed."),
	KEY("event", EVENT, NULLABLE, "Where it is first beyond."),

	NEW("check_parting",
	    "Where the run is not the baseline's; null: it is."),
	WORD("who", 0, "program allocator",
	     "program: other requests; allocator: the same, served otherwise."),
	KEY("first_event", EVENT, 0, "From here on, at the earliest."),
	KEY("last_event", EVENT, 0, "From here on, at the latest."),
	KEYS_END,
};

const struct gp_key *const keys_of_runs_end =
	&keys_of_runs[sizeof(keys_of_runs) / sizeof(*keys_of_runs) - 1];
