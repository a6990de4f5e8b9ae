/* SPDX-License-Identifier: MIT */
/*
 * Every key of the reports that compare and advise, by the object that contains
 * it. gpupool-report(5) and the JSON Schema are generated from this table, and
 * tests check the reports against it.
 */
#include "report/keys.h"

#include <math.h>
#include <stddef.h>

#include "gpupool/metrics.h"
#include "study/metrics/explain.h"
#include "report/report.h"
#include "gpupool/study.h"
#include "report/sweep_report.h"

static uint64_t gap_of(const void *row)
{
	const struct gp_sweep_row *r = row;

	return r->reserved - r->allocated;
}

static uint64_t whole_us_of(const void *trial)
{
	return (uint64_t)llround(((const struct gp_trial *)trial)->time_us);
}

static uint64_t first_oom_device_of(const void *row)
{
	const struct gp_sweep_row *r = row;

	return r->ooms ? r->first_oom_device : GP_UNLIMITED;
}

static uint64_t first_oom_of(const void *attempt)
{
	const struct gp_attempt *a = attempt;

	return a->no_oom ? GP_UNLIMITED : a->oom_event;
}

/* b minus a */
/* Unknown if the capacity is. */
static uint64_t spare_of(const void *verdict)
{
	const struct gp_verdict *v = verdict;

	return v->capacity == GP_UNLIMITED ? GP_UNLIMITED : v->spare;
}

const struct gp_key keys_of_advice[] = {
	REPORT("look", GP_REPORT_SCHEMA, "What went wrong, and what helps."),
	OBJECT("trace", 0, "trace_path"),
	OBJECT("ranks", MAYBE, "ranks"),
	OBJECT("release_choice", NULLABLE, "release_choice"),
	OBJECT("devices", LIST, "device_verdict"),
	KEY("device", COUNT, MAYBE,
	    "The device that decides, which the rest is about."),
	KEY("event", EVENT, MAYBE, "The moment that is looked at."),
	KEY("before", BOOL, MAYBE,
	    "Whether it is before that event: the start of the trace."),
	KEY("out_of_memory", BOOL, MAYBE, "Whether a request was not served."),
	KEY("reserved_bytes", BYTES, MAYBE, "Reserved at that moment."),
	KEY("allocated_bytes", BYTES, MAYBE, "Allocated at that moment."),
	OBJECT("fidelity", NULLABLE | MAYBE, "fidelity_sum"),
	KEY("in_use_event", EVENT, MAYBE,
	    "The moment of in_use: the one that is looked at, or the one when "
	    "most is in use, if that is clearly more or the device is too "
	    "small."),
	KEY("in_use_before", BOOL, MAYBE,
	    "Whether that is before this event: the start of the trace."),
	KEY("in_use_bytes", BYTES, MAYBE,
	    "All that is in use then, of which in_use has the largest part."),
	NAMED("in_use", LIST | MAYBE, "holder",
	      "Who holds the memory in use then: the 20 that hold the most."),

	REPORT("look_spans", GP_REPORT_SCHEMA,
	       "The same for minimalloc's CSV."),
	OBJECT("trace", 0, "trace_path"),
	KEY("blocks", COUNT, 0, "Blocks of minimalloc's CSV."),
	KEY("live", BYTES, 0, "The most that is live at once."),

	REPORT("look_log", GP_REPORT_SCHEMA,
	       "What the message of an OutOfMemoryError in a log says; sizes "
	       "are as precise as it prints them, with two decimals."),
	OBJECT("trace", 0, "trace_path"),
	KEYS_OF("oom_message"),

	REPORT("look_logs", GP_REPORT_SCHEMA,
	       "The same for a folder of logs, or several logs."),
	OBJECT("trace", 0, "trace_path"),
	KEY("files", COUNT, 0, "Files that were looked at."),
	KEY("first", TEXT, NULLABLE,
	    "The log whose program failed first, by the times of the lines; "
	    "null: they do not tell."),
	OBJECT("logs", LIST, "logged"),

	REPORT("sweep", GP_REPORT_SCHEMA, "Many runs, ranked."),
	NAMED("trace", 0, "trace", "The first trace."),
	OBJECT("ranks", MAYBE, "ranks"),
	OBJECT("traces", LIST, "sweep_trace"),
	OBJECT("devices", LIST, "sweep_verdict"),
	OBJECT("prices", 0, "prices"),
	KEY("cut", BOOL, MAYBE, "Runs that cannot be best were ended early."),
	OBJECT("classes", MAYBE, "classes"),
	OBJECT("combinations", LIST, "combination"),
	OBJECT("runs", LIST, "sweep_run sweep_failed"),
	NAMED("ranking", LIST | NULLABLE, "ranked",
	      "The combinations, best first; null in a part."),

	REPORT("explain", GP_REPORT_SCHEMA,
	       "Why memory that is reserved cannot be used."),
	OBJECT("trace", 0, "trace_path"),
	OBJECT("ranks", MAYBE, "ranks"),
	OBJECT("settings", 0, "settings"),
	KEY("torch", RELEASE, 0, "The release of PyTorch."),
	OBJECT("what_ifs", LIST | MAYBE, "what_if"),
	OBJECT("devices", LIST, "explain_device device_verdict"),
	KEYS_OF("trials"),

	REPORT("headroom", GP_REPORT_SCHEMA, "How small the device may be."),
	OBJECT("trace", 0, "trace_path"),
	OBJECT("ranks", MAYBE, "ranks"),
	OBJECT("devices", LIST, "device_verdict"),
	OBJECT("headroom", LIST, "headroom_run"),
	OBJECT("refused", LIST, "headroom_refused"),

	REPORT("suggest", GP_REPORT_SCHEMA, "The setting to use."),
	OBJECT("trace", 0, "trace_path"),
	OBJECT("ranks", MAYBE, "ranks"),
	OBJECT("devices", LIST, "device_verdict"),
	KEY("capacity_below", BYTES, MAYBE,
	    "Present if the device is not known: it has at least capacity, and "
	    "less than this."),
	KEY("unconstrained", TEXT, NULLABLE,
	    "The best, were all settings allowed."),
	OBJECT("fidelity", 0, "fidelity_sum"),
	KEYS_OF("trials"),

	REPORT("fit", GP_REPORT_SCHEMA, "Whether a program fits a device."),
	KEY("program", TEXT, 0, "Its file's name."),
	KEY("exit", COUNT, 0,
	    "Its exit status, as a shell reports it; if it is not 0, what the "
	    "program would have done after that is not counted."),
	KEY("fits", BOOL, 0,
	    "Whether it certainly fits as it is, or runs although not all "
	    "of its requests are served."),
	KEY("known", BOOL, 0,
	    "Whether that is known; false: the program failed, or its "
	    "processes share a device, or memory ran out when it was recorded, "
	    "or it depends on what the process holds besides PyTorch."),
	KEY("sharers", COUNT, 0,
	    "How many of its processes use one device; not 0: each was judged "
	    "as if it were alone there, and whether all fit is not known."),
	NAMED("again", MAYBE, "fit_again",
	      "A second run of the program, on a device that is full at its "
	      "size; present if not all of its requests fit. If it ended "
	      "successfully, fits is true, and in_use is that of this run."),
	NAMED("gpu", 0, "fit_gpu", "The device."),
	OBJECT("ranks", MAYBE, "ranks"),
	NAMED("needs", NULLABLE | MAYBE, "fit_need",
	      "What a device must have, as the program is; null: not known, or "
	      "none is large enough."),
	NAMED("needs_with_setting", NULLABLE | MAYBE, "fit_need",
	      "The same with the setting that is advised; null: none is."),
	KEY("nvidia_smi_bytes", BYTES, NULLABLE | MAYBE,
	    "What nvidia-smi would show at the peak; null: it does not fit."),
	KEY("path", TEXT, NULLABLE | MAYBE,
	    "Which unknown values the program read; null: it was recorded "
	    "elsewhere, perhaps on a GPU."),
	KEY("not_told", TEXT, MAYBE,
	    "What the recording does not contain, and so is not counted."),
	OBJECT("devices", LIST | MAYBE, "device_verdict"),
	KEY("in_use_event", EVENT, MAYBE,
	    "The moment of in_use: the one that is looked at, or the one when "
	    "most is in use, if that is clearly more or the device is too "
	    "small."),
	KEY("in_use_before", BOOL, MAYBE,
	    "Whether that is before this event: the start of the trace."),
	KEY("in_use_bytes", BYTES, MAYBE,
	    "All that is in use then, of which in_use has the largest part."),
	NAMED("in_use", LIST | MAYBE, "holder",
	      "Who holds the memory in use then: the 20 that hold the most."),
	OBJECT("by_category", LIST | MAYBE, "of_category"),
	OBJECT("by_module", LIST | MAYBE, "of_module"),

	NEW("fit_gpu", "A device, and what a process holds besides."),
	KEY("name", TEXT, 0, "As gpupool record --gpu help lists it."),
	KEY("bytes", BYTES, 0, "Its memory."),
	KEY("non_pytorch_low_bytes", BYTES, 0,
	    "What CUDA and its libraries hold besides PyTorch, at least."),
	KEY("non_pytorch_high_bytes", BYTES, 0, "The same, at most."),
	KEY("source", TEXT, NULLABLE,
	    "Where that was published; null: only for other devices."),

	NEW("fit_again", "A program where memory may run out."),
	KEY("exit", COUNT, 0, "Its exit status, as a shell reports it."),
	KEY("ooms", COUNT, 0, "Requests that failed."),
	KEY("reserved_bytes", BYTES, 0, "Reserved by PyTorch at the peak."),

	NEW("fit_need", "What a device must have."),
	KEY("bytes", BYTES, 0,
	    "In all, with the most that the process may hold besides "
	    "PyTorch's memory."),
	KEY("low_bytes", BYTES, 0, "The same with the least."),
	KEY("pytorch_bytes", BYTES, 0, "Of that, for PyTorch's allocator."),
	KEY("smallest", TEXT, NULLABLE,
	    "The smallest device that is large enough; null: none is known."),

	REPORT("fit_vary", GP_REPORT_SCHEMA,
	       "Up to which value of a number a program fits a device."),
	KEY("program", TEXT, 0, "Its file's name."),
	KEY("name", TEXT, 0, "What varies."),
	KEY("first", COUNT, 0, "The least value that was asked for."),
	KEY("last", COUNT, 0, "The largest."),
	KEY("largest", COUNT, NULLABLE,
	    "The largest that fits, like all smaller ones that were tried; "
	    "null: the first does not fit."),
	KEY("is_monotone", BOOL, 0,
	    "Whether no value that was tried needs less than a smaller one."),
	KEY("gpu", TEXT, 0, "The device."),
	KEY("gpu_bytes", BYTES, 0, "Its memory."),
	KEY("path", TEXT, NULLABLE,
	    "Which unknown values the program read, at the first value at "
	    "which it read any; null: it was recorded elsewhere."),
	NAMED("points", LIST, "fit_point", "What was tried, by value."),

	NEW("fit_point", "A value, and what the program needs with it."),
	KEY("value", COUNT, 0, "The value."),
	KEY("fits", BOOL, 0, "Whether it fits."),
	KEY("bytes", BYTES, NULLABLE,
	    "What a device must have; null: not known, or none is large "
	    "enough."),
	KEY("failure", TEXT, NULLABLE,
	    "How the program failed, so that what it needs is not known; null: "
	    "it did not."),

	REPORT("diff", GP_REPORT_SCHEMA, "What changed between two runs."),
	NAMED("a", MAYBE, "change_ranks", "The first, of several files."),
	NAMED("b", MAYBE, "change_ranks", "The second, of several files."),
	OBJECT("changes", LIST, "change"),

	REPORT("floor", GP_REPORT_SCHEMA, "How little memory would be enough."),
	OBJECT("floor", 0, "floor_of"),

	REPORT("compare", GP_REPORT_SCHEMA,
	       "The same traces under several allocators."),
	NAMED("engines", LIST, "engine_entry", "Each, over all traces."),
	NAMED("engine_runs", LIST, "engine_run engine_no_run",
	      "Each, of each device of a trace."),

	NEW("engine_entry", "An allocator, over all traces."),
	KEY_IN(gp_engine_entry, engine, "engine", TEXT, 0, "Its name."),
	KEY_IN(gp_engine_entry, conf, "alloc_conf", TEXT, NULLABLE,
	       "Its settings; null: as each trace was recorded."),
	KEY_IN(gp_engine_entry, mean, "mean_ratio", RATIO, NULLABLE,
	       "Peak reserved divided by the packing, on average over the "
	       "traces that are served in full; null: there are none."),
	KEY_IN(gp_engine_entry, worst, "worst_ratio", RATIO, NULLABLE,
	       "The largest of them; null: there are none."),
	KEY_IN(gp_engine_entry, traces, "served", COUNT, 0,
	       "Traces that are served in full."),
	KEY_IN(gp_engine_entry, wins, "wins", COUNT, 0,
	       "Traces for which it reserves the least, alone or with others; "
	       "direct is never counted."),
	KEY_IN(gp_engine_entry, ooms, "dropped", COUNT, 0,
	       "Requests that it did not serve."),

	NEW("engine_run", "A device of a trace under an allocator."),
	KEY_IN(gp_engine_run, path, "path", TEXT, 0, "The trace."),
	KEY_IN(gp_engine_run, device, "device", COUNT, 0, "CUDA's ordinal."),
	KEY_IN(gp_engine_run, engine, "engine", TEXT, 0, "The allocator."),
	KEY_IN(gp_engine_run, conf, "alloc_conf", TEXT, NULLABLE,
	       "Its settings; null: as the trace was recorded."),
	KEY_IN(gp_engine_run, capacity, "capacity", BYTES, NULLABLE | ENDLESS,
	       "Memory that the device has; null: no limit."),
	KEY_IN(gp_engine_run, reserved, "peak_reserved_bytes", BYTES, 0,
	       "The most that it held from the device."),
	KEY_IN(gp_engine_run, allocated, "allocated_bytes", BYTES, 0,
	       "Allocated at that moment; of several, the fullest."),
	KEY_IN(gp_engine_run, fragmentation, "fragmentation_ratio", RATIO, 0,
	       "What was not allocated, of what was reserved then."),
	KEY_IN(gp_engine_run, live, "live", BYTES, 0,
	       "No allocator that rounds sizes up to 512 bytes could do "
	       "with less."),
	KEY_IN(gp_engine_run, packing, "packing", BYTES, 0,
	       "What a packing of the same lifetimes takes."),
	KEY_IN(gp_engine_run, device_calls, "device_calls", COUNT, 0,
	       "Calls of the device: cudaMalloc, cudaFree, maps and unmaps."),
	KEY_IN(gp_engine_run, time_us, "device_time_us", COUNT, 0,
	       "Microseconds in them, by the prices."),
	KEY_IN(gp_engine_run, dropped, "dropped", COUNT, 0,
	       "Requests that were not served."),
	KEY_IN(gp_engine_run, lacks_room, "leaves_no_room", BOOL, MAYBE,
	       "Whether it leaves too little of the device to others: the "
	       "trace is not served in full then."),
	KEY_IN(gp_engine_run, retries, "num_alloc_retries", COUNT, 0,
	       "Requests for which the device had no memory at first."),
	KEY_IN(gp_engine_run, need, "need_bytes", BYTES, NULLABLE,
	       "The smallest capacity such that it and every larger one serve "
	       "all requests, on a device that gives whole pages of 2 MiB for "
	       "each call; null: not asked, or not known."),
	KEY_IN(gp_engine_run, need_unknown, "need_unknown_above", BYTES, MAYBE,
	       "The widest range of capacities above need_bytes that were not "
	       "tried: it may need more."),
	KEY_IN(gp_engine_run, trouble, "trouble", TEXT, NULLABLE,
	       "Null: there is a run."),

	NEW("engine_no_run", "A device of a trace that it cannot run."),
	KEY_IN(gp_engine_run, path, "path", TEXT, 0, "The trace."),
	KEY_IN(gp_engine_run, device, "device", COUNT, 0, "CUDA's ordinal."),
	KEY_IN(gp_engine_run, engine, "engine", TEXT, 0, "The allocator."),
	KEY_IN(gp_engine_run, conf, "alloc_conf", TEXT, NULLABLE,
	       "Its settings; null: as the trace was recorded."),
	KEY_IN(gp_engine_run, live, "live", BYTES, 0, "As of a run."),
	KEY_IN(gp_engine_run, packing, "packing", BYTES, 0, "As of a run."),
	KEY_IN(gp_engine_run, trouble, "trouble", TEXT, 0,
	       "Why there is no run."),

	NEW("verdict",
	    "What is advised for a device, the same in every report."),
	WORD_IN(gp_verdict, kind, "kind", 0,
		"fits setting too-small no-setting undecided",
		"fits: it is served as it is.\nsetting: another setting serves "
		"it.\ntoo-small: live, with what others have then, is above "
		"capacity.\nno-setting: live fits, and nothing that was "
		"searched serves it.\nundecided: the trace does not tell."),
	WORD_IN(gp_verdict, cause, "cause", NULLABLE,
		"capacity fragmentation memory-limit settings excluded others",
		"Why it is not served as it is.\nmemory-limit: live is above "
		"the memory fraction.\nsettings: they refuse what the device "
		"has memory for.\nexcluded: it is served, by a setting that "
		"must not be used.\nothers: what is reserved leaves too little "
		"of the device to them."),
	KEY_IN(gp_verdict, conf, "alloc_conf", TEXT, NULLABLE,
	       "What to use; \"\" are PyTorch's defaults, null: nothing is "
	       "advised."),
	KEY_IN(gp_verdict, likely, "likely", TEXT, NULLABLE | MAYBE,
	       "For a window that is undecided and runs out of memory as it "
	       "is: the setting that is estimated to need the least, if that "
	       "is "
	       "less than it needs as it is; need, low and high are for it."),
	KEY_IN(gp_verdict, release, "torch", RELEASE, 0,
	       "The release that it is for."),
	KEY_IN(gp_verdict, capacity, "capacity", BYTES, NULLABLE | ENDLESS,
	       "Memory of the device; null: not known."),
	KEY_IN(gp_verdict, capacity_below, "capacity_below", BYTES,
	       NULLABLE | ZERO | MAYBE,
	       "What it may use is not known: it is less than this, and at "
	       "least capacity, which the verdict is for."),
	KEY_IN(gp_verdict, live, "live", BYTES, 0,
	       "The most that live blocks take at once, each rounded to 512: "
	       "no "
	       "allocator that leaves blocks where they are can manage with "
	       "less."),
	KEY_IN(gp_verdict, others, "others", BYTES, NULLABLE | ZERO | MAYBE,
	       "What the memory of others adds to live: the most that live "
	       "memory and that of others take together, less live."),
	KEY_IN(gp_verdict, start, "start", BYTES, 0,
	       "Reserved when the trace begins."),
	KEY_IN(gp_verdict, recorded, "recorded", BYTES, NULLABLE | ZERO | MAYBE,
	       "Reserved when it was recorded, where the trace holds clearly "
	       "less: need is then no more, and nothing is known of others."),
	KEY_IN(gp_verdict, need, "need", BYTES, NULLABLE | ENDLESS | ZERO,
	       "The smallest capacity that serves everything: with the advised "
	       "setting, otherwise with the one that lacks the least."),
	KEY_IN(gp_verdict, need_as_recorded, "need_as_recorded", BYTES,
	       NULLABLE | ENDLESS | ZERO,
	       "The same, with the settings as they are."),
	KEY_IN(gp_verdict, missing, "missing", BYTES, NULLABLE | ENDLESS,
	       "How much is missing with the best candidate; 0: one fits; "
	       "null: it fails however large the device is."),
	KEY_IN(gp_verdict, is_at_most, "at_most", BOOL, MAYBE,
	       "The settings as they are may need less: a window begins with "
	       "as much reserved, and on a smaller device less would have "
	       "been cached."),
	KEY_AS(spare_of, gp_verdict, spare, "spare", BYTES, NULLABLE | ENDLESS,
	       "capacity - need; null: capacity is not known."),
	KEY_IN(gp_verdict, searched, "searched", COUNT, 0,
	       "Settings for which it is decided whether they serve "
	       "everything."),
	KEY_IN(gp_verdict, is_complete, "complete", BOOL, 0,
	       "Whether nothing is left that could change the kind."),
	WORD_IN(gp_verdict, begins, "begins", 0, "whole window",
		"window: the trace begins with memory in use."),
	WORD_IN(gp_verdict, ends, "ends", 0, "unknown end failure",
		"failure: the trace ends where memory ran out."),
	KEY_IN(gp_verdict, was_refused, "was_refused", BOOL, MAYBE,
	       "A request failed when it was recorded: what the program does "
	       "when that is served is not in the trace, and may need more."),
	KEY_IN(gp_verdict, is_constrained, "constrained", BOOL, MAYBE,
	       "Only settings that must not be used (--without) serve it."),
	KEY_IN(gp_verdict, was_limited, "was_limited", BOOL, MAYBE,
	       "A recorded request failed although the device had room for it: "
	       "by a limit that is not in the trace."),
	KEY_IN(gp_verdict, is_unexplained, "unexplained", BOOL, MAYBE,
	       "A request failed when it was recorded, but none fails in the "
	       "replay with the same settings and memory: the trace does not "
	       "show why."),
	WORD_IN(gp_verdict, platform, "platform", MAYBE, "windows rocm",
		"Where it was recorded, if that is known: PyTorch has "
		"expandable_segments there only in late releases."),
	KEY_IN(gp_verdict, low, "low", BYTES, NULLABLE | ENDLESS | ZERO,
	       "The least that need can be; null: need is exact."),
	KEY_IN(gp_verdict, high, "high", BYTES, NULLABLE | ENDLESS | ZERO,
	       "The most that need can be; null: need is exact."),

	NEW("device_verdict", "The verdict of a device."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("trace", TEXT, MAYBE,
	    "The first of the files that are alike; present if several were "
	    "given."),
	OBJECT("verdict", 0, "verdict"),

	NEW("logged", "A log with such a message."),
	KEY("path", TEXT, 0, "The file."),
	KEY("time", TEXT, NULLABLE,
	    "How the message's line begins, if that is a time."),
	KEYS_OF("oom_message"),

	NEW("oom_message", "The message of an OutOfMemoryError."),
	KEY("line", COUNT, 0, "Line of the log, from 1."),
	KEY("messages", COUNT, 0,
	    "How many such messages it has; the last one is reported."),
	KEY("gpus", COUNT, 0, "How many GPUs these messages are about."),
	KEY("device", COUNT, NULLABLE, "CUDA's ordinal; null: not stated."),
	KEY("rank", COUNT, NULLABLE,
	    "The rank that wrote it, by [rank3] or rank=3 before it; null: not "
	    "stated."),
	KEY("api", TEXT, 0, "cuda, hip (ROCm), xpu or mps (of a Mac)."),
	KEY("cause", TEXT, 0,
	    "The cause: was-free (the device had enough right afterwards), "
	    "fragmentation, private-pools, limit, others (processes), "
	    "unseen (NVML did not report them), full, capacity, "
	    "rejected (by throw_on_cudamalloc_oom), absurd-size (more than 1 "
	    "EiB), driver (the message is of CUDA, not of PyTorch's "
	    "allocator), host (it was the host's memory), unknown (the message "
	    "is cut off)."),
	KEY("worth_a_try", TEXT, NULLABLE,
	    "A setting that may help; a message proves nothing of settings."),
	KEY("variable", TEXT, 0, "The environment variable for it."),
	KEY("asked_bytes", BYTES, NULLABLE,
	    "The segment that was requested; here and below, null: not "
	    "stated."),
	KEY("allocated_bytes", BYTES, NULLABLE, "In tensors."),
	KEY("reserved_bytes", BYTES, NULLABLE, "Reserved by PyTorch."),
	KEY("free_bytes", BYTES, NULLABLE, "Free on the device."),
	KEY("total_bytes", BYTES, NULLABLE, "Of the device."),
	KEY("limit_bytes", BYTES, NULLABLE, "Allowed to the process."),
	KEY("others_bytes", BYTES, NULLABLE, "Of other processes."),
	KEY("missing_bytes", BYTES, NULLABLE,
	    "How much more than was available; 0: there was enough in total."),
	KEY("spilled_bytes", BYTES, NULLABLE,
	    "Reserved by PyTorch beyond the device's memory, in the host's."),

	NEW("trials", "What was tried for the verdict."),
	KEY("replays", COUNT, 0, "Replays that were made."),
	OBJECT("tried", LIST, "trial trial_refused"),

	NEW("trial", "Settings that were tried."),
	KEY_IN(gp_trial, conf, "alloc_conf", TEXT, 0, "The settings."),
	KEY_IN(gp_trial, is_excluded, "excluded", BOOL, 0,
	       "Whether --without excludes them from what is advised."),
	KEY_IN(gp_trial, refusal, "refusal", TEXT, NULLABLE,
	       "Null: they can be used."),
	MEASURE_IN(gp_trial, reserved, GP_PEAK_RESERVED),
	MEASURE_IN(gp_trial, retries, GP_NUM_RETRIES),
	MEASURE_IN(gp_trial, ooms, GP_NUM_OOMS),
	KEY_IN(gp_trial, is_served, "served", BOOL, 0,
	       "Whether every request is served, and others have room."),
	MEASURE_BY(whole_us_of, GP_DEVICE_TIME),
	OBJECT_BY(gp_emit_same, "device_calls", 0, "trial_calls"),
	KEY_IN(gp_trial, need, "need", BYTES, NULLABLE | ENDLESS | ZERO,
	       "The smallest capacity that serves everything; null: it was not "
	       "looked for, or there is none."),

	NEW("trial_refused", "Settings that cannot be used."),
	KEY_IN(gp_trial, conf, "alloc_conf", TEXT, 0, "The settings."),
	KEY_IN(gp_trial, is_excluded, "excluded", BOOL, 0,
	       "Whether --without excludes them from what is advised."),
	KEY_IN(gp_trial, refusal, "refusal", TEXT, 0,
	       "Why they cannot be used."),

	NEW("trial_calls", "Calls of the device that cost most."),
	MEASURE_IN(gp_trial, mallocs, GP_CALLS_MALLOC),
	MEASURE_IN(gp_trial, pages, GP_CALLS_MAP),

	NEW("ranks", "Files of several ranks, where several were given."),
	KEY("files", COUNT, 0, "Files that were given."),
	NAMED("classes", LIST, "rank_class",
	      "Files that are alike, most files first, but after the one whose "
	      "release and settings are used."),

	OBJECT("unread", LIST, "unread"),
	KEY("missing_files", TEXT, LIST,
	    "Names of files that are not there, where names are numbered and "
	    "few are missing."),

	NEW("unread", "Files that could not be read."),
	KEY_IN(gp_rank_unread, path, "path", TEXT, 0, "The file."),
	KEY_IN(gp_rank_unread, reason, "reason", TEXT, 0, "Why."),

	NEW("rank_class", "Files that are alike."),
	KEY("paths", TEXT, LIST, "Files that ask for the same."),
	KEY("torch", RELEASE, MAYBE,
	    "Their release, where files differ in it."),
	KEY("alloc_conf", TEXT, MAYBE,
	    "Their settings, where files differ in them."),
	KEY("requests", BOOL, MAYBE,
	    "false: they hold no requests, only the state of the memory. They "
	    "are judged by what they hold, and not replayed."),
	KEY("devices", COUNT, LIST, "CUDA's ordinals."),

	NEW("explain_device", "A device at one moment, and over the run."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEY("trace", TEXT, MAYBE,
	    "The first of the files that are alike; present if several were "
	    "given."),
	OBJECT("verdict", 0, "verdict"),
	KEY("event", EVENT, 0,
	    "The moment that is looked at: the first out-of-memory error, or "
	    "the peak, or without requests the last event."),
	KEY("before", BOOL, 0,
	    "Whether it is before that event: the start of the trace."),
	OBJECT("request", NULLABLE, "request"),
	MEASURE(GP_NUM_OOMS),
	OBJECT("ooms", LIST, "oom"),
	NAMED("as_it_is", 0, "attempt", "The run itself."),
	NAMED("attempts", LIST, "attempt",
	      "What was tried besides settings, the most helpful first."),
	OBJECT("floor", 0, "floor_sum"),
	OBJECT("gap", 0, "gap"),
	OBJECT("pinned", LIST, "pinned"),
	KEY("in_use_event", EVENT, 0,
	    "The moment of in_use: if the device is too small, the one when "
	    "most is in use, otherwise the one that is looked at."),
	KEY("in_use_before", BOOL, 0,
	    "Whether that is before this event: the start of the trace."),
	KEY("in_use_bytes", BYTES, 0,
	    "All that is in use then, of which in_use has the largest part."),
	NAMED("in_use", LIST, "holder",
	      "Who holds the memory in use then: the 100 that hold the most."),
	OBJECT("by_category", LIST | MAYBE, "of_category"),
	OBJECT("by_module", LIST | MAYBE, "of_module"),
	NAMED("pins_now", LIST, "holder",
	      "Whose blocks pin free memory at that moment: the 100 that pin "
	      "most."),
	NAMED("pins_most", LIST, "holder",
	      "Whose blocks pin most over the whole trace: the first 100."),
	MEASURE(GP_DEVICE_ALLOCS),
	MEASURE(GP_NUM_DEVICE_FREE),
	MEASURE(GP_NUM_RETRIES),
	MEASURE(GP_DEVICE_TIME),
	NAMED("released_to_serve", LIST, "given_back",
	      "Memory released so that a request could be served."),
	NAMED("released_by_empty_cache", LIST, "given_back",
	      "Memory released by empty_cache()."),
	OBJECT("pending_free", 0, "pending"),
	WORD("steps_by", 0, "none marks period",
	     "How steps are found: by the program's marks, or because requests "
	     "repeat."),
	OBJECT("steps", LIST, "step"),

	NEW("request", "The out-of-memory error; null: none."),
	KEY("size", BYTES, 0, "What it asked for."),
	KEYS_OF("site"),
	KEY("needed", BYTES, 0,
	    "What it and what is live need, in whole blocks of 512 bytes."),
	KEY("available", BYTES, 0, "What was available for them."),
	KEY("device_free", BYTES, 0, "Free on the device."),
	KEY("largest_free", BYTES, 0,
	    "The largest free block of its stream and pool."),
	KEY("free_in_its_stream_and_pool", BYTES, 0,
	    "Free memory that it may use."),
	KEY("free_in_other_streams", BYTES, 0, "Free memory of other streams."),
	KEY("free_in_other_pools", BYTES, 0,
	    "Free memory of other pools; the small blocks of a pool are one, "
	    "its large ones another."),
	OBJECT("to_release", NULLABLE, "to_release"),

	NEW("to_release", "The fewest live bytes whose segments, once free, "
			  "would have served it; null: not known, as for "
			  "expandable segments."),
	KEY_IN(gp_relief, segments, "segments", COUNT, 0,
	       "Segments; 0: no set of them would have served it."),
	KEY_IN(gp_relief, blocks, "blocks", COUNT, 0, "Live blocks in them."),
	KEY_IN(gp_relief, bytes, "bytes", BYTES, 0, "What these take."),

	NEW("oom", "An out-of-memory error."),
	KEY("event", EVENT, 0, "The request."),
	KEY("alloc", COUNT, 0,
	    "Its number among the allocs of the device, from 1."),
	KEY("size", BYTES, 0, "What it asked for."),
	KEY("needed", BYTES, 0,
	    "What it and what is live need, with requests that failed before."),
	KEY("available", BYTES, 0, "What was available for them."),
	KEY("too_small", BOOL, 0,
	    "needed is more than available: no setting can help."),
	KEYS_OF("site"),

	NEW("attempt", "A run of the same program, changed."),
	KEY_IN(gp_attempt, name, "name", TEXT, 0,
	       "What was changed, in words."),
	KEY_IN(gp_attempt, flag, "what_if", TEXT, MAYBE, "The same as a flag."),
	KEY_IN(gp_attempt, serves, "serves", BOOL, 0,
	       "Whether the request that first ran out of memory is served."),
	KEY_BY(first_oom_of, "first_oom_event", EVENT, NULLABLE | ENDLESS,
	       "The first out-of-memory error, or the event from which on "
	       "others take more of the device than is left, where that is "
	       "first; null: neither."),
	MEASURE_IN(gp_attempt, peak_reserved, GP_PEAK_RESERVED),
	MEASURE_IN(gp_attempt, retries, GP_NUM_RETRIES),
	MEASURE_IN(gp_attempt, ooms, GP_NUM_OOMS),

	NEW("floor_sum", "How little memory would be enough."),
	KEY_IN(gp_explain, floor.bound, "bound", BYTES, 0,
	       "No allocator that rounds sizes up to 512 bytes could do "
	       "with less."),
	KEY_IN(gp_explain, floor.packing, "packing", BYTES, 0,
	       "What a packing of the same lifetimes takes."),

	NEW("gap", "What is reserved and not allocated."),
	MEASURE(GP_GAP),
	MEASURE(GP_RESERVED),
	MEASURE(GP_ALLOCATED),
	OBJECT("by_reason", 0, "gap_reasons"),
	OBJECT("by_segment_type", 0, "gap_segment_types"),
	OBJECT("by_stream", LIST, "gap_stream"),
	OBJECT("by_pool", LIST, "gap_pool"),
	OBJECT("by_size", LIST, "gap_size"),
	MEASURE(GP_REQUESTED),
	KEY("rounding", BYTES, 0, "Sizes rounded up."),
	KEY("unsplit", BYTES, 0,
	    "Blocks larger than that, which were not split."),

	NEW("gap_part", "A part of the gap."),
	KEY_IN(gp_gap_part, bytes, "bytes", BYTES, 0, "Bytes."),
	KEY_IN(gp_gap_part, blocks, "blocks", COUNT, 0, "Pieces."),
	KEY_IN(gp_gap_part, largest, "largest", BYTES, 0,
	       "The largest of them."),

	NEW("gap_reasons", "The gap by why it is not used."),
	ROWS(GP_KEY_GAP_REASONS),

	NEW("gap_segment_types", "The gap by kind of segment."),
	NAMED("small", 0, "gap_part", "In small segments."),
	NAMED("large", 0, "gap_part", "In large segments."),

	NEW("gap_stream", "The gap of a stream."),
	KEY("stream", ADDRESS, 0, "The stream's number."),
	KEYS_OF("gap_part"),

	NEW("gap_pool", "The gap of a pool."),
	KEY("pool", POOL, 0, "The pool's id; [0, 0]: the default."),
	KEYS_OF("gap_part"),

	NEW("gap_size", "The gap by size of its pieces."),
	KEY("from", BYTES, 0,
	    "Pieces of at least this size and less than twice as much."),
	KEYS_OF("gap_part"),

	NEW("pinned", "A segment, or page, that live blocks pin."),
	KEY_IN(gp_unit, addr, "addr", ADDRESS, 0, "Of the segment, or page."),
	KEY_IN(gp_unit, size, "size", BYTES, 0, "Its size."),
	KEY_IN(gp_unit, free, "free", BYTES, 0, "What is free of it."),
	KEY("by", ADDRESS, LIST,
	    "Ids of the live blocks that pin it, as the trace has them."),

	NEW("holder", "Blocks of one site."),
	KEY_IN(gp_culprit, blocks, "blocks", COUNT, 0, "How many blocks."),
	KEY_IN(gp_culprit, least, "smallest", BYTES, 0,
	       "The least that was requested."),
	KEY_IN(gp_culprit, most, "largest", BYTES, 0,
	       "The most that was requested."),
	KEY_IN(gp_culprit, units, "segments", COUNT, 0,
	       "Segments, or pages, that they pin at the moment; 0 in in_use."),
	KEY_IN(gp_culprit, bytes, "bytes", BYTES, 0,
	       "in_use: what they take. pins_now: free memory that they pin; "
	       "pins_most: the same on average."),
	KEY_IN(gp_culprit, events, "events", COUNT, 0,
	       "Over how many events; at one moment, the age of the oldest."),
	KEY_IN(gp_culprit, byte_events, "byte_events", BYTE_EVENTS, 0,
	       "Free bytes that they pin, by how long; only in pins_most."),
	KEY_IN(gp_culprit, from_start, "from_start", BOOL, 0,
	       "Whether some were there when the trace began."),
	KEYS_OF("site"),

	NEW("of_category", "What the memory in use at that moment is for, if "
			   "the trace says so; they sum to what is allocated."),
	WORD("category", 0,
	     "unknown parameter buffer gradient optimizer_state activation "
	     "temporary cublas_workspace cudnn_workspace nccl",
	     "As gpupool-record(1) defines them."),
	KEYS_OF("of_use"),

	NEW("of_module",
	    "The modules to which the memory in use at that moment "
	    "belongs, likewise."),
	KEY("module", TEXT, NULLABLE, "Its path; null: none is known."),
	KEY("class", TEXT, NULLABLE, "Its class."),
	KEYS_OF("of_use"),

	NEW("of_use", "How much it is."),
	KEY("bytes", BYTES, 0, "What they take."),
	KEY("blocks", COUNT, 0, "How many blocks."),

	NEW("given_back", "Memory released in the course of one request."),
	KEY_IN(gp_release, event, "event", EVENT, 0, "The request."),
	KEY_IN(gp_release, bytes, "bytes", BYTES, 0, "Released to the device."),
	KEY_IN(gp_release, segments, "segments", COUNT, 0,
	       "Segments, or pages."),
	KEY_IN(gp_release, paid_again, "paid_again", BYTES, 0,
	       "Requested again within the step."),

	NEW("pending", "Frees that waited for another stream."),
	KEY_IN(gp_waiting, frees, "frees", COUNT, 0,
	       "Frees that waited for another stream."),
	KEY_IN(gp_waiting, peak, "peak_bytes", BYTES, 0,
	       "The most that waited at once."),
	KEY_IN(gp_waiting, peak_event, "peak_event", EVENT, 0,
	       "When that was."),
	KEY_IN(gp_waiting, byte_events, "byte_events", BYTE_EVENTS, 0,
	       "Bytes, by how long they waited."),

	NEW("step", "A step of the program."),
	KEY_IN(gp_step, first, "event", EVENT, 0, "Where it begins."),
	MEASURE_IN(gp_step, reserved, GP_PEAK_RESERVED),
	MEASURE_IN(gp_step, allocated, GP_PEAK_ALLOCATED),
	KEY_IN(gp_step, gap, "largest_gap_bytes", BYTES, 0,
	       "The most of gap_bytes in it."),
	KEY_IN(gp_step, live_at_end, "allocated_at_end_bytes", BYTES, 0,
	       "What is allocated when it ends."),

	NEW("headroom_run", "The answer for some settings."),
	OBJECT("settings", 0, "settings"),
	KEYS_OF("configuration"),
	OBJECT("devices", LIST, "headroom_device"),

	NEW("headroom_device", "The answer for a device."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	NAMED("no_oom", NULLABLE, "bound",
	      "The smallest device without an out-of-memory error; null: none "
	      "is large enough."),
	NAMED("no_retry", NULLABLE, "bound",
	      "The smallest device without a retry; null: none is."),
	MEASURE(GP_PEAK_RESERVED),
	NAMED("estimate", NULLABLE, "estimate",
	      "Of the smallest device for the whole program, where the rest is "
	      "of a replay from what a window begins with; null: that is "
	      "exact."),
	KEY("grain", BYTES, 0, "Capacities are whole multiples of this."),
	KEY("live", BYTES, 0,
	    "The most that live blocks take at once, each rounded to 512."),
	MEASURE(GP_PEAK_ALLOCATED),
	KEY("other", BYTES, 0, "What others use at most."),
	KEY("least_tried", BYTES, 0,
	    "The smallest capacity that was considered."),
	KEY("goes_on_after_oom", EVENT, NULLABLE,
	    "The program was refused memory there and went on: what it would "
	    "have asked for otherwise is not in the trace."),
	KEY("known_beyond", BOOL, 0,
	    "Whether devices above known_to are like those without a limit."),
	KEY("replays", COUNT, 0, "Replays that were made."),
	OBJECT("curve", LIST, "headroom_point"),

	NEW("headroom_refused", "Settings that cannot be used."),
	KEYS_OF("configuration"),
	KEY("reason", TEXT, 0, "Why, in PyTorch's words."),

	NEW("bound", "The smallest device that will do."),
	KEY_IN(gp_headroom_bound, capacity, "capacity", BYTES, 0,
	       "From here on every capacity that is known is fine."),
	KEY_IN(gp_headroom_bound, failing, "failing", BYTES, NULLABLE,
	       "The next smaller one, which is not; null: it is the smallest "
	       "there can be."),
	KEY_IN(gp_headroom_bound, top, "known_to", BYTES, 0,
	       "From here on nothing was tried; see known_beyond."),
	KEY_IN(gp_headroom_bound, unknown_above, "unknown_above", BYTES, 0,
	       "The widest range above capacity that is not known."),
	KEY_IN(gp_headroom_bound, fine_below, "fine_below", BYTES, NULLABLE,
	       "The smallest capacity that is fine nevertheless."),
	KEY_IN(gp_headroom_bound, unknown_below, "unknown_below", BYTES, 0,
	       "The widest range below capacity that is not known."),

	NEW("headroom_point", "A run on a device of some capacity."),
	KEY("capacity", BYTES, 0, "Memory of the device."),
	KEYS_OF("outcome"),
	MEASURE(GP_DEVICE_TIME),
	OBJECT("device_calls", 0, "device_calls"),

	NEW("summary",
	    "The results of a run. Over several devices, num_ooms and "
	    "dropped are sums; reserved, allocated and the gap are those of "
	    "the device that reserves the most; first_oom_* are those of the "
	    "first that fails; all others are the maximum."),
	MEASURE_IN(gp_sweep_row, reserved, GP_PEAK_RESERVED),
	MEASURE_IN(gp_sweep_row, retries, GP_NUM_RETRIES),
	MEASURE_IN(gp_sweep_row, ooms, GP_NUM_OOMS),
	MEASURE_IN(gp_sweep_row, allocated, GP_ALLOCATED),
	MEASURE_BY(gap_of, GP_GAP),
	MEASURE_IN(gp_sweep_row, dropped, GP_DROPPED),
	MEASURE_IN(gp_sweep_row, first_oom_alloc, GP_FIRST_OOM_ALLOC),
	MEASURE_IN(gp_sweep_row, first_oom_event, GP_FIRST_OOM_EVENT),
	KEY_AS(first_oom_device_of, gp_sweep_row, first_oom_device,
	       "first_oom_device", COUNT, NULLABLE | ENDLESS,
	       "The device of first_oom_alloc and first_oom_event; null: none "
	       "fails."),
	MEASURE_IN(gp_sweep_row, device_allocs, GP_DEVICE_ALLOCS),
	MEASURE_IN(gp_sweep_row, device_time_us, GP_DEVICE_TIME),
	KEY_IN(gp_sweep_row, least_reserved, "least_peak_reserved_bytes", BYTES,
	       0,
	       "peak_reserved_bytes of the device that has least; those above "
	       "are "
	       "of the one that has most."),
	KEY_IN(gp_sweep_row, devices, "devices", COUNT, 0, "Devices."),
	KEY_IN(gp_sweep_row, estimated, "estimated_bytes", BYTES, MAYBE,
	       "Of windows: what the whole program would reserve at its peak, "
	       "which it is ranked by."),
	KEY_IN(gp_sweep_row, estimated_low, "estimated_low_bytes", BYTES, MAYBE,
	       "The least that it can be."),
	KEY_IN(gp_sweep_row, estimated_high, "estimated_high_bytes", BYTES,
	       MAYBE, "The most that it can be."),
	KEY_IN(gp_sweep_row, cut_events, "cut_after_events", COUNT, MAYBE,
	       "The run cannot be best and was ended here."),

	NEW("sweep_trace", "A trace, replayed as it was recorded."),
	KEYS_OF("trace_path"),
	OBJECT("settings", 0, "settings"),
	KEY_IN(gp_sweep_report_trace, conf, "alloc_conf", TEXT, 0,
	       "The settings as PYTORCH_CUDA_ALLOC_CONF has them; \"\" are "
	       "PyTorch's defaults."),
	KEY_IN(gp_sweep_report_trace, torch, "torch", RELEASE, 0,
	       "The release of PyTorch."),
	KEY_IN(gp_sweep_report_trace, capacity, "capacity", BYTES,
	       NULLABLE | ENDLESS,
	       "Memory of its first device; null: not known."),
	KEY_IN(gp_sweep_report_trace, least_capacity, "least_capacity", BYTES,
	       MAYBE, "Memory of its smallest device, where they differ."),
	KEY_IN(gp_sweep_report_trace, most_capacity, "most_capacity", BYTES,
	       MAYBE, "Memory of its largest device, where they differ."),
	KEY_IN(gp_sweep_report_trace, checked, "checked", COUNT, 0,
	       "Recorded addresses that were compared."),
	KEY_IN(gp_sweep_report_trace, matched, "matched", COUNT, 0,
	       "Those of them that the replay chose, too."),
	OBJECT("summary", 0, "summary"),

	NEW("sweep_verdict", "The verdict of a device of a trace."),
	KEY("trace", COUNT, NULLABLE,
	    "Index into traces; null: of a rank without requests, which is not "
	    "swept."),
	KEY("path", TEXT, MAYBE, "Its file, where trace is null."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	OBJECT("verdict", 0, "verdict"),

	NEW("prices", "How long calls of the device take."),
	KEY("name", TEXT, 0, "The list's name, or its file."),
	OBJECT("list", LIST, "price"),

	NEW("price", "The price of a call."),
	KEY("call", TEXT, 0, "The call of CUDA."),
	KEY_IN(gp_price, size, "size", BYTES, 0,
	       "The size that it is called with."),
	KEY_IN(gp_price, us, "us", US, 0, "The time that it takes."),
	KEY_IN(gp_price, source, "source", TEXT, NULLABLE,
	       "Where that was measured."),

	NEW("classes", "Settings whose values were all asked for."),
	KEY("settings", TEXT, LIST,
	    "Those of which all values were asked for."),
	KEY_IN(gp_classes, runs, "runs", COUNT, 0,
	       "Runs that represent all of them."),
	KEY_IN(gp_classes, values, "values", COUNT, NULLABLE,
	       "Values that they represent; null: more than can be counted."),
	KEY_IN(gp_classes, is_complete, "complete", BOOL, 0,
	       "Whether every value is in a class."),

	NEW("alike", "Values with which every decision is the same."),
	ROWS(GP_KEY_AXES),

	NEW("combination", "A combination of the grid."),
	KEY_IN(gp_sweep_report_entry, conf, "alloc_conf", TEXT, 0,
	       "The settings as PYTORCH_CUDA_ALLOC_CONF has them; \"\" are "
	       "PyTorch's defaults."),
	KEY_IN(gp_sweep_report_entry, torch, "torch", RELEASE, 0,
	       "The release of PyTorch."),
	KEY_IN(gp_sweep_report_entry, engine, "engine", TEXT, 0,
	       "As gpupool help engines has it."),
	KEY_IN(gp_sweep_report_entry, capacity, "capacity", CAPACITY, NULLABLE,
	       "Null: that of each trace."),
	OBJECT_BY(keys_write_alike, "alike", MAYBE, "alike"),
	KEY_IN(gp_sweep_report_entry, reason, "reason", TEXT, MAYBE,
	       "Why it was not run."),
	KEY_IN(gp_sweep_report_entry, is_undecided, "undecided", BOOL, MAYBE,
	       "The reason is something that a trace does not record."),
	KEY_IN(gp_sweep_report_entry, is_excluded, "excluded", BOOL, MAYBE,
	       "It must not be used (--without)."),

	NEW("sweep_place", "Where a run stands in the sweep."),
	KEY("combination", COUNT, 0, "Index into combinations."),
	KEY("trace", COUNT, 0, "Index into traces."),
	KEY("rank", COUNT, NULLABLE,
	    "The combination's place, from 1; null in a part."),

	NEW("sweep_run", "A run of a combination."),
	KEYS_OF("run_of"),
	KEY("failure", TEXT, MAYBE, "What went wrong; then summary is null."),
	OBJECT("summary", NULLABLE, "summary"),
	KEYS_OF("sweep_place"),

	NEW("sweep_failed", "A run whose engine failed."),
	KEYS_OF("configuration"),
	KEY("engine", TEXT, 0, "The engine."),
	KEY("failure", TEXT, 0, "What went wrong."),
	NAMED("summary", NULLABLE, "summary", "Null."),
	KEYS_OF("sweep_place"),

	NEW("ranked", "A combination, in the order of the ranking."),
	KEY("rank", COUNT, 0, "Its place, from 1."),
	KEY("combination", COUNT, 0, "Index into combinations."),
	KEY("alloc_conf", TEXT, 0, "Its settings."),
	KEY("pareto", BOOL, 0,
	    "Nothing serves more requests, or as many with less memory and no "
	    "more time, or in less time and with no more memory; of equal "
	    "ones, the first."),
	KEY("tie_with_previous", BOOL, 0,
	    "Nothing decides between it and the one before."),
	KEY("peak_reserved_minus_recorded_bytes", MORE_BYTES, NULLABLE,
	    "peak_reserved_bytes, or estimated_bytes where it is there, less "
	    "peak_reserved_bytes of the recorded settings; null: these leave "
	    "too little to others."),
	KEY("worst_trace", COUNT, 0,
	    "Index of the trace whose numbers are reported."),
	KEY("first_oom_trace", COUNT, NULLABLE,
	    "Index of the trace that has first_oom_alloc; null: none fails."),
	OBJECT("summary", 0, "summary"),

	NEW("floor_of", "The answer for a trace."),
	KEYS_OF("trace_path"),
	KEY("alloc_conf", TEXT, MAYBE, "Settings of the run."),
	KEY("torch", RELEASE, MAYBE, "Its release."),
	KEY("round", BYTES, MAYBE, "Sizes and offsets are multiples of this."),
	KEY("capacity", BYTES, MAYBE, "Asked of minimalloc's CSV."),
	OBJECT("devices", LIST, "floor_device floor_csv"),

	NEW("floor_spans", "A packing of blocks."),
	KEY("blocks", COUNT, 0, "Blocks that are packed."),
	KEY("bound", BYTES, 0, "No packing takes less."),
	KEY("packing", BYTES, 0, "The best that was found."),
	KEY("method", TEXT, 0, "How it was found."),
	KEY("is_least", BOOL, 0, "It is proved to be the least."),
	KEY("steps", COUNT, 0, "Steps of the search."),

	NEW("floor_device", "The answer for a device."),
	KEY("device", COUNT, 0, "CUDA's ordinal."),
	KEYS_OF("floor_spans"),
	MEASURE(GP_REQUESTED),
	MEASURE(GP_PEAK_RESERVED),
	NAMED("estimate", NULLABLE, "estimate",
	      "Of peak_reserved_bytes, which is of a replay from what a window "
	      "begins with; null: it is exact."),
	KEY("capacity", BYTES, NULLABLE,
	    "Memory of the device; null: not known."),
	MEASURE(GP_DROPPED),
	OBJECT("beyond_packing", 0, "beyond_packing"),

	NEW("floor_csv", "The answer for minimalloc's CSV."),
	KEYS_OF("floor_spans"),
	KEY("bound_time", COUNT, 0, "When the bound is reached."),
	KEY("is_impossible", BOOL, 0, "It is proved not to fit into capacity."),

	NEW("beyond_packing",
	    "What the run reserves and the packing does not."),
	KEY_IN(gp_floor_parts, packing, "packing", MORE_BYTES, 0,
	       "Free for other reasons than those below."),
	KEY_IN(gp_floor_parts, streams, "streams", MORE_BYTES, 0,
	       "Kept for one stream."),
	KEY_IN(gp_floor_parts, pools, "pools", MORE_BYTES, 0,
	       "Kept for one pool."),
	KEY_IN(gp_floor_parts, pending, "pending_free", MORE_BYTES, 0,
	       "Freed and waiting for another stream."),
	KEY_IN(gp_floor_parts, rounding, "rounding", MORE_BYTES, 0,
	       "Sizes rounded up, beyond that of the bound."),
	KEY_IN(gp_floor_parts, shape, "shape", MORE_BYTES, 0,
	       "Live at the run's peak less the bound."),
	KEY_IN(gp_floor_parts, height, "not_found", MORE_BYTES, 0,
	       "What the packing takes beyond the bound."),
	KEYS_END,
};

const struct gp_key *const keys_of_advice_end =
	&keys_of_advice[sizeof(keys_of_advice) / sizeof(*keys_of_advice) - 1];
