#!/bin/sh
# SPDX-License-Identifier: MIT
# Reports in JSON agree with gpupool-report(5) and the JSON Schema: every
# command writes some for bundled traces, and none has a key that is not in the
# table; each key of the table is in one of them and in the manual page.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
traces=$root/traces
cudart=$build/simcuda/13/libgpupool-simcuda.so
failed=0
mkdir out golden
unset GPUPOOL_CUDART

verdict() {
	if [ -s "$2" ]; then
		echo "FAIL $1: $3"
		head -n 100 "$2"
		failed=1
	else
		echo "ok $1"
	fi
}

# write NAME ARGUMENT...: writes the command's output to out/NAME.json. Commands
# that find a problem exit with 1.
write() {
	name=$1
	shift
	"$build/gpupool" "$@" --format json > "out/$name.json" 2> err < /dev/null
	[ $? -le 1 ] || { cat err && rm -f "out/$name.json"; }
} >> refused 2>&1

# partly NAME ARGUMENT...: the same if some files cannot be read, or some
# settings are impossible; these commands exit with 3.
partly() {
	name=$1
	shift
	"$build/gpupool" "$@" --format json > "out/$name.json" 2> err < /dev/null
	[ $? -eq 3 ] || echo "$name: it does not exit with 3" >> refused
}

# each NAME ARGUMENT...: the commands that accept any trace.
each() {
	label=$1
	shift
	write "replay-$label" replay "$@"
	write "explain-$label" explain "$@"
	write "look-$label" look "$@"
	write "suggest-$label" suggest "$@"
	write "info-$label" info "$1"
}

out_of_memory=$traces/tiny/out-of-memory.json
story=$traces/stories/every-other-of-100.jsonl
late=$traces/tiny/free-waits-for-another-stream.json
program=$traces/recorded/programs/oom-2.15.jsonl.gz
window=$traces/recorded/fsdp-rank0-of-64.default.pickle.gz
spans=spans.csv

each oom "$out_of_memory"
each story "$story"
each late "$late"
each pools "$traces/tiny/private-pools-are-expandable.json"
each program "$program"
each rmm "$traces/imports/rmm.csv"
each owners "$root/tests/fuzz/fuzz_input/owners.jsonl"
each nothing "$traces/tiny/nothing-requested.json"
write look-constrained look "$traces/stories/one-two-one-then-three.jsonl" \
	--without expandable_segments --without max_split_size_mb

# ---- traces with what the bundled ones lack ----

whole='"format": "gpupool-trace", "version": 1'
{
	echo "{$whole, \"devices\": [{\"device\": 0}]}"
	for op in '"other_memory", "bytes": 1048576' \
		'"set_memory_fraction", "fraction": 0.5' \
		'"reset_peak_stats"' '"reset_accumulated_stats"' \
		'"set_allocator_settings", "conf": "max_split_size_mb:64"' \
		'"pool_create", "pool": [1, 0]' \
		'"pool_use_on_oom", "pool": [1, 0]' \
		'"pool_no_use_on_oom", "pool": [1, 0]' \
		'"pool_no_split", "pool": [1, 0]' \
		'"capture_begin", "pool": [0, 2], "stream": 16' \
		'"capture_end", "pool": [0, 2]' \
		'"pool_begin", "pool": [1, 0]' \
		'"segment_map", "addr": 4194304, "size": 20971520' \
		'"alloc", "id": 1, "size": 4194304, "addr": 4194304' \
		'"pool_end", "pool": [1, 0]' \
		'"free", "id": 1' '"free_completed", "id": 1' \
		'"segment_unmap", "addr": 4194304, "size": 20971520' \
		'"pool_release", "pool": [1, 0]' '"snapshot", "size": 0'; do
		echo "{\"op\": $op}"
	done
} > every-event.jsonl
write info-events info every-event.jsonl

# The block at 0 of the segment is chosen, not the recorded one.
cat > elsewhere.json << END
{$whole, "sites": ["train.py:42 forward"], "source": {"complete": true},
 "devices": [{"device": 0, "events": [
  {"op": "segment_alloc", "addr": 1048576, "size": 20971520},
  {"op": "alloc", "id": 1, "size": 4194304, "addr": 1048576, "site": 0},
  {"op": "alloc", "id": 2, "size": 4194304, "addr": 9437184, "site": 0}]}]}
END
sed 's/train.py:42/train.py:45/; s/4194304/6291456/g' elsewhere.json > moved.json
write replay-mismatch replay elsewhere.json
write diff-moved diff elsewhere.json moved.json
# Another stream waits.
for by in 7 9; do
	echo '{"format": "gpupool-trace", "version": 1, "devices": [{"device": 0,
		"events": [{"op": "alloc", "id": 1, "size": 9},
		{"op": "alloc", "id": 2, "size": 9, "stream": 7},
		{"op": "synchronize", "stream": 0, "by": '$by'}]}]}' \
		> "waits-$by.json"
done
write diff-waits diff waits-7.json waits-9.json

# From a platform other than Linux.
sed 's/"train.py:/"C:\\\\work\\\\train.py:/' elsewhere.json > windows.json
write suggest-windows suggest windows.json

# A memory fraction, which a snapshot does not have.
{
	echo "{$whole, \"release\": {\"first\": 11, \"last\": 11},
		\"devices\": [{\"device\": 0, \"total_memory\": 1073741824}]}"
	echo '{"op": "set_memory_fraction", "fraction": 0.25}'
	for id in 1 2 3; do
		echo "{\"op\": \"alloc\", \"id\": $id, \"size\": 134217728}"
	done
} > limited.jsonl
"$build/gpupool" convert --run limited.jsonl limited.pickle 2>> refused
write suggest-limited suggest limited.pickle

# Others take memory that the device does not have.
cat > others.json << END
{$whole, "source": {"complete": true}, "devices": [{"device": 0, "events": [
  {"op": "alloc", "id": 1, "size": 4194304},
  {"op": "other_memory", "bytes": 10485760}]}]}
END
write replay-others replay others.json --capacity 20MiB
write explain-others explain others.json --capacity 8MiB
write compare-others compare others.json --capacity 20MiB

# A recording that may differ from what a GPU would do.
cat > doubtful.json << END
{$whole, "values": "1 read of unknown values: train.py:7",
 "not_told": "workspaces, counted as 0", "devices": [{"device": 0, "events": [
  {"op": "alloc", "id": 1, "size": 4194304}]}]}
END
each doubtful doubtful.json
write sweep-doubtful sweep doubtful.json --set max_split_size_mb=none,64
write floor-doubtful floor doubtful.json
write diff-doubtful diff doubtful.json others.json
write fit-doubtful fit --gpu h100 --trace doubtful.json

# Devices of different sizes.
cat > unlike.json << END
{$whole, "devices": [
 {"device": 0, "total_memory": 41943040,
  "events": [{"op": "alloc", "id": 1, "size": 4096}]},
 {"device": 1, "total_memory": 83886080,
  "events": [{"op": "alloc", "id": 1, "size": 4096}]}]}
END
write sweep-unlike sweep unlike.json --set expandable_segments=False,True

# A window that begins with 20 MiB.
cat > window.json << END
{$whole, "devices": [{"device": 0, "start": {"segments": [
 {"address": 1048576, "total_size": 20971520, "stream": 0,
  "segment_type": "large", "blocks": [
  {"size": 20971520, "requested_size": 20971520,
   "state": "active_allocated", "id": 1}]}]},
 "events": [{"op": "alloc", "id": 2, "size": 4194304}]}]}
END
write sweep-window sweep window.json --set expandable_segments=False,True
write sweep-undecided sweep window.json --set capacity=10MiB,30MiB

# Settings of all kinds, what-ifs, limits, and an existing device.
write replay-both replay "$story" --compare --timing --no-empty-cache \
	--alloc-conf roundup_power2_divisions:4,garbage_collection_threshold:0.5
write replay-divisions replay "$story" --alloc-conf \
	"roundup_power2_divisions:[256:1,512:2,1024:4,>:8],max_split_size_mb:64"
write replay-knobs replay "$story" --torch 2.15 --memory-fraction 0.9 \
	--alloc-conf "$(printf '%s' expandable_segments:True, \
		max_non_split_rounding_mb:64,large_segment_size_mb:40, \
		throw_on_cudamalloc_oom:True,graph_capture_record_stream_reuse:True, \
		pinned_max_cached_size_mb:8,pinned_max_round_threshold_mb:1, \
		pinned_reserve_segment_size_mb:64, \
		pinned_use_background_threads:True)"
write replay-reserve replay "$story" --torch 2.15 --expandable-segments \
	--expandable-segments-reserve 2G
write replay-device replay "$story" --device cuda --cudart "$cudart"
write replay-async replay "$story" --engine async
write explain-streams explain "$story" --merge-streams
# Ranks, two of them equal, and a file that is not a trace.
mkdir ranks
cp "$story" ranks/0.jsonl
cp "$story" ranks/1.jsonl
cp "$out_of_memory" ranks/2.json
echo '{"op": ' > ranks/3.jsonl
for command in replay explain suggest headroom info; do
	partly "$command-ranks" "$command" ranks
done
partly look-ranks ranks
partly sweep-ranks sweep ranks --set expandable_segments=False,True
partly diff-ranks diff ranks ranks
# One of them only has a state.
mkdir states
cp "$story" states/0.jsonl
echo '{"segments": [{"address": 1048576, "total_size": 2097152,
 "allocated_size": 2097152, "active_size": 2097152, "device": 0, "stream": 0,
 "segment_type": "small", "blocks": [{"size": 2097152,
 "state": "active_allocated"}]}], "device_traces": [[]]}' > states/1.json
write sweep-states sweep states --set expandable_segments=False
# One of two cannot be replayed as recorded.
mkdir mixed
cp "$story" mixed/0.jsonl
sed 's/"source": {/"settings": "max_split_size_mb:1", &/' "$out_of_memory" \
	> mixed/1.json
write info-mixed info mixed
write suggest-two suggest "$story" "$out_of_memory"
write headroom-story headroom "$story" --compare \
	--alloc-conf max_split_size_mb:64
write headroom-old headroom "$story" --torch 2.0 \
	--set expandable_segments=none,True
write suggest-old suggest "$story" --torch 2.0
write fit-story fit --gpu t4 --trace "$story"
write fit-owners fit --gpu t4 --trace "$root/tests/fuzz/fuzz_input/owners.jsonl"
write fit-oom fit --gpu t4 --trace "$out_of_memory"
mkdir two
cp "$story" two/0.jsonl
cp "$out_of_memory" two/1.json
cp "$story" vary-1.jsonl
cp "$story" vary-2.jsonl
write fit_vary-a fit --gpu t4 --vary n=1..2 --trace 'vary-{n}.jsonl'
write fit-ranks fit --gpu t4 --trace two
write headroom-oom headroom "$out_of_memory"
write sweep-grid sweep "$story" "$out_of_memory" --torch 2.4 \
	--set expandable_segments=False,True --capacity unlimited --capacity 1GiB
write sweep-without sweep "$story" --set expandable_segments=none,True \
	--without expandable_segments
write sweep-all sweep "$story" --set max_split_size_mb=all \
	--set garbage_collection_threshold=all --set large_segment_size_mb=all
write sweep-part sweep "$story" --set max_split_size_mb=none,64 --shard 1/2
partly sweep-old sweep "$story" --torch 2.0 \
	--set expandable_segments=False,True
asserts=$traces/tiny/routing-asserts-in-2.9.json
write replay-refused replay "$asserts" --torch 2.9 --alloc-conf \
	graph_capture_record_stream_reuse:True
write sweep-failed sweep "$asserts" --torch 2.9 \
	--set graph_capture_record_stream_reuse=none,True
write sweep-cut sweep "$traces/recorded/opt-finetune-2.9.jsonl.gz" \
	--set max_split_size_mb=none,64 --cut
"$build/gpupool" slice "$program" --from 3000 sliced.jsonl -q
write replay-estimate replay sliced.jsonl --expandable-segments
"$build/gpupool" convert --run "$window" tight.pickle --capacity 4600MiB -q
write suggest-tight suggest tight.pickle
"$build/gpupool" slice -q --from 143 "$traces/stories/service-drifts-by-night.jsonl" late.jsonl
write suggest-late suggest late.jsonl
write replay-checked replay "$story" --device cuda --cudart "$cudart" \
	--check-memory
cp elsewhere.json gated.json
echo '{"runs": [{"name": "a", "trace": "gated.json"}]}' > gpupool.json
"$build/gpupool" check --update -q > /dev/null 2>&1
write check-same check
cp moved.json gated.json
write check-other check
write compare-story compare "$story"
write compare-need compare "$traces/stories/reserved-but-unallocated.jsonl" --need --engine bfc
partly compare-crash compare "$story" --engine caching,./none.so
write floor-story floor "$story"
printf 'id,lower,upper,size\na,0,3,4\nb,1,4,4\n' > "$spans"
write floor-csv floor "$spans" --capacity 8
write look_spans-csv look "$spans"
echo "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total \
capacity; 5.00 GiB already allocated; 1.00 GiB free; 7.00 GiB reserved in total)" \
	> train.log
write look_log-old look train.log
mkdir logs
sed 's/^/2026-11-27 10:00:00 /' train.log > logs/a.log
cp train.log logs/b.log
write look_logs-untimed look logs
sed 's/^/2026-11-27 10:00:01 /' train.log > logs/b.log
write look_logs-timed look logs
echo 'RuntimeError: CUDA error: out of memory' > train.log
write look_log-driver look train.log
write diff-traces diff "$story" "$out_of_memory"
write diff-reports diff out/replay-story.json out/replay-both.json
write diff-two diff out/sweep-grid.json out/sweep-grid.json
write doctor-here doctor --cudart "$cudart"
write bench-device bench --device cuda --cudart "$cudart" --repeat 1
write speed-story bench "$story" --repeat 1
write info-window info "$window"
for sight in bands holders events state; do
	case $sight in
	holders | state) moment="--before --at 0" ;;
	*) moment= ;;
	esac
	write "view_$sight-oom" view "$sight" "$out_of_memory"
	write "view_$sight-late" view "$sight" "$late"
	# shellcheck disable=SC2086
	write "view_$sight-window" view "$sight" window.json $moment
	write "view_$sight-program" view "$sight" "$program" --by pool
done
write view_events-refused view events "$out_of_memory" --capacity 40MiB
write view_events-timed view events "$window" --op alloc --rows 5
write view_events-sites view events \
	"$traces/stories/service-drifts-by-night.jsonl" --rows 5
write view_events-every view events every-event.jsonl
write view_block-first view block "$out_of_memory" --at end --block 1
write view_block-window view block window.json --at 0 --byte 0
write info-profile info "$traces/imports/profile.json"
write replay-profile replay "$traces/imports/profile.json"
sed "s/127926272/1279262720/" "$traces/imports/profile.json" > counts-more.json
write suggest-profile suggest counts-more.json
write look-window look "$window"
# A failed request, with memory that the replay releases.
cat > released.jsonl <<- 'EOF'
	{"format":"gpupool-trace","version":1}
	{"op":"segment_alloc","addr":123145302310912,"size":419430400}
	{"op":"alloc","id":1,"size":419430400,"addr":123145302310912}
	{"op":"free","id":1}
	{"op":"oom","size":314572800,"device_free":209715200}
	{"op":"alloc","id":2,"size":314572800,"refused":true}
EOF
write look-released look released.jsonl
"$build/gpupool" replay "$story" --timeline out/timelines-story.json -q \
	> /dev/null

# Golden outputs in full: "$ gpupool COMMAND ..." followed by an object.
awk -v folder=golden '
	/^\$ / {
		end()
		name = $3 ~ /^\$traces/ ? "look" : $3
		if (name == "view") name = name "_" $4
		if (name == "look" && /\.log /) name = "look_log"
		if (name == "fit" && / --vary /) name = "fit_vary"
		if ($0 ~ /[|&;>]/ || $2 != "gpupool") name = ""
	}
	/^\| \{/ && name ~ /^[a-z_]+$/ {
		file = folder "/" name "-" ++count ".json"
		name = ""
	}
	/^\|/ && file != "" { print substr($0, 3) > file; next }
	{ end() }
	function end() { if (file != "") close(file); file = "" }
' "$root"/tests/cli/*.test
grep -L '"schema": "gpupool-' golden/* | xargs rm -f

"$build/tests/tools/keys" out/*.json golden/*.json > said 2>&1
grep -v '^never ' said | cat - refused > wrong
verdict report-keys wrong "reports and their table differ"

# In bundled traces nobody writes into blocks, no engine fails, and no program
# is run (tests/record).
grep '^never ' said | grep -vE \
	'memory_check\.first_|sweep_failed\.|fit\.again|fit_again\.' > never
verdict every-key never "no report here has these keys"

# A key without a description, and a missing one, are found.
mkdir odd
sed 's/"mode": /"mood": /' out/replay-story.json > odd/replay-story.json
"$build/tests/tools/keys" odd/*.json | grep -v '^never ' > found
printf '%s\n' 'replay-story.json: run.mode: is missing' \
	'replay-story.json: run.mood: is not in the table' | cmp found - > wrong 2>&1
verdict odd-key wrong "a key that is not in the table was not found"

"$build/gpupool" help report-schema > schema.json
if python3 -c 'import jsonschema' 2> /dev/null; then
	python3 "$root/tests/tools/schema.py" schema.json out/*.json \
		golden/*.json > wrong 2>&1
	verdict report-schema wrong "reports and the JSON Schema differ"
	python3 "$root/tests/tools/schema.py" schema.json odd/*.json |
		grep -c "'mood' was unexpected" | grep -vx 1 > wrong
	verdict odd-schema wrong "the JSON Schema takes keys of all names"
else
	echo "skip report-schema: python3 has no jsonschema"
fi
exit "$failed"
